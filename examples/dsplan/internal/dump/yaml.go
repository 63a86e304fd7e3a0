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

var (
	errBomb   = fmt.Errorf("its aliases may expand to more than %d MiB", maxExpansion>>20)
	errNotOne = errors.New("is more than one value")
)

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
	wrapped, ok := wrap(text)
	if !ok {
		return yaml.ToJSON(text)
	}
	array, err := yaml.ToJSON(wrapped)
	if err != nil {
		return nil, err
	}
	return onlyElement(array)
}

// wrap makes a document the entry of a sequence, if it would otherwise be read in part: the
// parser stops where a value in brackets or an indented one ends, whatever comes after. In
// a sequence it has to look at what follows. Lines keep their numbers, if there is a line
// to spare before the document.
func wrap(text []byte) ([]byte, bool) {
	start := contentStart(text)
	if start == len(text) {
		return nil, false
	}
	lines := bytes.Count(text[:start], []byte("\n"))
	lineStart := bytes.LastIndexByte(text[:start], '\n') + 1
	switch {
	case bytes.IndexByte([]byte("{[&!"), text[start]) >= 0:
		return slices.Concat(bytes.Repeat([]byte("\n"), lines), []byte("- "), text[start:]), true
	case start > lineStart && !startsDocument(text[lineStart:]):
		return slices.Concat(bytes.Repeat([]byte("\n"), max(0, lines-1)), []byte("-\n"), text[lineStart:]), true
	}
	return nil, false
}

// onlyElement is the one element of an array.
func onlyElement(array []byte) ([]byte, error) {
	var only []byte
	for i, element := range elements(bytes.TrimSpace(array)) {
		if i > 0 {
			return nil, errNotOne
		}
		only = element
	}
	if only == nil {
		return nil, errNotOne
	}
	return only, nil
}

// listToJSON converts a list in the form that kubectl prints item by item, which takes a
// small part of the memory that the whole takes. ok is false for everything else, and for
// what does not convert so; it may be fine as a whole.
//
// The result is that of the whole: what converts by itself is complete, so its text means
// the same among others. Only an alias could tell the difference, and one to another part
// does not convert.
func listToJSON(text []byte) (object []byte, ok bool) {
	list, ok := splitList(text)
	if !ok {
		return nil, false
	}
	frame, ok := list.frameToJSON()
	if !ok {
		return nil, false
	}
	object = append(make([]byte, 0, len(text)), frame[:len(frame)-1]...)
	object = append(object, `,"items":[`...)
	for i, item := range list.items {
		array, err := wholeToJSON(item)
		if err != nil {
			return nil, false
		}
		element, err := onlyElement(array)
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
	head  []byte   // what comes before the items
	items [][]byte // each a sequence of one entry
	tail  []byte   // what comes after them
}

// frameToJSON converts what is around the items, if that is a mapping in block style with
// plain names that begin their lines, as "items" does, and has no items of its own.
func (l listText) frameToJSON() ([]byte, bool) {
	start := contentStart(l.head)
	if start == len(l.head) || start > 0 && l.head[start-1] != '\n' || !isNameByte(l.head[start]) || len(l.tail) > 0 && !isNameByte(l.tail[0]) {
		return nil, false
	}
	// The head may end in a string that the tail ends, with the items in it.
	if _, err := wholeToJSON(l.head); err != nil {
		return nil, false
	}
	frame, err := wholeToJSON(slices.Concat(l.head, l.tail))
	frame = bytes.TrimSpace(frame)
	return frame, err == nil && isObject(frame) && !hasMember(frame, "items")
}

// splitList takes a block mapping apart that has a block sequence as its member items.
func splitList(text []byte) (listText, bool) {
	begin, ok := memberItems(text)
	if !ok {
		return listText{}, false
	}
	list := listText{head: text[:begin-len("items:\n")]}
	indent := -1
	item, at := begin, begin
	for at < len(text) {
		end := lineEnd(text, at)
		line := text[at:end]
		if endsItems(line) {
			break
		}
		if isMarker(bytes.TrimLeft(line, " "), "-") {
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
	list.tail = text[at:]
	return list, true
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
	}
	return !isMarker(line, "-")
}
