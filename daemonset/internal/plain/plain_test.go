package plain_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/daemonplan/daemonplan/daemonset/internal/plain"
)

func TestPrintable(t *testing.T) {
	assert.Equal(t, `a "b" ä`, plain.Printable(`a "b" ä`))
	assert.Equal(t, `a\nb\x1b[0m`, plain.Printable("a\nb\x1b[0m"))
	assert.Empty(t, plain.Printable(""))
}

func TestClip(t *testing.T) {
	whole := strings.Repeat("x", 200)
	assert.Equal(t, whole, plain.Clip(whole))
	assert.Equal(t, whole+"...", plain.Clip(whole+"y"))
	assert.Equal(t, whole[:199]+"...", plain.Clip(whole[:199]+"ä"), "no half of a character")
}

func TestNonEmpty(t *testing.T) {
	assert.Equal(t, []string{"a", "b"}, plain.NonEmpty("", "a", "", "b"))
	assert.Nil(t, plain.NonEmpty("", ""))
}
