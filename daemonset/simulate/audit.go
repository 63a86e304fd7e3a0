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

// touched is what the nodes that a plan touches come to.
type touched struct {
	taken, joined, crowded, wrong []string // nodes, by what is done to them; see the rules
	excess                        int      // nodes that lose one pod too many
	paired                        int      // surges that come to an end
}

// audit looks at the nodes that the plan touches; what the others amount to is kept count of
// as their pods change.
func (r *run) audit(plan daemonset.Plan) []Violation {
	s, budget := r.stepOf(plan), r.limits()
	t := touched{wrong: s.stray}
	for _, i := range s.touched {
		n := &r.nodes[i]
		v := n.look(s, r.clock(), r.minReady)
		t.count(n, v)
		if s.creates[i] > 0 {
			t.place(n, v, s.creates[i] > 1 || v.live > 0 && budget.MaxSurge == 0)
		}
	}
	down, unavailable := r.counted.desired-r.counted.serving+t.excess, budget.MaxUnavailable
	switch {
	case budget.MaxSurge == 0:
	case r.options.Plan.Surge == daemonset.SurgeOrReplace:
		unavailable = budget.MaxSurge
	default:
		down, unavailable = 0, 0
	}
	return slices.Concat(
		r.violation(MaxUnavailable, unavailable, down+len(t.taken), t.taken),
		r.violation(MaxSurge, budget.MaxSurge, r.counted.doubled-t.paired+len(t.joined), t.joined),
		r.violation(OnePod, 0, len(t.crowded), t.crowded),
		r.violation(RightNode, 0, len(t.wrong), t.wrong),
	)
}

// count sorts a node by what the step's deletes do to it.
func (t *touched) count(n *node, v view) {
	switch lost := n.eligible && v.before && !v.after; {
	case lost && v.excess:
		t.excess++
	case lost:
		t.taken = append(t.taken, n.obj.Name)
	}
	if n.doubled && !v.doubled {
		t.paired++
	}
}

// place sorts a node on which a pod is created. crowded says that it is one too many whatever
// revisions the pods there are of.
func (t *touched) place(n *node, v view, crowded bool) {
	switch {
	case !n.eligible:
		t.wrong = append(t.wrong, n.obj.Name)
	case crowded || v.liveCurrent > 0:
		t.crowded = append(t.crowded, n.obj.Name)
	case v.before:
		t.joined = append(t.joined, n.obj.Name)
	}
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

func (n *node) look(s step, now time.Time, minReady time.Duration) view {
	v, rest := view{}, tally{}
	for _, p := range n.pods {
		if !p.live() {
			continue
		}
		available := p.available(now, minReady)
		v.live++
		v.before = v.before || available
		if p.current {
			v.liveCurrent++
		}
		if !s.deletes[p] {
			rest.add(p, available)
		}
	}
	v.after = rest.updated || rest.outdated
	v.doubled = rest.starting && (rest.outdated || rest.unready)
	v.excess = v.liveCurrent > 1 || v.live-v.liveCurrent > 1 || v.live > 1 && !v.after
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
