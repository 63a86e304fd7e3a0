package rollout_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/daemonplan/daemonplan/rollout"
)

// seen counts how often the case that a property is about came up.
type seen map[string]int

// properties are what must hold for any Input. The fuzz target checks the same ones.
func properties() map[string]func(t *testing.T, in rollout.Input, s seen) {
	return map[string]func(t *testing.T, in rollout.Input, s seen){
		"agrees with the slow twin":     checkTwin,
		"input is untouched":            checkUntouched,
		"input order does not matter":   checkOrder,
		"due nodes are in one slice":    checkPartition,
		"maxUnavailable is not passed":  checkMaxUnavailable,
		"maxSurge is not passed":        checkMaxSurge,
		"leaving keeps enough":          checkLeaving,
		"a larger budget takes no less": checkMonotone,
		"two halves make the whole":     checkHalves,
	}
}

func TestDecideProperties(t *testing.T) {
	runs := 2000
	if testing.Short() {
		runs = 500
	}
	for name, check := range properties() {
		t.Run(name, func(t *testing.T) {
			s := seen{}
			for seed := range runs {
				data := generate(rand.New(rand.NewPCG(uint64(seed), 1)))
				check(t, decode(data), s)
				if t.Failed() {
					t.Fatalf("seed %d, for testdata/fuzz/FuzzDecide:\ngo test fuzz v1\n[]byte(%q)", seed, data)
				}
			}
			require.NotEmpty(t, s)
			t.Log(s)
			for occurrence, count := range s {
				require.Positive(t, count, "never came up: %s", occurrence)
			}
		})
	}
}

func FuzzDecide(f *testing.F) {
	for seed := range 8 {
		f.Add(generate(rand.New(rand.NewPCG(uint64(seed), 2))))
	}
	checks := properties()
	f.Fuzz(func(t *testing.T, data []byte) {
		in := decode(data[:min(len(data), headerBytes+nodeBytes*60)])
		for name, check := range checks {
			check(t, in, seen{})
			if t.Failed() {
				t.Fatal(name)
			}
		}
	})
}

func checkTwin(t *testing.T, in rollout.Input, s seen) {
	t.Helper()
	got := rollout.Decide(in)
	expectEqual(t, twin(in), got)
	for _, reason := range []rollout.Reason{
		rollout.OutdatedUnavailable, rollout.Outdated, rollout.SurgeStarted, rollout.SurgeComplete,
		rollout.LeftIneligibleNode, rollout.BudgetExhausted, rollout.SurgeWaiting, rollout.AvailabilityShort,
		rollout.ExcessPods,
	} {
		s[string(reason)] += countReason(got, reason)
	}
}

func checkUntouched(t *testing.T, in rollout.Input, s seen) {
	t.Helper()
	before := slices.Clone(in.Nodes)
	for i := range before {
		before[i].Pods = slices.Clone(before[i].Pods)
	}
	got := rollout.Decide(in)
	expectEqual(t, before, in.Nodes)
	s["unsorted nodes, with a choice"] += count(!slices.IsSortedFunc(in.Nodes, byName) &&
		countReason(got, rollout.BudgetExhausted) > 0 && countReason(got, rollout.Outdated) > 0)
}

func checkOrder(t *testing.T, in rollout.Input, s seen) {
	t.Helper()
	rng := rand.New(rand.NewPCG(uint64(len(in.Nodes)), 3))
	want := rollout.Decide(in)
	for range 3 {
		expectEqual(t, want, rollout.Decide(shuffled(in, rng)))
	}
	names := map[string]bool{}
	for _, d := range want.Deletes {
		s["a name twice among deletes"] += count(names[d.Node])
		names[d.Node] = true
	}
	s["a choice by preference"] += count(in.Prefer != nil && countReason(want, rollout.BudgetExhausted) > 0)
	s["a choice by name"] += count(in.Prefer == nil && countReason(want, rollout.BudgetExhausted) > 0)
}

func checkPartition(t *testing.T, in rollout.Input, s seen) {
	t.Helper()
	got := rollout.Decide(in)
	balance := map[string]int{}
	for _, n := range in.Nodes {
		fresh, old := split(n)
		if len(old) > 0 || len(fresh) > 1 {
			balance[n.Name]++
			s["due nodes"]++
		} else {
			s["other nodes"]++
		}
	}
	var deletes, surges, holds []string
	for _, d := range got.Deletes {
		deletes = append(deletes, d.Node)
		if d.Pod.Current {
			t.Errorf("a current pod is deleted: %+v", d)
		}
	}
	for _, a := range got.Surges {
		surges = append(surges, a.Node)
	}
	for _, h := range got.Holds {
		holds = append(holds, h.Node)
	}
	for _, names := range [][]string{deletes, surges, holds} {
		if !slices.IsSorted(names) {
			t.Errorf("not sorted: %v", names)
		}
		for _, name := range names {
			balance[name]--
		}
	}
	for name, left := range balance {
		if left != 0 {
			t.Errorf("%s is due and not in exactly one slice: %d", name, left)
		}
	}
	s["all three slices"] += count(len(deletes) > 0 && len(surges) > 0 && len(holds) > 0)
}

// Available pods deleted by choice, and nodes that were without one, are no more than may
// be unavailable.
func checkMaxUnavailable(t *testing.T, in rollout.Input, s seen) {
	t.Helper()
	if in.Budget.MaxSurge > 0 {
		return
	}
	without := 0
	for _, n := range in.Nodes {
		without += count(len(n.Pods) != 1 || n.Pods[0].Health != rollout.Available)
	}
	got := rollout.Decide(in)
	byChoice := 0
	for _, d := range got.Deletes {
		available := d.Pod.Health == rollout.Available
		byChoice += count(available)
		if available != (d.Reason == rollout.Outdated) {
			t.Errorf("reason does not fit: %+v", d)
		}
	}
	if byChoice > 0 && byChoice+without > in.Budget.MaxUnavailable {
		t.Errorf("%d by choice and %d without, budget %+v", byChoice, without, in.Budget)
	}
	held := countReason(got, rollout.BudgetExhausted)
	if held > 0 && byChoice+without < in.Budget.MaxUnavailable {
		t.Errorf("budget %+v left unspent, %d wait", in.Budget, held)
	}
	s["spent by choice"] += count(byChoice > 0)
	s["some by choice, some wait"] += count(byChoice > 0 && held > 0)
	s["spent before any choice"] += count(without >= in.Budget.MaxUnavailable && held > 0)
}

// Nodes that surge, ambiguous ones included, and those that start to by choice are no more
// than may.
func checkMaxSurge(t *testing.T, in rollout.Input, s seen) {
	t.Helper()
	if in.Budget.MaxSurge <= 0 {
		return
	}
	got := rollout.Decide(in)
	surging := countReason(got, rollout.SurgeWaiting) + countReason(got, rollout.ExcessPods)
	started, held := countReason(got, rollout.SurgeStarted), countReason(got, rollout.BudgetExhausted)
	if started > 0 && surging+started > in.Budget.MaxSurge {
		t.Errorf("%d started beside %d, budget %+v", started, surging, in.Budget)
	}
	if held > 0 && surging+started < in.Budget.MaxSurge {
		t.Errorf("budget %+v left unspent, %d wait", in.Budget, held)
	}
	for _, a := range got.Surges {
		if !slices.ContainsFunc(in.Nodes, func(n rollout.Node) bool {
			return n.Name == a.Node && n.Eligible && len(n.Pods) == 1
		}) {
			t.Errorf("not on an eligible node with one pod: %+v", a)
		}
	}
	s["started, none waits"] += count(started > 0 && held == 0)
	s["some started, some wait"] += count(started > 0 && held > 0)
	s["spent before any choice"] += count(surging >= in.Budget.MaxSurge && held > 0)
}

// Available pods leave ineligible nodes only while as many as desired stay available.
func checkLeaving(t *testing.T, in rollout.Input, s seen) {
	t.Helper()
	if in.Budget.MaxSurge <= 0 {
		return
	}
	available := 0
	for _, n := range in.Nodes {
		fresh, old := split(n)
		if len(fresh) > 1 || len(old) > 1 || len(n.Pods) == 0 {
			continue
		}
		available += count(append(old, fresh...)[0].Health == rollout.Available)
	}
	got := rollout.Decide(in)
	left := 0
	for _, d := range got.Deletes {
		left += count(d.Reason == rollout.LeftIneligibleNode && d.Pod.Health == rollout.Available)
	}
	held := countReason(got, rollout.AvailabilityShort)
	if left > 0 && available-left < in.Desired {
		t.Errorf("%d left, %d were available, %d desired", left, available, in.Desired)
	}
	if held > 0 && available-left > max(in.Desired, 0) {
		t.Errorf("%d wait, %d were available, %d desired", held, available, in.Desired)
	}
	s["some left, some wait"] += count(left > 0 && held > 0)
	s["all left"] += count(left > 0 && held == 0)
	s["all wait"] += count(left == 0 && held > 0)
}

// One more in the budget selects the same and perhaps one more.
func checkMonotone(t *testing.T, in rollout.Input, s seen) {
	t.Helper()
	less := rollout.Decide(in)
	in.Budget.MaxUnavailable++
	if in.Budget.MaxSurge > 0 {
		in.Budget.MaxSurge++
	}
	more := rollout.Decide(in)
	for _, d := range less.Deletes {
		if !slices.Contains(more.Deletes, d) {
			t.Errorf("no longer deleted: %+v", d)
		}
	}
	for _, a := range less.Surges {
		if !slices.Contains(more.Surges, a) {
			t.Errorf("no longer surged: %+v", a)
		}
	}
	grown := len(more.Deletes) + len(more.Surges) - len(less.Deletes) - len(less.Surges)
	if grown < 0 || grown > 1 {
		t.Errorf("one more in the budget made %d more steps", grown)
	}
	s["one more selected without surge"] += count(grown == 1 && in.Budget.MaxSurge <= 0)
	s["one more selected with surge"] += count(grown == 1 && in.Budget.MaxSurge > 0)
	s["none more selected"] += count(grown == 0)
}

// In a world in which every step succeeds at once, an update ends, in no more passes than
// there are nodes and one.
func TestDecideReachesTheEnd(t *testing.T) {
	for _, budget := range []rollout.Budget{{MaxUnavailable: 1}, {MaxUnavailable: 7}, {MaxSurge: 1}, {MaxSurge: 7}} {
		t.Run(fmt.Sprintf("%+v", budget), func(t *testing.T) {
			nodes := fleet(20, func(int) rollout.Pod { return rollout.Pod{Name: "old", Health: rollout.Available} })
			passes := 0
			for ; passes <= 2*len(nodes); passes++ {
				got := rollout.Decide(rollout.Input{Nodes: nodes, Desired: len(nodes), Budget: budget})
				if len(got.Deletes)+len(got.Surges) == 0 {
					break
				}
				settle(nodes, got)
			}
			for _, n := range nodes {
				require.Len(t, n.Pods, 1)
				require.True(t, n.Pods[0].Current, n.Name)
			}
			assert.LessOrEqual(t, passes, len(nodes)+1)
		})
	}
}

// settle replaces what was deleted and starts what was surged.
func settle(nodes []rollout.Node, steps rollout.Result) {
	fresh := rollout.Pod{Name: "new", Current: true, Health: rollout.Available}
	for i := range nodes {
		n := &nodes[i]
		for _, d := range steps.Deletes {
			if d.Node == n.Name {
				n.Pods = []rollout.Pod{fresh}
			}
		}
		for _, a := range steps.Surges {
			if a.Node == n.Name {
				n.Pods = append(n.Pods, fresh)
			}
		}
	}
}

// expectEqual spends the time of a readable difference only where there is one.
func expectEqual(t *testing.T, want, got any) {
	t.Helper()
	if !reflect.DeepEqual(want, got) {
		t.Error(gocmp.Diff(want, got))
	}
}

func countReason(r rollout.Result, reason rollout.Reason) int {
	total := 0
	for _, d := range r.Deletes {
		total += count(d.Reason == reason)
	}
	for _, a := range r.Surges {
		total += count(a.Reason == reason)
	}
	for _, h := range r.Holds {
		total += count(h.Reason == reason)
	}
	return total
}

func count(condition bool) int {
	if condition {
		return 1
	}
	return 0
}
