package dump

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/yaml"
)

// maxExpansion is how many bytes a YAML document may grow to by its aliases. Dumps have
// none, and the few of a manifest written by hand stay far below. The YAML package limits
// how many values aliases may add, but not how large each of them is.
const maxExpansion = 32 << 20

var errBomb = fmt.Errorf("its aliases may expand to more than %d MiB", maxExpansion>>20)

// toJSON converts one YAML document to JSON. Line numbers in errors count from the start
// of the document.
func toJSON(text []byte) ([]byte, error) {
	if object, ok := listToJSON(text); ok {
		return object, nil
	}
	return wholeToJSON(text)
}

// wholeToJSON converts a document in one go.
func wholeToJSON(text []byte) ([]byte, error) {
	if !expandsWithin(text, maxExpansion) && !isFreeOfAliases(text) {
		return nil, errBomb
	}
	start := contentStart(text)
	if start == len(text) || text[start] != '{' && text[start] != '[' {
		return yaml.ToJSON(text)
	}
	// The parser stops at the end of a value in brackets, whatever comes after. In a
	// sequence it has to look at what follows.
	wrapped := slices.Concat([]byte("- "), text[start:])
	array, err := yaml.ToJSON(append(bytes.Repeat([]byte("\n"), bytes.Count(text[:start], []byte("\n"))), wrapped...))
	if err != nil {
		return nil, err
	}
	return withoutBrackets(array)
}

func withoutBrackets(array []byte) ([]byte, error) {
	array = bytes.TrimSpace(array)
	if !isArray(array) {
		return nil, errors.New("is not one value")
	}
	return array[1 : len(array)-1], nil
}

// listToJSON converts a list in the form that kubectl prints item by item, which takes a
// small part of the memory that the whole takes. ok is false for everything else, and for
// what does not convert so; it may be fine as a whole.
//
// The result is that of the whole: an item that converts by itself is complete, so its
// text means the same among others. Only an alias could tell the difference, and one to
// another item does not convert.
func listToJSON(text []byte) (object []byte, ok bool) {
	list, ok := splitList(text)
	if !ok || !isNameByte(text[contentStart(text)]) {
		return nil, false // not a mapping in block style
	}
	frame, err := wholeToJSON(list.frame)
	frame = bytes.TrimSpace(frame)
	if err != nil || !isObject(frame) {
		return nil, false
	}
	frame = frame[:len(frame)-1]
	object = make([]byte, 0, len(text))
	object = append(object, frame...)
	object = append(object, `,"items":[`...)
	for i, item := range list.items {
		array, err := wholeToJSON(item)
		if err != nil {
			return nil, false
		}
		element, err := withoutBrackets(array)
		if err != nil {
			return nil, false
		}
		if i > 0 {
			object = append(object, ',')
		}
		object = append(object, element...)
	}
	return append(object, "]}"...), true
}

// listText is the text of a list, taken apart.
type listText struct {
	frame []byte   // everything but the items
	items [][]byte // each a sequence of one entry
}

// splitList takes a block mapping apart that has a block sequence as its member items.
func splitList(text []byte) (listText, bool) {
	begin, ok := memberItems(text)
	if !ok {
		return listText{}, false
	}
	list := listText{}
	indent := -1
	item, at := begin, begin
	for at < len(text) {
		end := lineEnd(text, at)
		line := text[at:end]
		if endsItems(line) {
			break
		}
		if bytes.HasPrefix(bytes.TrimLeft(line, " "), []byte("- ")) {
			depth := bytes.IndexByte(line, '-')
			if indent < 0 {
				indent = depth
			}
			if depth == indent && at > item {
				list.items = append(list.items, text[item:at])
				item = at
			}
		}
		at = end
	}
	if indent < 0 {
		return listText{}, false
	}
	list.items = append(list.items, text[item:at])
	list.frame = slices.Concat(text[:begin-len("items:\n")], text[at:])
	_, twice := memberItems(list.frame)
	return list, !twice
}

// memberItems is where the line after "items:" begins.
func memberItems(text []byte) (int, bool) {
	const member = "items:\n"
	if bytes.HasPrefix(text, []byte(member)) {
		return len(member), true
	}
	i := bytes.Index(text, []byte("\n"+member))
	return i + 1 + len(member), i >= 0
}

// endsItems reports whether a line is the next member of the list itself.
func endsItems(line []byte) bool {
	switch line[0] {
	case ' ', '\t', '#', '\n':
		return false
	case '-':
		return len(line) == 1 || line[1] != ' '
	}
	return true
}
