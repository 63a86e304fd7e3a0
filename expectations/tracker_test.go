package expectations_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/expectations"
)

func at(seconds int) time.Time {
	return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).Add(time.Duration(seconds) * time.Second)
}

const owner = types.UID("set")

func TestTracker(t *testing.T) {
	tests := []struct {
		name    string
		why     string
		do      func(tr *expectations.Tracker)
		creates int
		deletes []types.UID
		until   time.Time
	}{
		{
			name: "nothing announced", why: "an unknown owner waits for nothing",
			do: func(tr *expectations.Tracker) {
				tr.SawCreate(owner, "a")
				tr.SawDelete(owner, "a")
				tr.Created(owner, "a")
			},
		},
		{
			name: "announced", why: "a write is waited for from before it is issued",
			do:      func(tr *expectations.Tracker) { tr.Expect(owner, 2, []types.UID{"y", "x"}, at(0)) },
			creates: 2, deletes: []types.UID{"x", "y"}, until: at(300),
		},
		{
			name: "seen after the call returned", why: "the usual order",
			do: func(tr *expectations.Tracker) {
				tr.Expect(owner, 1, nil, at(0))
				tr.Created(owner, "a")
				tr.SawCreate(owner, "a")
			},
		},
		{
			name: "seen before the call returned", why: "an event may overtake the answer and must not be lost",
			do: func(tr *expectations.Tracker) {
				tr.Expect(owner, 1, nil, at(0))
				tr.SawCreate(owner, "a")
				tr.Created(owner, "a")
			},
		},
		{
			name: "another pod seen", why: "only the pod itself settles its creation",
			do: func(tr *expectations.Tracker) {
				tr.Expect(owner, 1, nil, at(0))
				tr.Created(owner, "a")
				tr.SawCreate(owner, "b")
			},
			creates: 1, until: at(300),
		},
		{
			name: "another pod seen early", why: "an early sighting of some other pod is no sighting of the new one",
			do: func(tr *expectations.Tracker) {
				tr.Expect(owner, 1, nil, at(0))
				tr.SawCreate(owner, "b")
				tr.Created(owner, "a")
			},
			creates: 1, until: at(300),
		},
		{
			name: "two events of one deletion", why: "turning terminating and going away are one deletion",
			do: func(tr *expectations.Tracker) {
				tr.Expect(owner, 0, []types.UID{"x", "y"}, at(0))
				tr.SawDelete(owner, "x")
				tr.SawDelete(owner, "x")
			},
			deletes: []types.UID{"y"}, until: at(300),
		},
		{
			name: "late event of an old deletion", why: "it cannot settle a new one",
			do: func(tr *expectations.Tracker) {
				tr.Expect(owner, 0, []types.UID{"old"}, at(0))
				tr.SawDelete(owner, "old")
				tr.Expect(owner, 0, []types.UID{"new"}, at(10))
				tr.SawDelete(owner, "old")
			},
			deletes: []types.UID{"new"}, until: at(310),
		},
		{
			name: "created and gone unseen", why: "a pod whose deletion is seen will not be seen created any more",
			do: func(tr *expectations.Tracker) {
				tr.Expect(owner, 1, nil, at(0))
				tr.Created(owner, "a")
				tr.SawDelete(owner, "a")
			},
		},
		{
			name: "created and gone before the call returned", why: "the same, overtaken",
			do: func(tr *expectations.Tracker) {
				tr.Expect(owner, 1, nil, at(0))
				tr.SawDelete(owner, "a")
				tr.Created(owner, "a")
			},
		},
		{
			name: "failed writes", why: "a withdrawn write is not waited for",
			do: func(tr *expectations.Tracker) {
				tr.Expect(owner, 3, []types.UID{"x", "y"}, at(0))
				tr.Created(owner, "a")
				tr.Cancel(owner, 2, "x")
			},
			creates: 1, deletes: []types.UID{"y"}, until: at(300),
		},
		{
			name: "too much withdrawn", why: "counts do not go below zero",
			do: func(tr *expectations.Tracker) {
				tr.Expect(owner, 1, []types.UID{"x"}, at(0))
				tr.Cancel(owner, 5)
			},
			deletes: []types.UID{"x"}, until: at(300),
		},
		{
			name: "lost", why: "a create without an answer may have taken effect and is waited for, but not for long",
			do: func(tr *expectations.Tracker) {
				tr.Expect(owner, 1, nil, at(0))
				tr.Lost(owner, at(5))
			},
			creates: 1, until: at(65),
		},
		{
			name: "lost and seen", why: "a pod that nobody named is the lost one",
			do: func(tr *expectations.Tracker) {
				tr.Expect(owner, 2, nil, at(0))
				tr.Created(owner, "a")
				tr.Lost(owner, at(5))
				tr.SawCreate(owner, "b")
			},
			creates: 1, until: at(300),
		},
		{
			name: "lost and seen early", why: "what nobody named once all calls have returned is the lost one",
			do: func(tr *expectations.Tracker) {
				tr.Expect(owner, 2, nil, at(0))
				tr.SawCreate(owner, "b")
				tr.Lost(owner, at(5))
				tr.Created(owner, "a")
			},
			creates: 1, until: at(300),
		},
		{
			name: "lost, but seen by name", why: "the sighting of a named pod is not that of a lost one",
			do: func(tr *expectations.Tracker) {
				tr.Expect(owner, 2, nil, at(0))
				tr.SawCreate(owner, "a")
				tr.Lost(owner, at(5))
				tr.Created(owner, "a")
			},
			creates: 1, until: at(65),
		},
		{
			name: "announced again before the deadline", why: "what is still waited for stays, and the clock starts anew",
			do: func(tr *expectations.Tracker) {
				tr.Expect(owner, 1, nil, at(0))
				tr.Expect(owner, 1, []types.UID{"x"}, at(200))
			},
			creates: 2, deletes: []types.UID{"x"}, until: at(500),
		},
		{
			name: "announced again at the deadline", why: "what has expired is given up",
			do: func(tr *expectations.Tracker) {
				tr.Expect(owner, 7, []types.UID{"x"}, at(0))
				tr.Expect(owner, 1, nil, at(300))
			},
			creates: 1, until: at(600),
		},
		{
			name: "forgotten", why: "an owner that is gone waits for nothing",
			do: func(tr *expectations.Tracker) {
				tr.Expect(owner, 1, []types.UID{"x"}, at(0))
				tr.Forget(owner)
			},
		},
		{
			name: "another owner", why: "owners do not settle each other's writes",
			do: func(tr *expectations.Tracker) {
				tr.Expect(owner, 0, []types.UID{"x"}, at(0))
				tr.SawDelete("other", "x")
			},
			deletes: []types.UID{"x"}, until: at(300),
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tr := &expectations.Tracker{}
			tt.do(tr)
			got := tr.Pending(owner)
			require.Equal(t, expectations.Pending{Creates: tt.creates, Deletes: tt.deletes, Deadline: tt.until}, got, tt.why)
			if tt.until.IsZero() {
				require.Zero(t, tr.Owners(), "an owner that waits for nothing must not stay in memory")
			}
		})
	}
}

func TestPendingSettled(t *testing.T) {
	tests := []struct {
		name string
		give expectations.Pending
		want bool
	}{
		{"nothing", expectations.Pending{}, true},
		{"nothing, with a deadline ahead", expectations.Pending{Deadline: at(100)}, true},
		{"a create", expectations.Pending{Creates: 1, Deadline: at(100)}, false},
		{"a delete", expectations.Pending{Deletes: []types.UID{"x"}, Deadline: at(100)}, false},
		{"just before the deadline", expectations.Pending{Creates: 1, Deadline: at(1)}, false},
		{"at the deadline", expectations.Pending{Creates: 1, Deadline: at(0)}, true},
		{"no deadline", expectations.Pending{Creates: 1}, false},
		{"fewer than none", expectations.Pending{Creates: -1}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, tt.give.Settled(at(0))) })
	}
}

func TestTrackerTimeout(t *testing.T) {
	tr := &expectations.Tracker{Timeout: time.Second}
	tr.Expect(owner, 1, nil, at(0))
	require.Equal(t, at(1), tr.Pending(owner).Deadline)
}

// TestTrackerConcurrent is for the race detector, and shows that nothing is lost or leaked
// when sightings and answers come from many goroutines in any order.
func TestTrackerConcurrent(t *testing.T) {
	const pods = 200
	tr := &expectations.Tracker{}
	deletes := make([]types.UID, pods)
	for i := range deletes {
		deletes[i] = types.UID("x" + string(rune('a'+i%26)) + string(rune('a'+i/26)))
	}
	tr.Expect(owner, pods, deletes, at(0))
	var wg sync.WaitGroup
	for i := range pods {
		pod := types.UID("c" + string(deletes[i]))
		wg.Go(func() { tr.Created(owner, pod) })
		wg.Go(func() { tr.SawCreate(owner, pod) })
		wg.Go(func() { tr.SawDelete(owner, deletes[i]) })
		wg.Go(func() { tr.Pending(owner) })
	}
	wg.Wait()
	require.Equal(t, expectations.Pending{}, tr.Pending(owner))
	require.Zero(t, tr.Owners())
}

// TestObserved: reads settle what no event told of, and only that.
func TestObserved(t *testing.T) {
	tests := []struct {
		name    string
		why     string
		sight   expectations.Sight
		creates int
		deletes []types.UID
	}{
		{"unclear", "the read may be older than the writes", expectations.Unclear, 1, []types.UID{"old"}},
		{"present", "the new pod is there; the old one is not on its way yet", expectations.Present, 0, []types.UID{"old"}},
		{"going", "being deleted counts as deleted", expectations.Going, 0, nil},
		{"gone", "the new one came and went unseen", expectations.Gone, 0, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var tracker expectations.Tracker
			tracker.Expect("o", 1, []types.UID{"old"}, at(0))
			tracker.Created("o", "new")
			asked := map[types.UID]bool{}
			tracker.Observed("o", func(pod types.UID) expectations.Sight {
				asked[pod] = true
				return tt.sight
			})
			require.Equal(t, map[types.UID]bool{"old": true, "new": true}, asked)
			pending := tracker.Pending("o")
			require.Equal(t, tt.creates, pending.Creates, tt.why)
			require.Equal(t, tt.deletes, pending.Deletes, tt.why)
			require.Equal(t, tt.creates == 0 && tt.deletes == nil, pending.Empty())
			require.Equal(t, pending.Empty(), tracker.Owners() == 0)
		})
	}
}

// TestObservedKnowsNoLostCreates: a read cannot tell the pod of a create that got no answer
// from older ones.
func TestObservedKnowsNoLostCreates(t *testing.T) {
	var tracker expectations.Tracker
	tracker.Expect("o", 1, nil, at(0))
	tracker.Lost("o", at(0))
	tracker.Observed("o", func(types.UID) expectations.Sight { return expectations.Present })
	require.Equal(t, 1, tracker.Pending("o").Creates)
	tracker.Observed("unknown", func(types.UID) expectations.Sight { panic("nothing is waited for") })
}

// TestLostCreatesAreNotSettledByOldPods: only a pod that became visible and is not known
// otherwise can be the one of a create that got no answer.
func TestLostCreatesAreNotSettledByOldPods(t *testing.T) {
	tests := []struct {
		name  string
		event func(tracker *expectations.Tracker)
		want  int // creates still waited for
	}{
		{"an old pod goes during the call", func(tracker *expectations.Tracker) {
			tracker.SawDelete("o", "old")
			tracker.Created("o", "a")
			tracker.SawCreate("o", "a")
			tracker.Lost("o", at(0))
		}, 1},
		{"an old pod goes after the call", func(tracker *expectations.Tracker) {
			tracker.Created("o", "a")
			tracker.Lost("o", at(0))
			tracker.SawCreate("o", "a")
			tracker.SawDelete("o", "old")
		}, 1},
		{"another create is seen again after the call", func(tracker *expectations.Tracker) {
			tracker.Created("o", "a")
			tracker.Lost("o", at(0))
			tracker.SawCreate("o", "a")
			tracker.SawCreate("o", "a")
		}, 1},
		{"another create is seen again during the call", func(tracker *expectations.Tracker) {
			tracker.Created("o", "a")
			tracker.SawCreate("o", "a")
			tracker.SawCreate("o", "a")
			tracker.Lost("o", at(0))
		}, 1},
		{"another create is seen before its name is known, and again", func(tracker *expectations.Tracker) {
			tracker.SawCreate("o", "a")
			tracker.Created("o", "a")
			tracker.SawCreate("o", "a")
			tracker.Lost("o", at(0))
			tracker.SawCreate("o", "a")
		}, 1},
		{"its own pod comes, and goes, during the call", func(tracker *expectations.Tracker) {
			tracker.SawCreate("o", "b")
			tracker.SawDelete("o", "b")
			tracker.Created("o", "a")
			tracker.SawCreate("o", "a")
			tracker.Lost("o", at(0))
		}, 0},
		{"its own pod comes after the call", func(tracker *expectations.Tracker) {
			tracker.Created("o", "a")
			tracker.Lost("o", at(0))
			tracker.SawCreate("o", "a")
			tracker.SawCreate("o", "b")
		}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var tracker expectations.Tracker
			tracker.Expect("o", 2, nil, at(0))
			tt.event(&tracker)
			require.Equal(t, tt.want, tracker.Pending("o").Creates)
		})
	}
}

// TestLostDeletes are waited for, but not for long.
func TestLostDeletes(t *testing.T) {
	var tracker expectations.Tracker
	tracker.Expect("o", 0, []types.UID{"b", "a"}, at(0))
	tracker.LostDelete("o", "b", at(30))
	tracker.LostDelete("o", "unknown", at(300))
	require.Equal(t, expectations.Pending{Deletes: []types.UID{"a", "b"}, Deadline: at(300)}, tracker.Pending("o"))
	tracker.SawDelete("o", "a")
	require.Equal(t, expectations.Pending{Deletes: []types.UID{"b"}, Deadline: at(90)}, tracker.Pending("o"))
	tracker.SawDelete("o", "b")
	require.Zero(t, tracker.Owners())

	tracker.Expect("o", 0, []types.UID{"b"}, at(0))
	tracker.LostDelete("o", "b", at(0))
	tracker.Observed("o", func(types.UID) expectations.Sight { return expectations.Present })
	require.Equal(t, []types.UID{"b"}, tracker.Pending("o").Deletes)
	tracker.Observed("o", func(types.UID) expectations.Sight { return expectations.Going })
	require.Zero(t, tracker.Owners())
}

// TestSent: the wait begins when the calls have returned.
func TestSent(t *testing.T) {
	var tracker expectations.Tracker
	tracker.Sent("o", at(0))
	require.Zero(t, tracker.Owners())
	tracker.Expect("o", 1, nil, at(0))
	tracker.Created("o", "a")
	tracker.Sent("o", at(200))
	require.Equal(t, at(500), tracker.Pending("o").Deadline)
	tracker.Sent("o", at(100))
	require.Equal(t, at(500), tracker.Pending("o").Deadline, "never sooner")
}
