package daemonset_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/placement"
	"github.com/daemonplan/daemonplan/rollout"
)

func everyNodeReported() property {
	return property{
		name: "every node reported", anyInput: true,
		why: "(g) a node without a report is one that nobody can ask about",
		saw: []string{"several nodes", "a set that is left alone"},
		holds: func(s *subject, saw func(string)) error {
			if len(s.plan.Nodes) > 1 {
				saw("several nodes")
			}
			if !s.acting() {
				saw("a set that is left alone")
			}
			want := map[string]bool{}
			for _, node := range s.Snapshot.Objects.Nodes {
				want[node.Name] = true
			}
			for _, report := range s.plan.Nodes {
				if !want[report.Name] {
					return fmt.Errorf("%s is reported twice or does not exist", report.Name)
				}
				delete(want, report.Name)
			}
			if len(want) > 0 {
				return fmt.Errorf("no report on %v", want)
			}
			if !slices.IsSortedFunc(s.plan.Nodes, func(a, b daemonset.NodeReport) int { return strings.Compare(a.Name, b.Name) }) {
				return errors.New("reports are not sorted")
			}
			return nil
		},
	}
}

func reasonsWhereDue() property {
	return property{
		name: "reasons where due",
		why:  "(g) where something happens or waits there is a reason, and where all is well there is none",
		saw:  []string{"an action", "a wait", "a node at rest"},
		holds: func(s *subject, saw func(string)) error {
			if !s.acting() {
				return leftAloneReported(s)
			}
			acted := map[string]daemonset.Reason{}
			for _, c := range s.plan.Creates {
				acted[c.Node] = c.Reason
			}
			for _, d := range slices.Backward(s.plan.Deletes) {
				if acted[d.Node] == "" || acted[d.Node] != daemonset.NoLivePod {
					acted[d.Node] = d.Reason
				}
			}
			w := newSlowWorld(s.Case, s.plan.Revision.Hash)
			for _, report := range s.plan.Nodes {
				if acted[report.Name] != "" {
					saw("an action")
					if report.Reason == "" || report.Reason == daemonset.BurstExceeded {
						return fmt.Errorf("%s: acted on, with reason %q", report.Name, report.Reason)
					}
					continue
				}
				if len(w.staying(report.Name)) > 1 {
					continue // see pairsExplained
				}
				if w.atRest(report.Name) {
					saw("a node at rest")
					if report.Reason != "" || !report.Until.IsZero() {
						return fmt.Errorf("%s is at rest but %q", report.Name, report.Reason)
					}
					continue
				}
				saw("a wait")
				if report.Reason == "" {
					return fmt.Errorf("%s waits for no reason", report.Name)
				}
			}
			return untilIsAhead(s)
		},
	}
}

func pairsExplained() property {
	return property{
		name: "pairs explained",
		why:  "(g) two pods on one node are a transition, and a transition has a reason",
		saw:  []string{"a pair"},
		holds: func(s *subject, saw func(string)) error {
			w := newSlowWorld(s.Case, s.plan.Revision.Hash)
			for _, report := range s.plan.Nodes {
				staying := w.staying(report.Name)
				if !s.acting() || len(staying) < 2 || w.isNew(staying[0]) && !w.hashed(staying[0]) {
					continue // the last is TestPairCurrentByBoth
				}
				saw("a pair")
				if report.Reason == "" {
					return fmt.Errorf("%s has several pods for no reason", report.Name)
				}
			}
			return nil
		},
	}
}

// staying lists the pods of a node that are not on their way out.
func (w *slowWorld) staying(name string) []*corev1.Pod {
	return slices.DeleteFunc(slices.Clone(w.nodes[name].pods), func(p *corev1.Pod) bool { return p.DeletionTimestamp != nil })
}

// leftAloneReported: where nothing is done for want of permission, every node that matters
// says so.
func leftAloneReported(s *subject) error {
	for _, report := range s.plan.Nodes {
		if report.Verdict.Decision == placement.Run && len(report.Pods) == 0 && report.Reason != s.plan.Reason {
			return fmt.Errorf("%s: reason %q, the plan's is %q", report.Name, report.Reason, s.plan.Reason)
		}
	}
	return nil
}

// atRest: what is there is what should be there.
func (w *slowWorld) atRest(name string) bool {
	node := w.nodes[name]
	if !node.run {
		return len(node.pods) == 0
	}
	staying := w.staying(name)
	if len(staying) != 1 {
		return false
	}
	ended := staying[0].Status.Phase == corev1.PodFailed || staying[0].Status.Phase == corev1.PodSucceeded
	return !ended && w.isNew(staying[0]) && w.available(staying[0])
}

// untilIsAhead: a reason that lapses does so after now.
func untilIsAhead(s *subject) error {
	for _, report := range s.plan.Nodes {
		if !report.Until.IsZero() && !report.Until.After(s.Snapshot.Now) {
			return fmt.Errorf("%s: %s lapsed at %v already", report.Name, report.Reason, report.Until)
		}
	}
	return nil
}

func countsAgree() property {
	return property{
		name: "counts agree",
		why:  "(h) dashboards and rollout tools believe the status",
		saw:  []string{"written", "up to date", "misscheduled", "ready, not available"},
		holds: func(s *subject, saw func(string)) error {
			if !s.acting() && s.plan.Reason != daemonset.WritesPending {
				return nil
			}
			want := newSlowWorld(s.Case, s.plan.Revision.Hash).status()
			if s.acting() {
				want.ObservedGeneration = max(want.ObservedGeneration, s.Snapshot.Objects.DaemonSet.Generation)
			}
			got := s.Snapshot.Objects.DaemonSet.Status
			if s.plan.Status != nil {
				got = *s.plan.Status
			}
			if diff := cmp.Diff(want, got); diff != "" {
				return fmt.Errorf("(-want +got):\n%s", diff)
			}
			changed := cmp.Diff(want, s.Snapshot.Objects.DaemonSet.Status) != ""
			for situation, came := range map[string]bool{
				"written":              changed,
				"up to date":           !changed,
				"misscheduled":         want.NumberMisscheduled > 0,
				"ready, not available": want.NumberReady > want.NumberAvailable,
			} {
				if came {
					saw(situation)
				}
			}
			if changed != (s.plan.Status != nil) {
				return fmt.Errorf("changed is %v, but the plan's status is %v", changed, s.plan.Status)
			}
			return reportsAgree(s)
		},
	}
}

// reportsAgree recounts the status from the reports, which must tell the same story.
func reportsAgree(s *subject) error {
	got := s.Snapshot.Objects.DaemonSet.Status
	if s.plan.Status != nil {
		got = *s.plan.Status
	}
	var desired, ready, available int32
	for _, report := range s.plan.Nodes {
		if report.Verdict.Decision != placement.Run {
			continue
		}
		desired++
		if len(report.Pods) == 0 {
			continue
		}
		if report.Pods[0].Health >= rollout.Ready {
			ready++
		}
		if report.Pods[0].Health == rollout.Available {
			available++
		}
	}
	if desired != got.DesiredNumberScheduled || ready != got.NumberReady || available != got.NumberAvailable {
		return fmt.Errorf("reports count %d desired, %d ready, %d available; the status %+v", desired, ready, available, got)
	}
	return nil
}

func wakesInTime() property {
	return property{
		name: "wakes in time",
		why:  "(i) nobody else wakes a set when time alone unblocks it",
		saw:  []string{"backoff", "minReadySeconds", "pending", "never"},
		holds: func(s *subject, saw func(string)) error {
			if !s.plan.Next.IsZero() && !s.plan.Next.After(s.Snapshot.Now) {
				return fmt.Errorf("next is %v, now %v", s.plan.Next, s.Snapshot.Now)
			}
			if want := s.wake(saw); !want.Equal(s.plan.Next) {
				return fmt.Errorf("next is %v, want %v", s.plan.Next, want)
			}
			return nil
		},
	}
}

// wake is when the next pass is due by the rules; zero for never.
func (s *subject) wake(saw func(string)) time.Time {
	var at []time.Time
	now := s.Snapshot.Now
	w := newSlowWorld(s.Case, s.plan.Revision.Hash)
	switch s.plan.Reason {
	case daemonset.WritesPending:
		if deadline := s.Snapshot.Pending.Deadline; !deadline.IsZero() {
			saw("pending")
			at = append(at, deadline)
		}
	case "":
		w.step()
		if len(w.wakes) > 0 {
			saw("backoff")
		}
		at = append(at, w.wakes...)
	default:
		return time.Time{}
	}
	minReady := s.Snapshot.Objects.DaemonSet.Spec.MinReadySeconds
	if status := w.status(); minReady > 0 && status.NumberReady != status.NumberAvailable {
		saw("minReadySeconds")
		at = append(at, now.Add(time.Duration(minReady)*time.Second))
	}
	if len(at) == 0 {
		saw("never")
		return time.Time{}
	}
	return slices.MinFunc(at, time.Time.Compare)
}
