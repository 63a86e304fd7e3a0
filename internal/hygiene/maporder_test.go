package hygiene_test

import (
	"testing"

	"github.com/daemonplan/daemonplan/internal/hygiene"
)

func TestMapOrderOfThisModule(t *testing.T) {
	for _, source := range append(sources(t), tellers(t)...) {
		report(t, hygiene.MapOrder(source))
	}
}

func TestMapOrder(t *testing.T) {
	tests := []struct {
		name, why string
		give      string // body of func f(m map[string]int, l []string)
		want      []string
	}{
		{
			name: "range over a slice",
			why:  "a slice has an order",
			give: "for range l {\n}",
		},
		{
			name: "range over a map",
			why:  "the order differs from run to run",
			give: "for range m {\n}",
			want: []string{"m.go:12: range over a map"},
		},
		{
			name: "range over a named map",
			why:  "a name does not give it an order",
			give: "for range named(nil) {\n}",
			want: []string{"range over a map"},
		},
		{
			name: "range in a function literal",
			why:  "depth does not give it an order",
			give: "_ = func() { for range m {\n} }",
			want: []string{"range over a map"},
		},
		{
			name: "sorted keys",
			why:  "this is the way",
			give: "for range slices.Sorted(maps.Keys(m)) {\n}",
		},
		{
			name: "sorted values by an order of their own",
			why:  "so is this, with type arguments or parentheses",
			give: "_ = slices.SortedFunc((maps.Values[map[string]int](m)), cmp.Compare[int])\n_ = slices.SortedStableFunc(maps.Values(m), cmp.Compare[int])",
		},
		{
			name: "unsorted keys",
			why:  "a range check alone does not see an iterator",
			give: "for range maps.Keys(m) {\n}",
			want: []string{"maps.Keys has no order"},
		},
		{
			name: "collected, not sorted",
			why:  "only a sort gives an order",
			give: "_ = slices.Collect(maps.Values(m))",
			want: []string{"maps.Values has no order"},
		},
		{
			name: "pairs",
			why:  "pairs cannot be sorted by slices.Sorted at all",
			give: "for range maps.All(m) {\n}",
			want: []string{"maps.All has no order"},
		},
		{
			name: "sorted later",
			why:  "what lies between could look at the order",
			give: "keys := maps.Keys(m)\n_ = slices.Sorted(keys)",
			want: []string{"maps.Keys has no order"},
		},
		{
			name: "sorted elsewhere",
			why:  "one sorted use does not excuse another",
			give: "_ = slices.Sorted(maps.Keys(m))\n_ = slices.Collect(maps.Keys(m))",
			want: []string{"m.go:13: maps.Keys has no order"},
		},
		{
			name: "as a value",
			why:  "who calls it cannot be seen",
			give: "_ = maps.Keys[map[string]int]",
			want: []string{"maps.Keys has no order"},
		},
		{
			name: "a set's list",
			why:  "its name says it",
			give: "_ = set{}.UnsortedList()",
			want: []string{"UnsortedList has no order"},
		},
		{
			name: "by reflection",
			why:  "reflection lists maps as well",
			give: "_ = reflect.ValueOf(m).MapKeys()\n_ = reflect.ValueOf(m).MapRange()",
			want: []string{"MapKeys has no order", "MapRange has no order"},
		},
		{
			name: "a map read and cleared",
			why:  "neither shows an order",
			give: "_ = m[\"a\"]\nclear(m)\nmaps.DeleteFunc(m, func(string, int) bool { return true })",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			list := loadSample(t, map[string]string{"m.go": "package m\n\nimport (\n\"cmp\"\n\"maps\"\n\"reflect\"\n\"slices\"\n)\n\n" +
				"func f(m map[string]int, l []string) {\n\n" + tt.give + "\n}\n" + mapOrderRest})
			requireProblems(t, hygiene.MapOrder(list[0]), tt.want)
		})
	}
}

// mapOrderRest uses every import once, in a way that shows no order.
const mapOrderRest = `
type named map[string]int

type set struct{}

func (set) UnsortedList() []string { return nil }

var (
	_ = cmp.Compare[int]
	_ = maps.Clone[named]
	_ = reflect.ValueOf
	_ = slices.Max[[]int]
)
`

func TestMapOrderOfTypeParameters(t *testing.T) {
	list := loadSample(t, map[string]string{"m.go": `package m

type rows interface{ ~map[string]int }

func f[M ~map[string]int, N rows, L ~[]string](m M, n N, l L) {
	for range m {
	}
	for range n {
	}
	for range l {
	}
}
`})
	requireProblems(t, hygiene.MapOrder(list[0]), []string{"m.go:6: range over a map", "m.go:8: range over a map"})
}
