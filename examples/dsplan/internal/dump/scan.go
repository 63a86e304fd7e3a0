package dump

import (
	"bytes"
	"encoding/json"
	"iter"
)

// endOfValue is the length of the JSON value that text begins with, or -1 if text ends
// inside it. It only balances brackets and quotes: what it delimits need not be valid.
func endOfValue(text []byte) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			length := endOfString(text[i:])
			if length < 0 {
				return -1
			}
			i += length - 1
		case '{', '[':
			depth++
			continue
		case '}', ']':
			depth--
		default:
			if depth > 0 {
				continue
			}
			return i + endOfWord(text[i:])
		}
		if depth <= 0 {
			return i + 1
		}
	}
	return -1
}

// endOfString is the length of the quoted string that text begins with, or -1.
func endOfString(text []byte) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return -1
}

// endOfWord is the length of the number or literal that text begins with.
func endOfWord(text []byte) int {
	if end := bytes.IndexAny(text, ",:]} \t\r\n"); end >= 0 {
		return end
	}
	return len(text)
}

// members iterates over the members of an object, in order. It must be valid JSON; what is
// not an object has no members. The values are parts of the object's own memory.
func members(object []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		if !isObject(object) {
			return
		}
		rest := next(object[1:])
		for len(rest) > 0 && rest[0] == '"' {
			end := endOfString(rest)
			name := unquote(rest[:end])
			rest = next(rest[end:])
			end = endOfValue(rest)
			if !yield(name, rest[:end]) {
				return
			}
			rest = next(rest[end:])
		}
	}
}

func hasMember(object []byte, wanted string) bool {
	for name := range members(object) {
		if name == wanted {
			return true
		}
	}
	return false
}

// elements iterates over the elements of an array, in order. It must be valid JSON; what is
// not an array has no elements. The values are parts of the array's own memory.
func elements(array []byte) iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		if !isArray(array) {
			return
		}
		rest := next(array[1:])
		for i := 0; len(rest) > 0 && rest[0] != ']'; i++ {
			end := endOfValue(rest)
			if !yield(i, rest[:end]) {
				return
			}
			rest = next(rest[end:])
		}
	}
}

// next skips space and the punctuation between values.
func next(text []byte) []byte { return bytes.TrimLeft(text, " \t\r\n,:") }

func isObject(value []byte) bool { return len(value) > 0 && value[0] == '{' }
func isArray(value []byte) bool  { return len(value) > 0 && value[0] == '[' }
func isNull(value []byte) bool   { return string(value) == "null" }

// unquote reads a quoted string that is valid JSON.
func unquote(quoted []byte) string {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1 : len(quoted)-1])
	}
	var text string
	if err := json.Unmarshal(quoted, &text); err != nil {
		return ""
	}
	return text
}
