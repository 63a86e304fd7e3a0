package dump

import (
	"bytes"
	"strings"
)

// expandsWithin reports whether a YAML document stays within limit bytes when its aliases
// are replaced by what they stand for. It errs on the safe side: everything between the
// anchor and the alias counts as anchored, and an ampersand in a string as an anchor.
func expandsWithin(text []byte, limit int) bool {
	if bytes.IndexByte(text, '*') < 0 {
		return true
	}
	anchors := map[string]int{} // the expanded size at which each begins
	added := 0
	for i := range text {
		name := markName(text, i)
		if name == "" {
			continue
		}
		begin, anchored := anchors[name]
		switch {
		case text[i] == '&':
			anchors[name] = i + added
		case anchored:
			added += i + added - begin
		}
		if added > limit {
			return false
		}
	}
	return true
}

// isFreeOfAliases reports whether a document has no aliases after all, only strings that
// look like them: without its anchors it is still well formed, as an alias without an
// anchor is not.
func isFreeOfAliases(text []byte) bool {
	masked := bytes.Clone(text)
	for i := range masked {
		if masked[i] == '&' && markName(masked, i) != "" {
			masked[i] = '_'
		}
	}
	_, err := wholeToJSON(masked)
	return err == nil
}

// markName is the name of the anchor or alias that may stand at i, or empty.
func markName(text []byte, i int) string {
	if text[i] != '&' && text[i] != '*' {
		return ""
	}
	if i > 0 && !strings.ContainsRune(" \t\n[{,:?-", rune(text[i-1])) {
		return ""
	}
	end := i + 1
	for end < len(text) && isNameByte(text[end]) {
		end++
	}
	return string(text[i+1 : end])
}

// isNameByte reports whether the YAML package takes c for part of a name.
func isNameByte(c byte) bool {
	return c == '_' || c == '-' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
