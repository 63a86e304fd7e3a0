package e2e_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
)

// calls counts requests by verb and resource, as "create pods".
type calls map[string]int

func (c calls) total() int {
	total := 0
	for _, n := range c {
		total += n
	}
	return total
}

// countCalls counts what a user has asked of the API server since an offset of its audit log.
// A watch counts once, when it begins.
func countCalls(t *testing.T, log string, offset int64, user string) calls {
	t.Helper()
	counted := calls{}
	for _, event := range audited(t, log, offset) {
		began := event.Stage == auditv1.StageResponseStarted
		if event.User.Username != user || began != (event.Verb == "watch") {
			continue
		}
		what := event.Verb
		if ref := event.ObjectRef; ref != nil {
			what += " " + strings.TrimSuffix(ref.Resource+"/"+ref.Subresource, "/")
		}
		counted[what]++
	}
	return counted
}

// audited reads an audit log from an offset on.
func audited(t *testing.T, log string, offset int64) (events []auditv1.Event) {
	t.Helper()
	file, err := os.Open(log)
	require.NoError(t, err)
	defer file.Close()
	_, err = file.Seek(offset, io.SeekStart)
	require.NoError(t, err)
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var event auditv1.Event
		require.NoError(t, json.Unmarshal(lines.Bytes(), &event), "%s", lines.Text())
		events = append(events, event)
	}
	require.NoError(t, lines.Err())
	return events
}

func sizeOf(t *testing.T, file string) int64 {
	t.Helper()
	info, err := os.Stat(file)
	require.NoError(t, err)
	return info.Size()
}

// table compares what two controllers took for a phase, as sums over the rounds, and the
// highest of memory and unavailability.
func table(title string, size int, own, stock []measure) string {
	a, b := total(own), total(stock)
	var text strings.Builder
	fmt.Fprintf(&text, "\n%s, %d nodes, %d rounds\n", title, size, len(own))
	fmt.Fprintf(&text, "%-32s %12s %12s %8s\n", "", "daemonplan", "stock", "ratio")
	row := func(name, format string, own, stock float64) {
		ratio := "-"
		if stock != 0 {
			ratio = fmt.Sprintf("%.2f", own/stock)
		}
		fmt.Fprintf(&text, "%-32s %12s %12s %8s\n", name, fmt.Sprintf(format, own), fmt.Sprintf(format, stock), ratio)
	}
	row("wall time, s", "%.2f", a.wall.Seconds(), b.wall.Seconds())
	row("CPU, s", "%.2f", a.cpu.Seconds(), b.cpu.Seconds())
	row("peak memory, MiB", "%.0f", float64(a.peak)/(1<<20), float64(b.peak)/(1<<20))
	row("worst unavailability, nodes", "%.0f", float64(a.worst), float64(b.worst))
	row("API calls", "%.0f", float64(a.calls.total()), float64(b.calls.total()))
	for _, what := range kindsOfCalls(a.calls, b.calls) {
		row("  "+what, "%.0f", float64(a.calls[what]), float64(b.calls[what]))
	}
	return text.String()
}

func kindsOfCalls(a, b calls) []string {
	var all []string
	for what := range a {
		all = append(all, what)
	}
	for what := range b {
		if _, ok := a[what]; !ok {
			all = append(all, what)
		}
	}
	slices.Sort(all)
	return all
}

func total(rounds []measure) measure {
	sum := measure{calls: calls{}}
	for _, m := range rounds {
		sum.wall += m.wall
		sum.cpu += m.cpu
		sum.peak = max(sum.peak, m.peak)
		sum.worst = max(sum.worst, m.worst)
		for what, n := range m.calls {
			sum.calls[what] += n
		}
	}
	return sum
}
