package dump

import (
	"bytes"
	"encoding/binary"
	"iter"
	"unicode/utf16"
)

// document is one of the documents in a file.
type document struct {
	number int // from 1
	offset int // in the file
	text   []byte
}

// documents splits a file, which is several YAML documents, several JSON objects one after
// the other, or any mix of them.
//
// As in YAML, "---" begins a document even if nothing follows, whereas comments before the
// first "---", or after a "...", are none.
func documents(file []byte) iter.Seq[document] {
	return func(yield func(document) bool) {
		number := 0
		for offset, text := range segments(file) {
			if isBlank(text) {
				if startsDocument(text) {
					number++
				}
				continue
			}
			for len(text) > 0 {
				size := documentSize(text)
				number++
				if !yield(document{number: number, offset: offset, text: text[:size]}) {
					return
				}
				rest := bytes.TrimLeft(text[size:], " \t\n")
				offset += len(text) - len(rest)
				text = rest
			}
		}
	}
}

// documentSize is the length of the first document in a segment: a segment that begins
// with a JSON object may hold more of them, any other is one document.
func documentSize(segment []byte) int {
	start := contentStart(segment)
	if !looksLikeJSON(segment[start:]) {
		return len(segment)
	}
	if end := endOfValue(segment[start:]); end >= 0 {
		return start + end
	}
	return len(segment)
}

// looksLikeJSON tells a JSON object from a YAML document, which may begin with a brace as
// well, as those of kubectl -o kyaml do; but there the names are not quoted.
func looksLikeJSON(text []byte) bool {
	if !isObject(text) {
		return false
	}
	text = bytes.TrimLeft(text[1:], " \t\n")
	return len(text) == 0 || text[0] == '"' || text[0] == '}'
}

// segments splits a file at its YAML document markers, "---" and "...", each on a line of
// its own or followed by space. A "---" stays with what follows, a "..." is dropped.
func segments(file []byte) iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		start := 0
		for at := 0; at < len(file); {
			end := lineEnd(file, at)
			line := file[at:end]
			switch {
			case startsDocument(line) && at > start:
				if !yield(start, file[start:at]) {
					return
				}
				start = at
			case isMarker(line, "..."):
				if !yield(start, file[start:at]) {
					return
				}
				start = end
			}
			at = end
		}
		if start < len(file) {
			yield(start, file[start:])
		}
	}
}

// lineEnd is where the line around an offset ends, its line feed included.
func lineEnd(text []byte, at int) int {
	if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(text)
}

func startsDocument(text []byte) bool { return isMarker(text, "---") }

func isMarker(text []byte, marker string) bool {
	rest, ok := bytes.CutPrefix(text, []byte(marker))
	return ok && (len(rest) == 0 || rest[0] == ' ' || rest[0] == '\t' || rest[0] == '\n')
}

// isBlank reports whether there is nothing but a marker, comments, directives and space.
func isBlank(text []byte) bool { return contentStart(text) == len(text) }

// contentStart is where the first value begins: after the marker, directives, comments and
// space.
func contentStart(text []byte) int {
	at := 0
	if startsDocument(text) {
		at = len("---")
	}
	for at < len(text) {
		switch c := text[at]; {
		case c == ' ' || c == '\t' || c == '\n':
			at++
		case c == '#' || c == '%' && (at == 0 || text[at-1] == '\n'):
			at = lineEnd(text, at)
		default:
			return at
		}
	}
	return at
}

// normalize brings a file to UTF-8 with line feeds and without a byte order mark. Windows
// shells redirect output as UTF-16.
func normalize(file []byte) []byte {
	if text, ok := bytes.CutPrefix(file, []byte("\xff\xfe")); ok {
		file = fromUTF16(text, binary.LittleEndian)
	} else if text, ok := bytes.CutPrefix(file, []byte("\xfe\xff")); ok {
		file = fromUTF16(text, binary.BigEndian)
	}
	file = bytes.TrimPrefix(file, []byte("\ufeff"))
	if bytes.IndexByte(file, '\r') < 0 {
		return file
	}
	file = bytes.ReplaceAll(file, []byte("\r\n"), []byte("\n"))
	return bytes.ReplaceAll(file, []byte("\r"), []byte("\n"))
}

func fromUTF16(text []byte, order binary.ByteOrder) []byte {
	units := make([]uint16, len(text)/2)
	for i := range units {
		units[i] = order.Uint16(text[2*i:])
	}
	return []byte(string(utf16.Decode(units)))
}
