package main

import (
	"bytes"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestStory keeps the story as it was told; UPDATE_GOLDEN=1 tells it anew.
func TestStory(t *testing.T) {
	const golden = "testdata/story.txt"
	out := &bytes.Buffer{}
	require.NoError(t, run(t.Context(), out))
	if os.Getenv("UPDATE_GOLDEN") != "" {
		require.NoError(t, os.WriteFile(golden, out.Bytes(), 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), out.String())
	require.Contains(t, out.String(), "+0 -3  ready 20/20", "the first update keeps to its budget")
}
