package main_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// wishes is what the header of a case asks for: the value of each "want", and the rest.
type wishes struct {
	now, hash string
	want      map[string]string
}

// The wants that a case may have. One with a backoff needs state that a dump has not, and
// is checked where there is such state.
const (
	wantCreate  = "create on"
	wantDelete  = "delete"
	wantStatus  = "status"
	wantEvents  = "events"
	wantAdopt   = "adopt"
	wantBackoff = "while in backoff"
)

// readWishes parses the comments that a case begins with. It knows every line: one that it
// does not know could be a want that nobody checks.
func readWishes(text string) (wishes, error) {
	w := wishes{want: map[string]string{}}
	for line := range strings.Lines(text) {
		comment, ok := strings.CutPrefix(strings.TrimSpace(line), "# ")
		if !ok {
			break
		}
		key, value, _ := strings.Cut(comment, ": ")
		want, isWant := strings.CutPrefix(key, "want ")
		switch {
		case key == "now":
			w.now = value
		case key == "current-hash":
			w.hash = value
		case slices.Contains([]string{"id", "kind", "why", "users want"}, key):
		case isWant && slices.Contains([]string{wantCreate, wantDelete, wantStatus, wantEvents, wantAdopt, wantBackoff}, want):
			w.want[want] = value
		default:
			return wishes{}, fmt.Errorf("cannot tell what %q asks for", line)
		}
	}
	for _, must := range []string{wantCreate, wantDelete, wantStatus} {
		if _, ok := w.want[must]; !ok {
			return wishes{}, fmt.Errorf("does not say what to want for %q", must)
		}
	}
	return w, nil
}

// list parses "[a, b]", whatever follows the bracket, and sorts it.
func list(text string) ([]string, error) {
	inner, ok := strings.CutPrefix(text, "[")
	inner, _, closed := strings.Cut(inner, "]")
	if !ok || !closed {
		return nil, fmt.Errorf("%q is no list", text)
	}
	if inner == "" {
		return nil, nil
	}
	return slices.Sorted(strings.SplitSeq(inner, ", ")), nil
}

func TestReadWishesKnowsEveryLine(t *testing.T) {
	const fine = "# now: x\n# want create on: []\n# want delete: []\n# want status: desired=1\n"
	_, err := readWishes(fine)
	require.NoError(t, err)
	for _, more := range []string{"# want release: [a]\n", "# wants: []\n", "# wish\n"} {
		_, err := readWishes(fine + more)
		require.Error(t, err, more)
	}
	_, err = readWishes("# want create on: []\n")
	require.Error(t, err)
	_, err = list("none")
	require.Error(t, err)
}

// TestCases plans the situations in testdata/cases, which say what Kubernetes v1.37.2 does.
func TestCases(t *testing.T) {
	files, err := filepath.Glob("testdata/cases/*.yaml")
	require.NoError(t, err)
	require.Len(t, files, 14)
	seen := map[string]int{}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			w, err := readWishes(string(text))
			require.NoError(t, err)
			for want := range w.want {
				seen[want]++
			}
			got := dsplan("", "plan", "-f", file, "-now", w.now, "-o", "json")
			require.Equal(t, 0, got.status, got.err+got.out)
			decoded := plans(t, got.out)
			require.Len(t, decoded, 1)
			check(t, w, decoded[0])
		})
	}
	assert.Equal(t, []string{wantAdopt, wantCreate, wantDelete, wantEvents, wantStatus, wantBackoff}, slices.Sorted(maps.Keys(seen)), "every want comes up")
}

func check(t *testing.T, w wishes, p plan) {
	t.Helper()
	assert.Equal(t, w.hash, p.Revision.Hash)
	var creates, deletes []string
	for _, c := range p.Creates {
		creates = append(creates, c.Node)
	}
	for _, d := range p.Deletes {
		deletes = append(deletes, d.Pod)
	}
	checkList(t, w.want[wantCreate], creates)
	checkList(t, w.want[wantDelete], deletes)
	checkList(t, orEmpty(strings.ReplaceAll(w.want[wantAdopt], "and the ControllerRevision ", "")), p.Adopts)
	assert.Equal(t, w.want[wantStatus], statusLine(p))
	checkEvents(t, orEmpty(w.want[wantEvents]), p)
}

// orEmpty makes a want that is left out the want for nothing.
func orEmpty(want string) string {
	if want == "" {
		return "[]"
	}
	return want
}

func checkList(t *testing.T, want string, got []string) {
	t.Helper()
	wanted, err := list(want)
	require.NoError(t, err)
	assert.Empty(t, cmp.Diff(wanted, slices.Sorted(slices.Values(got))))
}

func statusLine(p plan) string {
	s := p.Status
	return fmt.Sprintf("desired=%d current=%d ready=%d updated=%d available=%d unavailable=%d misscheduled=%d",
		s["desiredNumberScheduled"], s["currentNumberScheduled"], s["numberReady"], s["updatedNumberScheduled"],
		s["numberAvailable"], s["numberUnavailable"], s["numberMisscheduled"])
}

// checkEvents compares events such as "FailedDaemonPod Warning for agent-aaaaa".
func checkEvents(t *testing.T, want string, p plan) {
	t.Helper()
	wanted, err := list(want)
	require.NoError(t, err)
	require.Len(t, p.Events, len(wanted))
	for _, event := range wanted {
		words := strings.Fields(event)
		require.Len(t, words, 4, event)
		found := 0
		for _, e := range p.Events {
			if e.Reason == words[0] && e.Type == words[1] && strings.Contains(e.Message, words[3]) {
				found++
			}
		}
		assert.Equal(t, 1, found, event)
	}
}
