package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestREADME keeps the code and the output in the README those of this program.
func TestREADME(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	source, err := os.ReadFile("main.go")
	require.NoError(t, err)
	_, code, ok := strings.Cut(string(source), "func run(")
	require.True(t, ok)
	require.Contains(t, string(readme), "```go\nfunc run("+code+"```\n")
	out := &bytes.Buffer{}
	require.NoError(t, run(out))
	require.Contains(t, string(readme), "```\n"+out.String()+"```\n")
}
