package picture_test

import (
	"math"
	"os"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestPaletteWithoutHues: the states that follow each other in an update differ in lightness,
// so that their borders are seen without colour vision, and where patterns have no room.
func TestPaletteWithoutHues(t *testing.T) {
	style, err := os.ReadFile("style.css")
	require.NoError(t, err)
	found := regexp.MustCompile(`--s(\d): #([0-9a-f]{6})`).FindAllStringSubmatch(string(style), -1)
	require.Len(t, found, 18, "nine states, light and dark")
	for scheme, colours := range map[string][][]string{"light": found[:9], "dark": found[9:]} {
		const updated, starting, surging, outdated, stopping = 0, 1, 2, 3, 5
		for _, pair := range [][2]int{{outdated, stopping}, {stopping, starting}, {starting, updated}, {outdated, updated}, {outdated, surging}, {surging, updated}} {
			a, b := luminance(t, colours[pair[0]][2]), luminance(t, colours[pair[1]][2])
			contrast := (math.Max(a, b) + 0.05) / (math.Min(a, b) + 0.05)
			assert.Greater(t, contrast, 1.3, "%s: states %v", scheme, pair)
		}
	}
}

// luminance is the relative luminance of the WCAG.
func luminance(t *testing.T, hex string) float64 {
	t.Helper()
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		value, err := strconv.ParseUint(hex[2*i:2*i+2], 16, 8)
		require.NoError(t, err)
		c := float64(value) / 255
		if c <= 0.04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		sum += weight * c
	}
	return sum
}
