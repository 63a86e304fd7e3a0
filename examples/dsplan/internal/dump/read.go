package dump

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"
)

// Read adds the objects of one file: YAML or JSON, one document or several, each an object
// or a list. It keeps DaemonSets, Nodes, Pods and ControllerRevisions and ignores other
// kinds and unknown fields. The name of the file is for messages.
//
// A document that cannot be read is a *SyntaxError. The World is then incomplete and must
// not be planned from: a plan made without half of the pods would create them again. An
// object that cannot be read concerns some sets only, and is part of their Set.Err.
func (w *World) Read(file string, r io.Reader) error {
	text, err := io.ReadAll(r)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if bytes.HasPrefix(text, []byte("\x1f\x8b")) {
		return &SyntaxError{File: file, Document: 1, Err: errGzip}
	}
	text = normalize(text)
	line, counted := 0, 0
	for doc := range documents(text) {
		line += bytes.Count(text[counted:doc.offset], []byte("\n"))
		counted = doc.offset
		object, err := doc.toJSON(line)
		if err == nil {
			err = w.addDocument(object, Place{File: file, Document: doc.number})
		}
		if err != nil {
			return &SyntaxError{File: file, Document: doc.number, Err: err}
		}
	}
	return nil
}

// Snapshot is one of the worlds in a file of many.
type Snapshot struct {
	World    *World
	Document int // in the file, from 1
}

// Lines iterates over a file that has one JSON object a line, most often a list, each of
// them a World of its own. Blank lines are skipped. A line that cannot be read yields a
// *SyntaxError, and the next line follows; an error of the reader itself is the last.
func Lines(file string, r io.Reader) iter.Seq2[Snapshot, error] {
	return func(yield func(Snapshot, error) bool) {
		reader := bufio.NewReaderSize(r, 1<<16)
		number := 0
		for line := 0; ; line++ {
			text, err := reader.ReadBytes('\n')
			if line == 0 {
				text = bytes.TrimPrefix(text, []byte("\ufeff"))
			}
			if text = bytes.TrimSpace(text); len(text) > 0 {
				number++
				if !yield(readLine(text, line, Place{File: file, Document: number})) {
					return
				}
			}
			if err != nil {
				if !errors.Is(err, io.EOF) {
					yield(Snapshot{Document: number + 1}, fmt.Errorf("%s: %w", file, err))
				}
				return
			}
		}
	}
}

func readLine(text []byte, line int, at Place) (Snapshot, error) {
	w := &World{}
	err := errNoObject
	if isObject(text) {
		err = checkJSON(text, line)
	}
	if err == nil {
		err = w.addDocument(text, at)
	}
	if err != nil {
		return Snapshot{Document: at.Document}, &SyntaxError{File: at.File, Document: at.Document, Err: err}
	}
	return Snapshot{World: w, Document: at.Document}, nil
}

// otherBreaks are the line breaks of YAML that are none for anybody else. What follows one
// could be a document that is overlooked, or an alias. Nothing writes them unescaped.
const otherBreaks = "\u0085\u2028\u2029"

var errOtherBreak = errors.New("has a line break other than a line feed (U+0085, U+2028 or U+2029), which must be escaped")

// toJSON converts a document that begins after so many lines. JSON stays as it is.
func (d document) toJSON(line int) ([]byte, error) {
	start := contentStart(d.text)
	if looksLikeJSON(d.text[start:]) {
		line += bytes.Count(d.text[:start], []byte("\n"))
		object := d.text[start:]
		return object, checkJSON(object, line)
	}
	if bytes.ContainsAny(d.text, otherBreaks) {
		return nil, errOtherBreak
	}
	object, err := toJSON(d.text)
	if err != nil {
		return nil, errors.New(shiftLine(err.Error(), line))
	}
	return bytes.TrimSpace(object), nil
}

// checkJSON reports where a text that begins after so many lines stops being JSON.
func checkJSON(text []byte, line int) error {
	if json.Valid(text) {
		return nil
	}
	var raw json.RawMessage
	err := json.Unmarshal(text, &raw)
	syntax, ok := errors.AsType[*json.SyntaxError](err)
	if !ok {
		return err
	}
	before := text[:min(max(0, int(syntax.Offset)-1), len(text))]
	line += bytes.Count(before, []byte("\n"))
	column := len(before) - bytes.LastIndexByte(before, '\n')
	return fmt.Errorf("line %d, column %d: %w", line+1, column, err)
}

// shiftLine counts the line that a YAML error names from the start of the file.
func shiftLine(message string, line int) string {
	const prefix = "yaml: line "
	_, rest, ok := strings.Cut(message, prefix)
	if !ok {
		return message
	}
	number, rest, _ := strings.Cut(rest, ":")
	n, err := strconv.Atoi(number)
	if err != nil {
		return message
	}
	return fmt.Sprintf("line %d:%s", n+line, rest)
}
