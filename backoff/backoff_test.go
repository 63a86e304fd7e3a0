package backoff_test

import (
	"encoding/json"
	"fmt"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/backoff"
)

func at(d time.Duration) time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).Add(d) }

func key(node string) backoff.Key { return backoff.Key{Owner: "set", Generation: 1, Node: node} }

func TestPolicyNext(t *testing.T) {
	tests := []struct {
		name   string
		why    string
		policy backoff.Policy
		give   backoff.Entry
		now    time.Duration
		want   time.Duration
	}{
		{"first", "the curve starts at one second", backoff.Policy{}, backoff.Entry{}, 0, time.Second},
		{"second", "and doubles", backoff.Policy{}, backoff.Entry{Delay: time.Second, Since: at(0)}, time.Second, 2 * time.Second},
		{"capped", "up to fifteen minutes", backoff.Policy{}, backoff.Entry{Delay: 512 * time.Second, Since: at(0)}, 0, 15 * time.Minute},
		{"at the cap", "where it stays", backoff.Policy{}, backoff.Entry{Delay: 15 * time.Minute, Since: at(0)}, 0, 15 * time.Minute},
		{"untouched for twice the maximum", "the last instant at which the entry still counts", backoff.Policy{}, backoff.Entry{Delay: time.Minute, Since: at(0)}, 30 * time.Minute, 2 * time.Minute},
		{"decayed", "after which it starts over", backoff.Policy{}, backoff.Entry{Delay: time.Minute, Since: at(0)}, 30*time.Minute + 1, time.Second},
		{"own curve", "a policy may be other", backoff.Policy{Initial: 3 * time.Second, Max: 10 * time.Second}, backoff.Entry{Delay: 6 * time.Second, Since: at(0)}, 0, 10 * time.Second},
		{"initial above the maximum", "the maximum wins", backoff.Policy{Initial: time.Hour, Max: time.Minute}, backoff.Entry{}, 0, time.Minute},
		{"negative fields", "mean the defaults", backoff.Policy{Initial: -1, Max: -1}, backoff.Entry{}, 0, time.Second},
		{"huge delay", "doubling must not overflow", backoff.Policy{Max: math.MaxInt64}, backoff.Entry{Delay: math.MaxInt64 - 1, Since: at(0)}, 0, math.MaxInt64},
		{"huge maximum", "nor twice the maximum", backoff.Policy{Max: math.MaxInt64}, backoff.Entry{Delay: time.Second, Since: at(0)}, time.Hour, 2 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := tt.policy.Next(tt.give, at(tt.now))
			require.Equal(t, backoff.Entry{Key: tt.give.Key, Delay: tt.want, Since: at(tt.now)}, got, tt.why)
		})
	}
}

func TestPolicyWait(t *testing.T) {
	minute := backoff.Entry{Delay: time.Minute, Since: at(0)}
	tests := []struct {
		name string
		give backoff.Entry
		now  time.Duration
		want time.Duration
	}{
		{"never failed", backoff.Entry{}, 0, 0},
		{"just failed", minute, 0, time.Minute},
		{"half way", minute, 30 * time.Second, 30 * time.Second},
		{"a nanosecond left", minute, time.Minute - 1, 1},
		{"over", minute, time.Minute, 0},
		{"long over", minute, time.Hour, 0},
		{"clock set back", minute, -time.Minute, time.Minute}, // not longer than the delay
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, backoff.Policy{}.Wait(tt.give, at(tt.now))) })
	}
}

func TestEntries(t *testing.T) {
	es := backoff.Entries{{Key: key("b"), Delay: 2}, {Key: backoff.Key{Owner: "a"}, Delay: 3}, {Key: key("a"), Delay: 1}}
	sorted := es.Sorted()
	require.Equal(t, "b", es[0].Key.Node, "the original is untouched")
	require.Equal(t, []time.Duration{3, 1, 2}, []time.Duration{sorted[0].Delay, sorted[1].Delay, sorted[2].Delay})
	got, ok := sorted.Get(key("b"))
	require.True(t, ok)
	require.EqualValues(t, 2, got.Delay)
	got, ok = sorted.Get(key("c"))
	require.False(t, ok)
	require.Equal(t, backoff.Entry{Key: key("c")}, got, "an absent entry still knows its key")
}

func TestStore(t *testing.T) {
	s := &backoff.Store{}
	require.Nil(t, s.View("set"))
	require.Equal(t, time.Second, s.Record(key("b"), at(0)).Delay)
	require.Equal(t, 2*time.Second, s.Record(key("b"), at(time.Second)).Delay)
	s.Record(key("a"), at(time.Hour))
	other := backoff.Key{Owner: "other", Node: "b"}
	s.Record(other, at(time.Hour))
	newer := backoff.Key{Owner: "set", Generation: 2, Node: "b"}
	require.Equal(t, time.Second, s.Record(newer, at(time.Hour)).Delay, "a new generation starts with a clean slate")

	view := s.View("set")
	require.Len(t, view, 3)
	require.Equal(t, view.Sorted(), view)
	view[0].Delay = 0
	require.NotZero(t, s.View("set")[0].Delay, "a view is a copy")

	require.Equal(t, 1, s.Prune(at(time.Hour)), "the one that is older than twice the maximum")
	require.Len(t, s.View("set"), 2)
	s.Forget("set")
	require.Nil(t, s.View("set"))
	require.Len(t, s.View("other"), 1)
}

func TestStoreSaveAndRestore(t *testing.T) {
	s := &backoff.Store{}
	for _, node := range []string{"c", "a", "b"} {
		s.Record(key(node), at(0))
		s.Record(backoff.Key{Owner: types.UID("set-" + node), Node: node}, at(0))
	}
	raw, err := json.Marshal(s.Save())
	require.NoError(t, err)
	var table backoff.Entries
	require.NoError(t, json.Unmarshal(raw, &table))
	restarted := &backoff.Store{}
	restarted.Record(key("forgotten"), at(0))
	restarted.Restore(append(table, backoff.Entry{Key: key("empty")}))
	require.Equal(t, s.Save(), restarted.Save())
	require.Equal(t, 2*time.Second, restarted.Record(key("a"), at(time.Second)).Delay, "the curve goes on where it was")
}

func TestStoreConcurrent(t *testing.T) {
	s := &backoff.Store{}
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() { s.Record(key("a"), at(0)) })
		wg.Go(func() { s.View("set") })
		wg.Go(func() { s.Save() })
		wg.Go(func() { s.Prune(at(0)) })
	}
	wg.Wait()
	require.Equal(t, 512*time.Second, s.View("set")[0].Delay, "ten failures, nine doublings")
}

// TestForeignClock: entries that were saved under another clock, or are garbage, forbid
// nothing for longer than a clock of their own would.
func TestForeignClock(t *testing.T) {
	var p backoff.Policy
	tests := []struct {
		name    string
		entry   backoff.Entry
		wait    time.Duration
		decayed bool
	}{
		{"a minute ahead", backoff.Entry{Delay: 10 * time.Second, Since: at(time.Minute)}, 10 * time.Second, false},
		{"half an hour ahead", backoff.Entry{Delay: time.Minute, Since: at(30 * time.Minute)}, time.Minute, false},
		{"further ahead", backoff.Entry{Delay: time.Minute, Since: at(30*time.Minute + 1)}, 0, true},
		{"decades ahead", backoff.Entry{Delay: time.Minute, Since: at(70 * 365 * 24 * time.Hour)}, 0, true},
		{"no delay that the policy gives", backoff.Entry{Delay: math.MaxInt64, Since: at(0)}, 15 * time.Minute, false},
		{"never", backoff.Entry{Delay: time.Minute}, 0, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.wait, p.Wait(tt.entry, at(0)))
			require.Equal(t, tt.decayed, p.Decayed(tt.entry, at(0)))
		})
	}
}

// TestPolicyTurns: nothing changes before the turn, and at each turn something does or the
// next one is later; following them finds all changes.
func TestPolicyTurns(t *testing.T) {
	policies := []backoff.Policy{{}, {Max: time.Second}, {Initial: time.Minute, Max: 10 * time.Second}, {Max: math.MaxInt64}}
	delays := []time.Duration{0, time.Second, 20 * time.Second, time.Hour}
	changes := 0
	for _, p := range policies {
		for _, delay := range delays {
			e := backoff.Entry{Key: key("a"), Delay: delay, Since: at(0)}
			answer := func(now time.Time) string {
				return fmt.Sprint(p.Wait(e, now) > 0, p.Next(e, now).Delay)
			}
			now := at(-2 * time.Hour)
			for turn := p.Turns(e, now); !turn.IsZero(); turn = p.Turns(e, now) {
				require.True(t, turn.After(now))
				for _, between := range []time.Time{now.Add(1), now.Add(turn.Sub(now) / 2), turn.Add(-1)} {
					if between.Before(turn) {
						require.Equal(t, answer(now), answer(between), "%+v, delay %s: %s and %s", p, delay, now, between)
					}
				}
				if answer(now) != answer(turn) {
					changes++
				}
				now = turn
			}
			require.Equal(t, answer(now), answer(now.Add(1000*time.Hour)))
		}
	}
	require.Greater(t, changes, 20)
}
