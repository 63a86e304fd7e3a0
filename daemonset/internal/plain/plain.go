// Package plain is what the texts of package daemonset and of those below it have in common.
package plain

import (
	"strconv"
	"strings"
	"unicode"
)

// maxQuoted bounds what is quoted from an object.
const maxQuoted = 200

// Printable escapes what could end a line or steer a terminal. No name from an API server
// has such characters, but texts of other origin may.
func Printable(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) < 0 {
		return s
	}
	quoted := strconv.Quote(s)
	return quoted[1 : len(quoted)-1]
}

// Clip cuts what is quoted from an object, which may be of any length.
func Clip(s string) string {
	if len(s) <= maxQuoted {
		return s
	}
	return strings.ToValidUTF8(s[:maxQuoted], "") + "..."
}

// NonEmpty returns the texts that are not empty, in a slice of their own.
func NonEmpty(texts ...string) []string {
	var kept []string
	for _, s := range texts {
		if s != "" {
			kept = append(kept, s)
		}
	}
	return kept
}
