package simulate

import (
	"cmp"
	"maps"
	"slices"

	"github.com/daemonplan/daemonplan/daemonset"
)

// result puts together what was found.
func (r *run) result(cut bool) (Result, error) {
	out := Result{
		For:      daemonset.Ref{Namespace: r.set.Namespace, Name: r.set.Name, UID: r.set.UID},
		Revision: r.revision,
		Start:    r.start.UTC(),
		Seed:     r.seed,
		Model:    r.model,
		Duration: r.last,
		Passes:   r.passes,
		Desired:  r.counted.desired,
		Settled:  r.counted.settled,
		PeakPods: r.peak,
		Worst:    r.worst,
		Zones:    r.zones,
		Writes:   r.written(),
		Proof:    r.proof,
		Curve:    r.curve,
		Final:    r.snapshot(),
	}
	for i := range r.nodes {
		out.Nodes = append(out.Nodes, r.nodes[i].out)
	}
	plan, err := daemonset.Compute(out.Final, r.options.Plan)
	if err != nil {
		return Result{}, err
	}
	out.Waits = r.waits(plan)
	out.Outcome = Stalled
	switch {
	case cut:
		out.Outcome = CutOff
	case len(out.Waits) == 0:
		out.Outcome = Complete
	}
	return out, nil
}

// waits groups the nodes that are not as they should be by the reason that the plan gives.
func (r *run) waits(plan daemonset.Plan) []Wait {
	byReason := map[daemonset.Reason][]string{}
	for i := range plan.Nodes {
		n := &r.nodes[i]
		reason := cmp.Or(plan.Nodes[i].Reason, plan.Reason)
		if n.class == settled || n.class == vacant || !n.eligible && reason == daemonset.Misscheduled {
			continue
		}
		byReason[reason] = append(byReason[reason], n.obj.Name)
	}
	var waits []Wait
	for _, reason := range slices.Sorted(maps.Keys(byReason)) {
		waits = append(waits, Wait{Reason: reason, Nodes: byReason[reason]})
	}
	return waits
}
