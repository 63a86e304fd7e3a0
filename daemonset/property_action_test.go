package daemonset_test

import (
	"errors"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/placement"
)

func deletesAreOurs() property {
	return property{
		name: "deletes are ours",
		why:  "(e) a pod of somebody else, or a successor by the same name, is never deleted",
		saw:  []string{"a delete", "a delete beside strangers", "an adopted pod"},
		holds: func(s *subject, saw func(string)) error {
			w := newSlowWorld(s.Case, s.plan.Revision.Hash)
			ours := map[types.UID]*corev1.Pod{}
			count := 0
			for _, node := range w.nodes {
				for _, pod := range node.pods {
					ours[pod.UID] = pod
					count++
				}
			}
			seen := map[types.UID]bool{}
			for _, d := range s.plan.Deletes {
				saw("a delete")
				if count < len(s.Snapshot.Objects.Pods) {
					saw("a delete beside strangers")
				}
				if slices.Contains(w.adopted, d.Pod.Name) {
					saw("an adopted pod")
				}
				pod := ours[d.Pod.UID]
				switch {
				case pod == nil || pod.Name != d.Pod.Name || pod.Namespace != d.Pod.Namespace:
					return fmt.Errorf("%+v is no pod of the set", d.Pod)
				case seen[d.Pod.UID]:
					return fmt.Errorf("%s is deleted twice", d.Pod.Name)
				case slowNodeOf(pod) != d.Node:
					return fmt.Errorf("%s is not on %s", d.Pod.Name, d.Node)
				case pod.DeletionTimestamp != nil && d.Reason != daemonset.NodeMissing:
					return fmt.Errorf("%s is on its way out already", d.Pod.Name)
				case d.Reason == "":
					return fmt.Errorf("%s is deleted for no reason", d.Pod.Name)
				}
				seen[d.Pod.UID] = true
			}
			return nil
		},
	}
}

func createsAreWanted() property {
	return property{
		name: "creates are wanted",
		why:  "(e) a pod where none may run, or a second one where one suffices, wastes a node",
		saw:  []string{"a create", "a create beside an old pod", "a create beside a terminating pod"},
		holds: func(s *subject, saw func(string)) error {
			w := newSlowWorld(s.Case, s.plan.Revision.Hash)
			_, surge := w.limits(1)
			seen := map[string]bool{}
			for _, c := range s.plan.Creates {
				saw("a create")
				node := w.nodes[c.Node]
				report, ok := s.plan.Node(c.Node)
				if !ok || node == nil || !node.run || report.Verdict.Decision != placement.Run {
					return fmt.Errorf("%s should not run a pod", c.Node)
				}
				if seen[c.Node] || c.Reason == "" {
					return fmt.Errorf("%s: created twice or for no reason", c.Node)
				}
				seen[c.Node] = true
				fresh, old := w.versions(node)
				switch {
				case len(node.pods) > 0 && surge == 0:
					return fmt.Errorf("%s has pods, and there is no surge", c.Node)
				case c.Reason == daemonset.SurgeStarted && len(fresh)+len(old) > 1:
					return fmt.Errorf("%s would have three pods", c.Node)
				case len(old) > 0:
					saw("a create beside an old pod")
				case len(node.pods) > 0:
					saw("a create beside a terminating pod")
				}
			}
			return nil
		},
	}
}

// withoutAvailable counts the nodes that should run a pod and have no available one that
// stays.
func (w *slowWorld) withoutAvailable() int {
	count := 0
	for _, node := range w.nodes {
		served := slices.ContainsFunc(node.pods, func(p *corev1.Pod) bool { return p.DeletionTimestamp == nil && w.available(p) })
		if node.run && !served {
			count++
		}
	}
	return count
}

func withinMaxUnavailable() property {
	return property{
		name: "within maxUnavailable",
		why:  "(c) what an update takes away by choice, with what is down anyway, stays within the budget",
		saw:  []string{"a choice", "a choice that uses the budget up", "no room left"},
		holds: func(s *subject, saw func(string)) error {
			w := newSlowWorld(s.Case, s.plan.Revision.Hash)
			budget, surge := w.limits(w.desired())
			if surge > 0 {
				return nil
			}
			chosen := 0
			for _, d := range s.plan.Deletes {
				if d.Reason == daemonset.Outdated {
					chosen++
				}
			}
			down := w.withoutAvailable()
			switch {
			case chosen == 0:
				if slices.ContainsFunc(s.plan.Nodes, func(n daemonset.NodeReport) bool { return n.Reason == daemonset.BudgetExhausted }) {
					saw("no room left")
				}
				return nil
			case chosen+down == budget:
				saw("a choice that uses the budget up")
			case chosen+down > budget:
				return fmt.Errorf("%d chosen with %d down, the budget is %d", chosen, down, budget)
			}
			saw("a choice")
			return nil
		},
	}
}

func withinMaxSurge() property {
	return property{
		name: "within maxSurge",
		why:  "(d) no more than maxSurge nodes carry two pods by choice",
		saw:  []string{"a choice", "a choice that uses the budget up", "no room left"},
		holds: func(s *subject, saw func(string)) error {
			w := newSlowWorld(s.Case, s.plan.Revision.Hash)
			_, budget := w.limits(w.desired())
			if budget == 0 {
				return nil
			}
			surging, chosen := 0, 0
			for _, node := range w.nodes {
				fresh, old := w.versions(node)
				if len(fresh) == 1 && len(old) == 1 && !w.available(fresh[0]) {
					surging++
				}
			}
			for _, c := range s.plan.Creates {
				if c.Reason == daemonset.SurgeStarted {
					chosen++
				}
			}
			switch {
			case chosen == 0:
				if slices.ContainsFunc(s.plan.Nodes, func(n daemonset.NodeReport) bool { return n.Reason == daemonset.BudgetExhausted }) {
					saw("no room left")
				}
				return nil
			case chosen+surging == budget:
				saw("a choice that uses the budget up")
			case chosen+surging > budget:
				return fmt.Errorf("%d chosen with %d under way, the budget is %d", chosen, surging, budget)
			}
			saw("a choice")
			return nil
		},
	}
}

func moreForMore() property {
	return property{
		name: "more for more",
		why:  "(j) whoever is taken within a budget is taken within a larger one",
		saw:  []string{"more deletes", "more creates"},
		holds: func(s *subject, saw func(string)) error {
			if s.Snapshot.Objects.DaemonSet.Spec.UpdateStrategy.Type == appsv1.OnDeleteDaemonSetStrategyType || !s.acting() {
				return nil
			}
			for _, surge := range []bool{false, true} {
				var last daemonset.Plan
				for budget := int32(1); budget < 5; budget++ {
					plan, err := planWithin(s, budget, surge)
					if err != nil {
						return err
					}
					if err := includes(plan, last); err != nil {
						return fmt.Errorf("budget %d: %w", budget, err)
					}
					if budget > 1 && len(plan.Deletes) > len(last.Deletes) {
						saw("more deletes")
					}
					if budget > 1 && len(plan.Creates) > len(last.Creates) {
						saw("more creates")
					}
					last = plan
				}
			}
			return nil
		},
	}
}

// planWithin plans with the budget as maxSurge or as maxUnavailable.
func planWithin(s *subject, budget int32, surge bool) (daemonset.Plan, error) {
	unavailable, extra := intstr.FromInt32(budget), intstr.FromInt32(0)
	if surge {
		unavailable, extra = extra, unavailable
	}
	c := s.Snapshot
	c.Objects.DaemonSet = c.Objects.DaemonSet.DeepCopy()
	c.Objects.DaemonSet.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateDaemonSet{MaxUnavailable: &unavailable, MaxSurge: &extra}
	options := s.Options
	options.Burst = 0
	return daemonset.Compute(c, options)
}

func includes(plan, smaller daemonset.Plan) error {
	for _, d := range smaller.Deletes {
		if !slices.Contains(plan.Deletes, d) {
			return fmt.Errorf("%s was deleted within a smaller budget", d.Pod.Name)
		}
	}
	for _, c := range smaller.Creates {
		if !slices.Contains(plan.Creates, c) {
			return fmt.Errorf("%s got a pod within a smaller budget", c.Node)
		}
	}
	return nil
}

func pendingActsNot() property {
	return property{
		name: "pending acts not",
		why:  "(k) what was not seen yet would be done twice",
		saw:  []string{"something that would be done", "a status that would be observed"},
		holds: func(s *subject, saw func(string)) error {
			if s.plan.Reason == daemonset.SetDeleting || s.plan.Reason == daemonset.SelectsEverything || s.plan.Reason == daemonset.RevisionCollision {
				return nil
			}
			if len(s.plan.Creates)+len(s.plan.Deletes) > 0 {
				saw("something that would be done")
			}
			generation := s.Snapshot.Objects.DaemonSet.Status.ObservedGeneration
			if s.acting() {
				if got := s.observed(s.plan); got != max(generation, s.Snapshot.Objects.DaemonSet.Generation) {
					return fmt.Errorf("a full pass leaves observedGeneration at %d", got)
				}
			}
			c := s.Snapshot
			c.Pending.Creates, c.Pending.Deletes = 0, []types.UID{"uid-unseen"}
			c.Pending.Deadline = c.Now.Add(1)
			plan, err := daemonset.Compute(c, s.Options)
			if err != nil {
				return err
			}
			if plan.Status != nil && s.Snapshot.Objects.DaemonSet.Generation > generation {
				saw("a status that would be observed")
			}
			switch {
			case len(plan.Creates)+len(plan.Deletes)+len(plan.Failures)+len(plan.Events) > 0 || plan.Deferred != daemonset.Deferred{}:
				return errors.New("it acts")
			case s.observed(plan) != generation:
				return errors.New("observedGeneration is raised")
			case plan.Reason != daemonset.WritesPending || plan.Next != c.Pending.Deadline:
				return fmt.Errorf("reason %q, next %v", plan.Reason, plan.Next)
			case slices.ContainsFunc(plan.Revisions, func(r daemonset.RevisionChange) bool { return slices.Contains(r.Reasons, daemonset.HistoryLimit) }):
				return errors.New("history is cleaned up")
			}
			c.Pending.Deadline = c.Now
			return settledAgain(s, c)
		},
	}
}

// observed is the observedGeneration after a plan.
func (s *subject) observed(plan daemonset.Plan) int64 {
	if plan.Status == nil {
		return s.Snapshot.Objects.DaemonSet.Status.ObservedGeneration
	}
	return plan.Status.ObservedGeneration
}

// settledAgain: at the deadline itself waiting is over.
func settledAgain(s *subject, c daemonset.Snapshot) error {
	if !s.acting() {
		return nil
	}
	if err := samePlan(s, c); err != nil {
		return fmt.Errorf("at the deadline: %w", err)
	}
	return nil
}
