package hygiene_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/daemonset/explain"
	"github.com/daemonplan/daemonplan/internal/hygiene"
	"github.com/daemonplan/daemonplan/placement"
)

// words returns the vocabulary of this module, each package's after those it borrows from.
func words(t *testing.T) []hygiene.Word {
	t.Helper()
	var all []hygiene.Word
	for _, source := range sources(t) {
		found := hygiene.Words(source, "Code", "Reason")
		require.NotEmpty(t, found, "%s has a vocabulary", source.Package.ImportPath)
		all = append(all, found...)
	}
	return all
}

func TestVocabularyOfThisModule(t *testing.T) {
	report(t, hygiene.Vocabulary(words(t)))
}

func TestVocabularyIsInGoldens(t *testing.T) {
	var goldens strings.Builder
	for _, dir := range []string{"/daemonset/testdata", "/daemonset/explain/testdata"} {
		text, err := hygiene.Goldens(root + dir)
		require.NoError(t, err)
		goldens.WriteString(text)
	}
	report(t, hygiene.Unseen(words(t), goldens.String()))
}

// TestVocabularyIsExplained: a word without a sentence is one that dsplan cannot explain, and a
// sentence that is in no golden is one that nobody has looked at.
func TestVocabularyIsExplained(t *testing.T) {
	goldens, err := hygiene.Goldens(root + "/daemonset/explain/testdata")
	require.NoError(t, err)
	all := words(t)
	report(t, hygiene.Unseen(all, goldens))
	for _, word := range all {
		reason, isReason := explain.OfReason(daemonset.Reason(word.Value))
		code, isCode := explain.OfCode(placement.Code(word.Value))
		if isReason == isCode {
			t.Errorf("%s has not one meaning in package explain", word.Place)
			continue
		}
		for _, sentence := range []string{reason.Means + code.Means, reason.Next + code.Next} {
			require.Regexp(t, `^[A-Z].*\.$`, sentence, word.Place)
		}
	}
}

// TestVocabularyOfTellersIsInGoldens: the same for what package status makes of pods in trouble
// and package diff of nodes, each word documented where it is declared.
func TestVocabularyOfTellersIsInGoldens(t *testing.T) {
	var goldens strings.Builder
	for _, dir := range []string{"/daemonset/status/testdata", "/examples/dsplan/testdata/golden"} {
		text, err := hygiene.Goldens(root + dir)
		require.NoError(t, err)
		goldens.WriteString(text)
	}
	found := map[string]int{}
	for _, source := range tellers(t) {
		for _, word := range hygiene.Words(source, "Phase", "Activity", "Cause", "Effect") {
			found[source.Package.ImportPath]++
			report(t, hygiene.Vocabulary([]hygiene.Word{word}))
			report(t, hygiene.Unseen([]hygiene.Word{word}, goldens.String()))
		}
	}
	require.Positive(t, found[module+"/daemonset/status"])
	require.Positive(t, found[module+"/daemonset/diff"])
}

func TestWords(t *testing.T) {
	list := loadSample(t, map[string]string{
		"low/low.go": `package low

type Reason string

const Lent Reason = "Lent" // documented behind it
`,
		"m.go": `package m

import "example.com/m/low"

type (
	Code   string
	Reason string
	other  string
)

// Above is documented above it.
const Above Reason = "Above"

// A comment of the group documents none of its members.
const (
	Bare   Reason = "Bare"
	Wrong         = Code("Rong") // with another value
	Lent          = Reason(low.Lent) // converted
	Second        = Reason(Bare) // converted, but not from elsewhere

	hidden  Reason = "hidden"
	Unusual other  = "Unusual"
	Plain          = "Plain"
)
`,
	})
	var found []hygiene.Word
	for _, source := range list {
		found = append(found, hygiene.Words(source, "Code", "Reason")...)
	}
	require.Equal(t, []hygiene.Word{
		{Name: "Lent", Value: "Lent", Place: "example.com/m/low/low.go:5: Lent", Documented: true},
		{Name: "Above", Value: "Above", Place: "example.com/m/m.go:12: Above", Documented: true},
		{Name: "Bare", Value: "Bare", Place: "example.com/m/m.go:16: Bare"},
		{Name: "Wrong", Value: "Rong", Place: "example.com/m/m.go:17: Wrong", Documented: true},
		{Name: "Lent", Value: "Lent", Place: "example.com/m/m.go:18: Lent", Documented: true, Borrowed: true},
		{Name: "Second", Value: "Bare", Place: "example.com/m/m.go:19: Second", Documented: true},
	}, found)
}

func TestVocabulary(t *testing.T) {
	tests := []struct {
		name, why string
		give      []hygiene.Word
		want      []string
	}{
		{
			name: "borrowed",
			why:  "one thing may be said by two packages",
			give: []hygiene.Word{
				{Name: "A", Value: "A", Documented: true},
				{Name: "A", Value: "A", Documented: true, Borrowed: true},
			},
		},
		{
			name: "defined twice",
			why:  "two things must not be told by one word",
			give: []hygiene.Word{
				{Name: "A", Value: "A", Place: "first", Documented: true},
				{Name: "A", Value: "A", Place: "second", Documented: true},
			},
			want: []string{"second has the value of first"},
		},
		{
			name: "undocumented",
			why:  "people look a reason up",
			give: []hygiene.Word{{Name: "A", Value: "A", Place: "first"}},
			want: []string{"first has no comment of its own"},
		},
		{
			name: "value is not the name",
			why:  "people look for what they were shown",
			give: []hygiene.Word{{Name: "A", Value: "B", Place: "first", Documented: true}},
			want: []string{`first has the value "B"`},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			requireProblems(t, hygiene.Vocabulary(tt.give), tt.want)
		})
	}
}

func TestUnseen(t *testing.T) {
	dir := sample(t, map[string]string{
		"a/one.txt": "# Commented says nothing.\nnode a  Seen  until then\n",
		"two.txt":   "node b  Half\nnode c  UnseenIsLonger\n",
		"three.log": "node d  Elsewhere\n",
	})
	goldens, err := hygiene.Goldens(dir)
	require.NoError(t, err)
	requireProblems(t, hygiene.Unseen([]hygiene.Word{
		{Value: "Seen", Place: "seen"},
		{Value: "Half", Place: "half"},
		{Value: "Commented", Place: "commented"},
		{Value: "Unseen", Place: "prefix"},
		{Value: "Elsewhere", Place: "elsewhere"},
		{Value: "Elsewhere", Place: "borrowed", Borrowed: true},
	}, goldens), []string{"commented appears in no golden", "prefix appears", "elsewhere appears"})
}

func TestGoldensMustExist(t *testing.T) {
	_, err := hygiene.Goldens(sample(t, map[string]string{"one.txt": "# Only a comment.\n"}))
	require.ErrorContains(t, err, "no script", "a check against nothing would always pass")
	_, err = hygiene.Goldens("testdata/nowhere")
	require.Error(t, err)
}
