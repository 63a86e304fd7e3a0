package daemonset

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/daemonplan/daemonplan/placement"
	"github.com/daemonplan/daemonplan/rollout"
)

// report writes the explanation of every node into the plan.
func (p *pass) report(plan *Plan, f *fleet) {
	plan.Nodes = make([]NodeReport, len(f.nodes))
	count := 0
	for i := range f.nodes {
		count += len(f.nodes[i].pods)
	}
	pods := make([]PodReport, 0, count)
	for i := range f.nodes {
		n := &f.nodes[i]
		start := len(pods)
		for _, on := range n.pods {
			pods = append(pods, PodReport{Ref: refTo(on.obj), Current: on.current, Health: on.health, State: on.state})
		}
		r := NodeReport{Name: n.name, Verdict: n.verdict, Reason: n.reason, Until: n.until}
		if len(pods) > start {
			r.Pods = pods[start:len(pods):len(pods)]
		}
		plan.Nodes[i] = r
	}
}

// explainRest says of each node on which nothing is done what it waits for, if anything.
func (p *pass) explainRest(plan *Plan, f *fleet) {
	for i := range f.nodes {
		n := &f.nodes[i]
		if n.reason == "" {
			n.explain(p.wait(plan, n))
		}
	}
}

// wait finds the reason that a node in which no action was taken is not at rest.
func (p *pass) wait(plan *Plan, n *node) (Reason, time.Time) {
	switch {
	case len(n.pods) == 0 && n.eligible():
		return plan.Reason, time.Time{}
	case len(n.pods) == 0:
		return "", time.Time{}
	case !n.backoffEnds.IsZero():
		return FailedPodBackoff, n.backoffEnds
	case n.hold != "":
		return n.hold, time.Time{}
	}
	first := firstNotTerminating(n.pods)
	switch {
	case first == nil:
		return TerminatingPod, time.Time{}
	case plan.Reason != "":
		return plan.Reason, time.Time{}
	case first.state != Live:
		return FinishedPod, time.Time{}
	case !first.current && p.set.onDelete:
		return UpdateOnDelete, time.Time{}
	case !first.current:
		return NodeStepFirst, time.Time{}
	case n.verdict.Decision != placement.Run:
		return Misscheduled, time.Time{}
	}
	return p.waitForHealth(first)
}

func (p *pass) waitForHealth(on *pod) (Reason, time.Time) {
	switch on.health {
	case rollout.Unhealthy:
		return PodNotReady, time.Time{}
	case rollout.Ready:
		until, _ := p.availableAt(on.obj)
		return MinReadySeconds, until
	case rollout.Available:
	}
	return "", time.Time{}
}

func firstNotTerminating(pods []pod) *pod {
	for i := range pods {
		if pods[i].state != Terminating {
			return &pods[i]
		}
	}
	return nil
}

// oddities collects what Kubernetes passes over in silence.
func (p *pass) oddities(w world) []Finding {
	var findings []Finding
	if err := p.matcher.Err(); err != nil {
		findings = append(findings, p.set.finding(UnparsableNodeAffinity, err))
	}
	if _, err := legacyGeneration(p.set.obj); err != nil {
		findings = append(findings, p.set.finding(UnparsableGeneration, err))
	}
	findings = append(findings, w.history.findings...)
	for _, obj := range w.fleet.lost {
		findings = append(findings, podFinding(obj, PodWithoutNode, ""))
	}
	for i := range w.fleet.missing {
		for _, on := range w.fleet.missing[i].pods {
			if on.bound() {
				findings = append(findings, podFinding(on.obj, PodOnMissingNode, w.fleet.missing[i].name))
			}
		}
	}
	return findings
}

func (set daemonSet) finding(reason Reason, err error) Finding {
	return Finding{Kind: DaemonSetKind, Ref: set.ref, Reason: reason, Detail: err.Error()}
}

func podFinding(obj *corev1.Pod, reason Reason, detail string) Finding {
	return Finding{Kind: PodKind, Ref: refTo(obj), Reason: reason, Detail: detail}
}
