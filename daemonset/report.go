package daemonset

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/daemonplan/daemonplan/rollout"
)

// appendReports adds how the pods were counted.
func appendReports(reports []PodReport, pods []pod) []PodReport {
	for i := range pods {
		on := &pods[i]
		reports = append(reports, PodReport{Ref: on.ref(), Current: on.current, Health: on.health, State: on.state})
	}
	return reports
}

// waiting finds the reason that a node on which nothing is done is not at rest, if any. all
// is the reason why no node is acted on, if there is one.
func (p *pass) waiting(n node, all Reason) (Reason, time.Time) {
	switch {
	case len(n.pods) == 0 && n.open():
		return all, time.Time{}
	case len(n.pods) == 0 && n.eligible():
		return cmp.Or(all, Suspended), time.Time{}
	case len(n.pods) == 0:
		return "", time.Time{}
	}
	i := slices.IndexFunc(n.pods, func(on pod) bool { return on.staying() })
	if i < 0 {
		return TerminatingPod, time.Time{}
	}
	first := &n.pods[i]
	switch {
	case all != "":
		return all, time.Time{}
	case !first.current && p.set.onDelete:
		return UpdateOnDelete, time.Time{}
	case !first.current:
		return NodeStepFirst, time.Time{}
	case !n.eligible():
		return Misscheduled, time.Time{}
	}
	return p.waitForPods(n.pods)
}

// waitForPods finds the first pod on the node that is not well yet.
func (p *pass) waitForPods(pods []pod) (Reason, time.Time) {
	for i := range pods {
		if !pods[i].staying() {
			continue
		}
		if reason, until := p.waitForHealth(&pods[i]); reason != "" {
			return reason, until
		}
	}
	return "", time.Time{}
}

func (p *pass) waitForHealth(on *pod) (Reason, time.Time) {
	switch on.health {
	case rollout.Unhealthy:
		return PodNotReady, time.Time{}
	case rollout.Ready:
		return MinReadySeconds, p.readyUntil(on.obj)
	case rollout.Available:
	}
	return "", time.Time{}
}

// oddities collects what Kubernetes passes over in silence.
func (p *pass) oddities(w *world) []Finding {
	findings := p.setOddities(w.history)
	for _, obj := range w.fleet.lost {
		findings = append(findings, podFinding(obj, PodWithoutNode, ""))
	}
	for _, number := range w.fleet.gone() {
		findings = appendStranded(findings, w.fleet.node(number))
	}
	return findings
}

// appendStranded adds the bound pods of a node that does not exist.
func appendStranded(findings []Finding, n node) []Finding {
	for _, on := range n.pods {
		if on.bound {
			findings = append(findings, podFinding(on.obj, PodOnMissingNode, n.name()))
		}
	}
	return findings
}

// setOddities are those of the set and its history.
func (p *pass) setOddities(h history) []Finding {
	var findings []Finding
	for _, err := range unjoined(p.matcher.Err()) {
		findings = append(findings, p.set.finding(UnparsableNodeAffinity, err))
	}
	if _, err := legacyGeneration(p.set.obj); err != nil {
		findings = append(findings, p.set.finding(UnparsableGeneration, err))
	}
	return append(findings, h.findings...)
}

// unjoined lists the errors that were joined into one.
func unjoined(err error) []error {
	switch joined, ok := err.(interface{ Unwrap() []error }); {
	case err == nil:
		return nil
	case ok:
		return joined.Unwrap()
	}
	return []error{err}
}

func (set daemonSet) finding(reason Reason, err error) Finding {
	return Finding{Kind: DaemonSetKind, Ref: set.ref, Reason: reason, Detail: err.Error()}
}

func podFinding(obj *corev1.Pod, reason Reason, detail string) Finding {
	return Finding{Kind: PodKind, Ref: refTo(&obj.ObjectMeta), Reason: reason, Detail: detail}
}
