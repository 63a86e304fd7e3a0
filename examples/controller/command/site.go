package command

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// minLease is the shortest lease: the API server keeps whole seconds.
const minLease = time.Second

// stopPatience is how long requests under way may take at the end.
const stopPatience = 2 * time.Second

// site is the HTTP server.
type site struct {
	server http.Server
	ended  chan struct{}
	logger *slog.Logger
}

func startSite(listener net.Listener, h http.Handler, logger *slog.Logger) *site {
	s := &site{
		server: http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute},
		ended:  make(chan struct{}),
		logger: logger,
	}
	logger.Info("listening", "address", listener.Addr().String())
	go func() {
		defer close(s.ended)
		if err := s.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			logger.Error("HTTP server", "error", err)
		}
	}()
	return s
}

// stop ends the server, also if ctx is done.
func (s *site) stop(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopPatience)
	defer cancel()
	if err := s.server.Shutdown(ctx); err != nil {
		_ = s.server.Close() // cuts what did not end in time
	}
	<-s.ended
}
