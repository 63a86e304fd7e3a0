package daemonset_test

import (
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/daemonplan/daemonplan/daemonset"
)

func slowTwinAgrees() property {
	return property{
		name: "slow twin agrees",
		why:  "the rules, written a second time without the planner's cleverness, give the same steps",
		saw: []string{
			"creates due", "creates chosen", "deletes due", "deletes chosen", "chosen and due together",
			"a burst cut", "a cut between due and chosen", "failed pods", "failed pods cut", "ended pods", "adopted", "released",
		},
		holds: func(s *subject, saw func(string)) error {
			if !s.acting() {
				return nil
			}
			w := newSlowWorld(s.Case, s.plan.Revision.Hash)
			w.step()
			w.tell(s, saw)
			return errors.Join(w.sameClaims(s.plan), w.sameCreates(s), w.sameDeletes(s), w.sameEvents(s.plan))
		},
	}
}

func (w *slowWorld) tell(s *subject, saw func(string)) {
	cut := s.plan.Deferred != daemonset.Deferred{}
	for situation, came := range map[string]bool{
		"creates due":             len(w.createsDue) > 0,
		"creates chosen":          len(w.createsChosen) > 0,
		"deletes due":             len(w.deletesDue) > 0,
		"deletes chosen":          len(w.deletesChosen) > 0,
		"chosen and due together": len(w.deletesDue) > 0 && len(w.deletesChosen) > 0,
		"a burst cut":             cut,
		"a cut between due and chosen": s.plan.Deferred.Deletes > 0 && len(w.deletesDue) > 0 &&
			len(w.deletesChosen) > 0 && len(s.plan.Deletes) >= len(w.deletesDue),
		"failed pods":     w.failed > 0,
		"failed pods cut": w.failed > len(s.plan.Failures),
		"ended pods":      w.succeeded > 0,
		"adopted":         len(w.adopted) > 0,
		"released":        len(w.released) > 0,
	} {
		if came {
			saw(situation)
		}
	}
}

func (w *slowWorld) sameClaims(plan daemonset.Plan) error {
	var adopted, released []string
	for _, c := range plan.Claims {
		switch {
		case c.Kind != daemonset.PodKind:
		case c.Adopt:
			adopted = append(adopted, c.Ref.Name)
		default:
			released = append(released, c.Ref.Name)
		}
	}
	slices.Sort(w.adopted)
	slices.Sort(w.released)
	if !slices.Equal(adopted, w.adopted) || !slices.Equal(released, w.released) {
		return fmt.Errorf("adopts %v and releases %v, want %v and %v", adopted, released, w.adopted, w.released)
	}
	return nil
}

func (w *slowWorld) sameCreates(s *subject) error {
	names := make([]string, 0, len(s.plan.Creates))
	for _, c := range s.plan.Creates {
		names = append(names, c.Node)
	}
	return agree("creates", taken{names: names, deferred: s.plan.Deferred.Creates, burst: burst(s)}, w.createsDue, w.createsChosen)
}

func (w *slowWorld) sameDeletes(s *subject) error {
	names := make([]string, 0, len(s.plan.Deletes))
	for _, d := range s.plan.Deletes {
		names = append(names, d.Pod.Name)
	}
	return agree("deletes", taken{names: names, deferred: s.plan.Deferred.Deletes, burst: burst(s)}, w.deletesDue, w.deletesChosen)
}

func burst(s *subject) int {
	if s.Options.Burst <= 0 {
		return daemonset.DefaultBurst
	}
	return s.Options.Burst
}

// taken is what a plan takes, and what it had to leave.
type taken struct {
	names    []string
	deferred int
	burst    int
}

// agree compares what is taken with what is due and what is chosen: all of it, or as much
// as a burst allows, what is due first.
func agree(what string, got taken, due map[string]bool, chosen []string) error {
	total := len(due) + len(chosen)
	if len(got.names) != min(total, got.burst) || got.deferred != total-len(got.names) {
		return fmt.Errorf("%s %v and defers %d, want %v and %v, at most %d", what, got.names, got.deferred, due, chosen, got.burst)
	}
	left := len(due)
	for _, name := range got.names {
		switch {
		case due[name]:
			left--
		case !slices.Contains(chosen, name):
			return fmt.Errorf("%s %s, want of %v and %v", what, name, due, chosen)
		}
	}
	if left != max(0, len(due)-got.burst) {
		return fmt.Errorf("%s %v, but %v come first", what, got.names, due)
	}
	return nil
}

func (w *slowWorld) sameEvents(plan daemonset.Plan) error {
	failed, succeeded := 0, 0
	for _, e := range plan.Events {
		switch e.Reason {
		case daemonset.EventFailedDaemonPod:
			failed++
			if e.Type != corev1.EventTypeWarning {
				return fmt.Errorf("event %+v", e)
			}
		case daemonset.EventSucceededDaemonPod:
			succeeded++
			if e.Type != corev1.EventTypeNormal {
				return fmt.Errorf("event %+v", e)
			}
		}
	}
	if failed != w.failed || succeeded != w.succeeded {
		return fmt.Errorf("%d failed and %d ended by the events, want %d and %d", failed, succeeded, w.failed, w.succeeded)
	}
	return sameFailures(plan)
}

// sameFailures: a backoff entry is advanced for each failed pod that is deleted, and for none
// that a burst left for later.
func sameFailures(plan daemonset.Plan) error {
	var deleted, recorded []string
	for _, d := range plan.Deletes {
		if d.Reason == daemonset.FailedPod {
			deleted = append(deleted, d.Node)
		}
	}
	for _, key := range plan.Failures {
		recorded = append(recorded, key.Node)
	}
	if !slices.Equal(deleted, recorded) {
		return fmt.Errorf("failures are recorded on %v, failed pods deleted on %v", recorded, deleted)
	}
	return nil
}
