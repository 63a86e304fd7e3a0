package command

import (
	"fmt"
	"io"
	"log/slog"
)

// The values of --log-format.
const (
	formatText = "text"
	formatJSON = "json"
)

func logLevel(name string) (slog.Level, error) {
	switch name {
	case "debug":
		return slog.LevelDebug, nil
	case "info":
		return slog.LevelInfo, nil
	case "warn":
		return slog.LevelWarn, nil
	case "error":
		return slog.LevelError, nil
	}
	return 0, fmt.Errorf("--log-level is %q: it must be debug, info, warn or error", name)
}

// newLogger makes the logger of checked options.
func newLogger(o options, out io.Writer) (*slog.Logger, error) {
	level, err := logLevel(o.logLevel)
	if err != nil {
		return nil, err
	}
	handling := &slog.HandlerOptions{Level: level}
	if o.logFormat == formatJSON {
		return slog.New(slog.NewJSONHandler(out, handling)), nil
	}
	return slog.New(slog.NewTextHandler(out, handling)), nil
}
