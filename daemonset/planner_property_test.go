package daemonset_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/daemonplan/daemonplan/daemonset"
)

// TestPlannerIsCompute: after any sequence of changes a planner's plan is the one that Compute
// makes of the same objects, and so are its reports and errors.
func TestPlannerIsCompute(t *testing.T) {
	episodes, steps := uint64(400), 60
	if testing.Short() {
		episodes = 60
	}
	seen := map[string]int{}
	for seed := range episodes {
		s := newSequence(seed)
		for step := range steps {
			change := s.change()
			if err := s.compare(seen); err != nil {
				t.Fatalf("seed %d, step %d, after %s: %v", seed, step, change, err)
			}
			seen[change]++
		}
	}
	t.Log(seen)
	for _, situation := range []string{
		"creates", "deletes", "update", "surge", "claims", "relabels", "revisions", "findings", "failures", "events",
		"deferred", "pending", "collision", "standing back", "refused", "until", "wake by a node", "preferred", "whole", "empty",
	} {
		require.Positive(t, seen[situation], "never came up: %s", situation)
	}
}

// compare plans both ways.
func (s *sequence) compare(seen map[string]int) error {
	want, wantErr := daemonset.Compute(s.snapshot(), s.options)
	got, gotErr := s.planner.Plan(s.moment)
	if wantErr != nil || gotErr != nil {
		seen["refused"]++
		if fmt.Sprint(wantErr) != fmt.Sprint(gotErr) {
			return errors.Join(errors.New("the errors differ"), wantErr, gotErr)
		}
		return nil
	}
	s.plan = want
	s.tell(want, seen)
	if got.Nodes != nil {
		return fmt.Errorf("the plan has reports")
	}
	if err := s.compareNode(want); err != nil {
		return err
	}
	if err := s.compareWake(want.Wake()); err != nil {
		return err
	}
	got.Nodes = s.planner.Nodes()
	wantText, err := textOf(want)
	if err != nil {
		return err
	}
	gotText, err := textOf(got)
	if err != nil {
		return err
	}
	return firstDifference(wantText, gotText)
}

func (s *sequence) compareWake(latest time.Time) error {
	wake := s.planner.Wake()
	switch {
	case !latest.IsZero() && (wake.IsZero() || wake.After(latest)):
		return fmt.Errorf("wakes at %s, want %s at the latest", wake, latest)
	case latest.After(s.moment.Now) && !wake.After(s.moment.Now):
		return fmt.Errorf("wakes at %s, which is not after now", wake)
	}
	return nil
}

func (s *sequence) compareNode(want daemonset.Plan) error {
	name := fmt.Sprintf("node-%02d", s.random.IntN(14))
	wantReport, wantOK := want.Node(name)
	gotReport, gotOK := s.planner.Node(name)
	a, _ := json.Marshal(wantReport)
	b, _ := json.Marshal(gotReport)
	if wantOK != gotOK || string(a) != string(b) {
		return fmt.Errorf("the report on %s is %t %s, want %t %s", name, gotOK, b, wantOK, a)
	}
	return nil
}

func (s *sequence) tell(plan daemonset.Plan, seen map[string]int) {
	var until time.Time
	for _, n := range plan.Nodes {
		if !n.Until.IsZero() && (until.IsZero() || n.Until.Before(until)) {
			until = n.Until
		}
	}
	hasDelete := func(reason daemonset.Reason) bool {
		return slices.ContainsFunc(plan.Deletes, func(d daemonset.Delete) bool { return d.Reason == reason })
	}
	for situation, came := range map[string]bool{
		"creates":        len(plan.Creates) > 0,
		"deletes":        len(plan.Deletes) > 0,
		"update":         hasDelete(daemonset.Outdated),
		"surge":          slices.ContainsFunc(plan.Creates, func(c daemonset.Create) bool { return c.Reason == daemonset.SurgeStarted }),
		"claims":         len(plan.Claims) > 0,
		"relabels":       len(plan.Relabels) > 0,
		"revisions":      len(plan.Revisions) > 0,
		"findings":       len(plan.Findings) > 0,
		"failures":       len(plan.Failures) > 0,
		"events":         len(plan.Events) > 0,
		"deferred":       plan.Deferred != daemonset.Deferred{},
		"pending":        plan.Reason == daemonset.WritesPending,
		"collision":      plan.Reason == daemonset.RevisionCollision,
		"standing back":  plan.Reason == daemonset.SetDeleting || plan.Reason == daemonset.SelectsEverything,
		"until":          !until.IsZero(),
		"wake by a node": !until.IsZero() && (plan.Next.IsZero() || until.Before(plan.Next)),
		"preferred":      s.options.Prefer != nil && hasDelete(daemonset.Outdated),
		"whole":          s.options.Fit != nil,
		"empty":          plan.Empty(),
	} {
		if came {
			seen[situation]++
		}
	}
}
