package simulate

import (
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/daemonplan/daemonplan/daemonset"
)

// Rule is a promise that a step has to keep.
type Rule string

// The rules.
const (
	// MaxUnavailable: a step that takes available pods from nodes that should run one leaves
	// at most maxUnavailable such nodes without an available pod, and with surge or OnDelete
	// it takes none; with daemonset.SurgeOrReplace the limit is maxSurge. Two pods of which
	// one is too many may lose either.
	MaxUnavailable Rule = "MaxUnavailable"
	// MaxSurge: a step that puts pods beside available ones leaves at most maxSurge nodes
	// with an outdated pod and a current one that is not available yet.
	MaxSurge Rule = "MaxSurge"
	// OnePod: no pod is created on a node that has a live one, or with surge a live one of
	// the current revision.
	OnePod Rule = "OnePod"
	// RightNode: no pod is created on a node that does not exist or should not run one.
	RightNode Rule = "RightNode"
)

// Violation is a rule that a step broke.
type Violation struct {
	At    time.Duration `json:"at"`
	Pass  int           `json:"pass"` // from 1
	Rule  Rule          `json:"rule"`
	Limit int           `json:"limit"`
	Got   int           `json:"got"`
	Nodes []string      `json:"nodes"` // that the step touched in breaking it, by name
}

// Audit checks a plan for a snapshot, whoever made it, against the rules; nil is what a plan
// should get. It counts pods and nodes itself: of the plan it takes the creates, the deletes
// and which revision is current, and with o.Fit which nodes should run a pod.
//
// Failures are no violations: a node that lost its pod by itself counts against
// maxUnavailable, but the rules are only about what a step takes on top of it.
//
// The snapshot has to be one that [daemonset.Compute] accepts.
func Audit(s daemonset.Snapshot, plan daemonset.Plan, o daemonset.Options) []Violation {
	if s.Objects.DaemonSet == nil {
		return nil
	}
	r := newRun(s, Options{Plan: o}, plan)
	r.passes = 1
	return r.audit(plan)
}

// step is a plan's creates and deletes by node.
type step struct {
	creates map[int]int
	deletes map[*pod]bool
	touched []int    // nodes, ascending
	stray   []string // names of nodes that do not exist
}

func (r *run) stepOf(plan daemonset.Plan) step {
	s := step{creates: map[int]int{}, deletes: map[*pod]bool{}}
	for _, c := range plan.Creates {
		if i := r.nodeNamed(c.Node); i == nowhere {
			s.stray = append(s.stray, c.Node)
		} else {
			s.creates[i]++
			s.touched = append(s.touched, i)
		}
	}
	for _, d := range plan.Deletes {
		if p := r.podNamed(d.Pod.Name); p != nil {
			s.deletes[p] = true
			if p.node != nowhere {
				s.touched = append(s.touched, p.node)
			}
		}
	}
	slices.Sort(s.touched)
	s.touched = slices.Compact(s.touched)
	return s
}

// audit looks at the nodes that the plan touches; what the others amount to is kept count of
// as their pods change.
func (r *run) audit(plan daemonset.Plan) []Violation {
	s, budget := r.stepOf(plan), r.limits()
	down, doubled := r.counted.desired-r.counted.serving, r.counted.doubled
	wrong := s.stray
	var taken, joined, crowded []string
	for _, i := range s.touched {
		n := &r.nodes[i]
		v := n.look(s, i, r.clock(), r.minReady)
		switch lost := n.eligible && v.before && !v.after; {
		case lost && v.excess:
			down++
		case lost:
			taken = append(taken, n.obj.Name)
		}
		if n.doubled && !v.doubled {
			doubled--
		}
		switch created := s.creates[i]; {
		case created == 0:
		case !n.eligible:
			wrong = append(wrong, n.obj.Name)
		case created > 1 || v.live > 0 && budget.MaxSurge == 0 || v.liveCurrent > 0:
			crowded = append(crowded, n.obj.Name)
		case v.before:
			joined = append(joined, n.obj.Name)
		}
	}
	unavailable := budget.MaxUnavailable
	switch {
	case budget.MaxSurge == 0:
	case r.options.Plan.Surge == daemonset.SurgeOrReplace:
		unavailable = budget.MaxSurge
	default:
		down, unavailable = 0, 0
	}
	return slices.Concat(
		r.violation(MaxUnavailable, unavailable, down+len(taken), taken),
		r.violation(MaxSurge, budget.MaxSurge, doubled+len(joined), joined),
		r.violation(OnePod, 0, len(crowded), crowded),
		r.violation(RightNode, 0, len(wrong), wrong),
	)
}

// violation is one if nodes were touched and more than the limit came of it.
func (r *run) violation(rule Rule, limit, got int, nodes []string) []Violation {
	if len(nodes) == 0 || got <= limit {
		return nil
	}
	slices.Sort(nodes)
	return []Violation{{At: r.now, Pass: r.passes, Rule: rule, Limit: limit, Got: got, Nodes: nodes}}
}

// view is what a step does to a node.
type view struct {
	before, after     bool // an available live pod
	live, liveCurrent int  // before
	excess            bool // more live pods than may be told apart
	doubled           bool // after: as known.doubled
}

func (n *node) look(s step, i int, now time.Time, minReady time.Duration) view {
	v := view{}
	liveOutdated, outdated, starting := 0, false, false
	for _, p := range n.pods {
		if !p.live() {
			continue
		}
		stays, available := !s.deletes[p], p.available(now, minReady)
		v.before = v.before || available
		v.after = v.after || available && stays
		if p.current {
			v.liveCurrent++
			starting = starting || stays && !available
		} else {
			liveOutdated++
			outdated = outdated || stays
		}
	}
	v.live = v.liveCurrent + liveOutdated
	v.doubled = outdated && starting && s.creates[i] == 0
	v.excess = v.liveCurrent > 1 || liveOutdated > 1 || v.live > 1 && !v.after
	return v
}

// limits is the update strategy as numbers. Percentages round up, and if both limits come to
// zero maxUnavailable is one, as in Kubernetes v1.37.2.
func (r *run) limits() Budget {
	strategy := r.set.Spec.UpdateStrategy
	if strategy.Type == appsv1.OnDeleteDaemonSetStrategyType {
		return Budget{}
	}
	unavailable, surge := intstr.FromInt32(1), intstr.FromInt32(0)
	if rolling := strategy.RollingUpdate; rolling != nil {
		if rolling.MaxUnavailable != nil {
			unavailable = *rolling.MaxUnavailable
		}
		if rolling.MaxSurge != nil {
			surge = *rolling.MaxSurge
		}
	}
	b := Budget{MaxUnavailable: r.scale(unavailable), MaxSurge: r.scale(surge)}
	if b == (Budget{}) && r.counted.desired > 0 {
		b.MaxUnavailable = 1
	}
	return b
}

// scale resolves a number or percentage; one that makes no sense, for which there would be
// no plan, is 0.
func (r *run) scale(limit intstr.IntOrString) int {
	value, err := intstr.GetScaledValueFromIntOrPercent(&limit, r.counted.desired, true)
	if err != nil {
		return 0
	}
	return max(value, 0)
}
