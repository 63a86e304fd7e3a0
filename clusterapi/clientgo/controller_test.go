package clientgo_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/daemonplan/daemonplan/clusterapi/clientgo"
)

// patience is for what is going to happen, on a machine that may be busy.
const patience = time.Minute

func TestControllerFillsNodes(t *testing.T) {
	client := newClient(append(nodes(3), agentSet())...)
	c, err := clientgo.New(clientgo.Config{Client: client, Logger: slog.New(slog.NewTextHandler(t.Output(), nil))})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	require.Eventually(t, func() bool { return len(podsOf(t, client)) == 3 }, patience, 10*time.Millisecond)
	stop()
	require.NoError(t, <-ended)
}
