package command

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// The colours of text, of the 256 of terminals. They differ in lightness, and the words that
// they are on say all that they say.
const (
	plainColour = 0
	goodColour  = 33
	waitColour  = 220
	careColour  = 208
	badColour   = 196
	restColour  = 245
)

// accentOf is the colour of a line's first word, which in every text of dsplan says what the
// line is about.
func accentOf(word string) int {
	for _, accent := range []struct {
		colour int
		words  []string
	}{
		{goodColour, []string{"Complete", "now", "create", "Gains:", "Admits:", "Hastens:", "budgets"}},
		{waitColour, []string{"Progressing", "Waiting", "waits", "waits:", "waiting", "going:", "starting:", "Restarts:", "Outdates:", "Delays:"}},
		{careColour, []string{"Paused", "Terminating", "because", "until", "finding", "delete", "failing:", "was", "Closes:"}},
		{badColour, []string{"Stuck", "overdue:", "error:", "Loses:", "broken"}},
		{restColour, []string{"nothing", "unchanged:", "Spares:", "Differs:"}},
	} {
		if slices.Contains(accent.words, word) {
			return accent.colour
		}
	}
	return plainColour
}

// dress makes text fit for the screen: on a terminal lines that are too long for it are broken
// between words, and what a line is about is in colour. Elsewhere text stays as it is.
func (s screen) dress(text string) string {
	if !s.terminal {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		for i, row := range s.rows(line) {
			if i == 0 && s.colour {
				row = highlight(row)
			}
			b.WriteString(row)
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// highlight colours the first word of a line; a title is bold.
func highlight(line string) string {
	if strings.HasPrefix(line, "# ") {
		return "\x1b[1m" + line + "\x1b[0m"
	}
	rest := strings.TrimLeft(line, " ")
	indent := line[:len(line)-len(rest)]
	word, _, _ := strings.Cut(rest, " ")
	colour := accentOf(word)
	if colour == plainColour {
		return line
	}
	return fmt.Sprintf("%s\x1b[38;5;%dm%s\x1b[0m%s", indent, colour, word, rest[len(word):])
}

// hanging is by how much the further rows of a line stand more to the right than the first.
const hanging = 4

// rows breaks a line between words so that no row is wider than the screen, unless a word is.
func (s screen) rows(line string) []string {
	margin := strings.Repeat(" ", len(line)-len(strings.TrimLeft(line, " "))+hanging)
	var rows []string
	for utf8.RuneCountInString(line) > s.width {
		at := s.breakOf(line)
		if at < 0 {
			break
		}
		rows = append(rows, strings.TrimRight(line[:at], " "))
		line = margin + strings.TrimLeft(line[at:], " ")
	}
	return append(rows, line)
}

// breakOf is where to break a line that is too wide: at the last space that leaves a row which
// is not, or else at the first behind a word; -1 if the line is one word.
func (s screen) breakOf(line string) int {
	first := len(line) - len(strings.TrimLeft(line, " "))
	at, column := -1, 0
	for i, r := range line {
		if r == ' ' && i > first {
			if column > s.width && at >= 0 {
				return at
			}
			if at = i; column > s.width {
				return at
			}
		}
		column++
	}
	return at
}
