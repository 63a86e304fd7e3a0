package script

import (
	"errors"
	"fmt"
	"strings"
)

// Runner carries out commands, one after the other.
type Runner interface {
	// Run carries out one command and returns what it prints, in whole lines. An error means
	// that the script is wrong, not that a plan is.
	Run(command string) (string, error)
}

// divider stands between commands and their output.
const divider = "----"

// Execute runs a script and returns it with the output that its commands print now. The
// error names the line of the first command that could not be run.
func Execute(text string, r Runner) (string, error) {
	var out, printed strings.Builder
	inOutput, commands := false, 0
	for i, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		line = strings.TrimRight(line, " \t")
		switch {
		case inOutput && line != "":
			continue // the old output
		case line == divider:
			if commands == 0 {
				return "", fmt.Errorf("line %d: %s without commands", i+1, divider)
			}
			out.WriteString(divider + "\n" + orOK(printed.String()))
			printed.Reset()
			inOutput, commands = true, 0
			continue
		case line != "" && !strings.HasPrefix(line, "#"):
			commands++
			if err := runLine(&printed, r, line); err != nil {
				return "", fmt.Errorf("line %d: %s: %w", i+1, line, err)
			}
		}
		inOutput = false
		out.WriteString(line + "\n")
	}
	if commands > 0 {
		return "", fmt.Errorf("the last commands have no %s after them", divider)
	}
	return out.String(), nil
}

func runLine(printed *strings.Builder, r Runner, line string) error {
	text, err := r.Run(line)
	if err != nil {
		return err
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	if strings.HasPrefix(text, "\n") || strings.Contains(text, "\n\n") {
		return errors.New("prints an empty line, which ends a block")
	}
	printed.WriteString(text)
	return nil
}

func orOK(printed string) string {
	if printed == "" {
		return "ok\n"
	}
	return printed
}
