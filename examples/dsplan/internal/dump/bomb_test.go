package dump_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/daemonplan/daemonplan/examples/dsplan/internal/dump"
)

// billionLaughs nests aliases nine deep, nine each.
func billionLaughs() string {
	text := "apiVersion: v1\nkind: List\na: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'k'; c++ {
		text += fmt.Sprintf("%c: &%c [%s]\n", c, c, strings.TrimSuffix(strings.Repeat("*"+string(c-1)+",", 9), ","))
	}
	return text
}

func TestHostileFilesAreRefusedCheaply(t *testing.T) {
	const kib = 1 << 10
	tests := []struct {
		name, why string
		give      string
		want      string
	}{
		{"aliases of aliases", "the values would be billions", billionLaughs(), "excessive aliasing"},
		{
			"aliases of a long string", "few values, but hundreds of gigabytes",
			"apiVersion: v1\nkind: List\ns: &s " + strings.Repeat("x", kib*kib) + "\nl: [" + strings.Repeat("*s, ", 100*kib) + "]\n",
			"its aliases may expand to more than 32 MiB",
		},
		{
			"aliases of a long string in an item", "items are converted one by one",
			"apiVersion: v1\nkind: List\nitems:\n- s: &s " + strings.Repeat("x", kib*kib) + "\n  l: [" + strings.Repeat("*s, ", 100*kib) + "]\n",
			"its aliases may expand to more than 32 MiB",
		},
		{
			"aliases of aliases of a string", "few enough values for the parser, and a string of no length to speak of",
			"apiVersion: v1\nkind: List\na: &a " + strings.Repeat("x", kib) + "\nb: &b [" + strings.Repeat("*a, ", 50) + "]\nc: &c [" + strings.Repeat("*b, ", 50) +
				"]\nd: [" + strings.Repeat("*c, ", 50) + "]\n",
			"its aliases may expand to more than 32 MiB",
		},
		{
			"aliases in braces", "the first brace does not make it JSON",
			"{apiVersion: v1, kind: List, s: &s " + strings.Repeat("x", kib*kib) + ", l: [" + strings.Repeat("*s,", 100*kib) + "]}\n",
			"its aliases may expand to more than 32 MiB",
		},
		{"brackets, YAML", "", "a: " + strings.Repeat("[", kib*kib), "exceeded max depth"},
		{"brackets, JSON", "", `{"a":` + strings.Repeat("[", kib*kib) + strings.Repeat("]", kib*kib) + "}", "exceeded max depth"},
		{"open brackets, JSON", "", `{"a":` + strings.Repeat("[", kib*kib), "exceeded max depth"},
		{"sequences in sequences", "", strings.Repeat("- ", 256*kib), "exceeded max depth"},
		{"mappings as names", "", strings.Repeat("? ", 256*kib), "exceeded max depth"},
		{"mappings in mappings", "", strings.Repeat("{a: ", 256*kib), "exceeded max depth"},
		{"lists in lists", "each level is looked through again", strings.Repeat(`{"apiVersion":"v1","kind":"List","items":[`, 3000) + strings.Repeat("]}", 3000), "lists are nested more than 8 deep"},
		{"many names", "", "a: {" + strings.Repeat("a,", 256*kib) + "}", "has no kind"},
		{"many documents", "splitting them must not look ahead to the end each time", strings.Repeat("---\n", 256*kib) + "[", "document 262144: line 262145: did not find expected node content"},
		{"many quotes", "", strings.Repeat("'", 256*kib), "is not an object"},
		{"zeros", "", strings.Repeat("\x00", kib*kib), "control characters are not allowed"},
		{"high bytes", "", strings.Repeat("\xc3\x28", 256*kib), "invalid"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			err := (&dump.World{}).Read("dump", strings.NewReader(tt.give))
			runtime.ReadMemStats(&after)
			require.ErrorContains(t, err, tt.want, tt.why)
			assert.Less(t, len(err.Error()), 300, "the message does not repeat the file")
			// Generous, because machines differ: what is caught here grows without bound.
			assert.Less(t, time.Since(start), 20*time.Second)
			assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(512*kib*kib))
		})
	}
}

func TestHarmlessAliasesAreResolved(t *testing.T) {
	tests := []struct{ name, why, give string }{
		{
			"a few", "manifests written by hand have some",
			"apiVersion: v1\nkind: Node\nmetadata:\n  name: &n node-a\n  labels: &l {a: b}\n  annotations: *l\n  generateName: *n\n",
		},
		{
			"a script", "what looks like anchors and aliases is a string here",
			"apiVersion: v1\nkind: Node\nmetadata:\n  name: node-a\n  annotations:\n    note: |\n" + strings.Repeat("      read &x; write *x\n", 100),
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := &dump.World{}
			require.NoError(t, w.Read("dump", strings.NewReader(setJSON+"\n---\n"+tt.give)), tt.why)
			require.Len(t, w.Sets(), 1)
			require.NoError(t, w.Sets()[0].Err)
			assert.Equal(t, "node-a", w.Sets()[0].Objects.Nodes[0].Name)
		})
	}
}
