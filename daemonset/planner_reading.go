package daemonset

import (
	"maps"
	"reflect"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/daemonplan/daemonplan/placement"
	"github.com/daemonplan/daemonplan/rollout"
)

// mode is what kind of plans a planner makes of its set.
type mode uint8

const (
	unread       mode = iota // it is not known yet
	refused                  // none
	standingBack             // plans that leave the nodes alone
	whole                    // plans that Compute makes of everything
	tracking                 // plans made of what has changed
)

// reading is what follows from the set, its options and its history.
type reading struct {
	mode         mode
	refusal      error
	pass         pass
	history      history
	claimed      revisions
	rewrites     bool // the history step writes something
	template     *corev1.PodTemplateSpec
	oddities     []Finding
	historyStale bool // a revision has changed since
	scratch      Scratch
}

// read finds out what kind of plans are made, and files the pods if they are tracked.
func (p *Planner) read() {
	p.forgetReasons()
	p.posts.empty()
	p.ledger = ledger{}
	p.reading = reading{historyStale: true, scratch: p.scratch}
	if p.mode, p.refusal = p.readSet(); p.mode != tracking {
		return
	}
	p.budget = p.pass.set.budgetFor(1) // as it most likely is
	for i := range p.pods.all {
		if k := &p.pods.all[i]; k.obj != nil {
			p.file(k)
		}
	}
}

func (p *Planner) readSet() (mode, error) {
	set, err := readIdentity(p.set)
	if err != nil {
		return refused, err
	}
	set.profile = p.options.Profile
	p.pass = pass{set: set, options: p.options}
	p.pass.matcher = placement.NewMatcher(&set.obj.Spec.Template.Spec, p.options.Placement)
	if set.standsBack() != "" {
		return standingBack, nil
	}
	if p.pass.set, err = set.readSpec(); err != nil {
		return refused, err
	}
	surges := p.pass.set.surging && p.options.Surge != SurgeAnyway
	if p.options.Fit != nil || surges || p.options.Profile == rollout.Kubernetes112 {
		return whole, nil
	}
	return tracking, nil
}

// readHistory reads the revisions again, and has everything looked at if another one is
// current: that is what pods are told apart by.
func (p *Planner) readHistory() {
	p.historyStale = false
	before := p.pass.revision.Hash
	var err error
	if p.claimed, err = p.pass.set.claimRevisions(p.revisions); err == nil {
		p.history, err = p.pass.set.readHistory(p.claimed)
	}
	if err != nil {
		p.mode, p.refusal = refused, err
		return
	}
	p.pass.revision = p.history.current
	p.rewrites = len(p.pass.set.changes(p.history)) > 0
	p.template = p.pass.podTemplate()
	p.oddities = p.pass.setOddities(p.history)
	if p.pass.revision.Hash != before {
		p.posts.touchAll()
	}
}

// plansAlike reports whether two states of a set differ in nothing that is read but their
// status and generation.
func plansAlike(a, b *appsv1.DaemonSet) bool {
	return a != nil && b != nil && a.Name == b.Name && a.Namespace == b.Namespace && a.UID == b.UID &&
		a.DeletionTimestamp.Equal(b.DeletionTimestamp) && maps.Equal(a.Annotations, b.Annotations) &&
		reflect.DeepEqual(&a.Spec, &b.Spec)
}

// updateStatus takes over a set of which nothing but the status and the generation changed.
func (p *Planner) updateStatus(old, set *appsv1.DaemonSet) {
	p.pass.set.obj = set
	if old.Status.ObservedGeneration != set.Status.ObservedGeneration { // backoff goes by it
		for number := range p.posts.order.Marked(failing) {
			p.posts.touch(number)
		}
	}
	if !reflect.DeepEqual(old.Status.CollisionCount, set.Status.CollisionCount) {
		p.historyStale = true
	}
}
