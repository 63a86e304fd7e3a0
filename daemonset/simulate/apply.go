package simulate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/backoff"
	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/placement"
)

// The resources and verbs that are counted.
const (
	podResource      = "pods"
	revisionResource = "controllerrevisions"
	statusResource   = "daemonsets/status"
	eventResource    = "events"

	createVerb = "create"
	updateVerb = "update"
	patchVerb  = "patch"
	deleteVerb = "delete"
)

func (r *run) count(resource, verb string) { r.writes[Write{Resource: resource, Verb: verb}]++ }

// apply carries a plan out, and reports whether it changed anything but the status.
func (r *run) apply(plan daemonset.Plan) (changed bool) {
	changed = r.applyHistory(plan)
	for _, c := range plan.Creates {
		r.create(plan, c)
		changed = true
	}
	for _, d := range plan.Deletes {
		changed = r.delete(d) || changed
	}
	r.recordFailures(plan.Failures)
	r.suspended = plan.Suspended
	for range plan.Events {
		r.count(eventResource, createVerb)
	}
	if plan.Status != nil {
		r.writeStatus(plan.Status)
	}
	return changed || plan.Reason == daemonset.RevisionCollision
}

func (r *run) writeStatus(status *appsv1.DaemonSetStatus) {
	r.count(statusResource, updateVerb)
	set := *r.set
	set.Status = *status
	r.set = &set
	if r.planner != nil {
		r.planner.SetDaemonSet(&set)
	}
}

// applyHistory carries out what comes before pods are created and deleted.
func (r *run) applyHistory(plan daemonset.Plan) (changed bool) {
	for _, c := range plan.Claims {
		changed = r.claim(c) || changed
	}
	for _, c := range plan.Revisions {
		r.writeRevision(c)
		changed = true
	}
	for _, l := range plan.Relabels {
		changed = r.relabel(l) || changed
	}
	return changed
}

// claim adopts a pod or revision, or releases it. A pod that is released is not the set's
// business any more; a revision is, because it keeps its name.
func (r *run) claim(c daemonset.Claim) bool {
	if c.Kind == daemonset.RevisionKind {
		return r.claimRevision(c)
	}
	p := r.podNamed(c.Ref.Name)
	if p == nil {
		return false
	}
	r.count(podResource, patchVerb)
	if c.Adopt {
		obj := r.edit(p)
		obj.OwnerReferences = append(slices.Clone(obj.OwnerReferences), r.owner())
		r.tell(p, Adopted, c.Reason)
		return true
	}
	r.forget(p)
	return true
}

func (r *run) owner() metav1.OwnerReference {
	ref := daemonset.Ref{Namespace: r.set.Namespace, Name: r.set.Name, UID: r.set.UID}
	return ref.ControllerReference()
}

func (r *run) claimRevision(c daemonset.Claim) bool {
	i := slices.IndexFunc(r.revisions, func(obj *appsv1.ControllerRevision) bool {
		return obj.Namespace == c.Ref.Namespace && obj.Name == c.Ref.Name
	})
	if i < 0 {
		return false
	}
	r.count(revisionResource, patchVerb)
	revision := r.revisions[i].DeepCopy()
	mine := func(o metav1.OwnerReference) bool { return o.UID == r.set.UID }
	revision.OwnerReferences = slices.DeleteFunc(revision.OwnerReferences, mine)
	if c.Adopt {
		revision.OwnerReferences = append(revision.OwnerReferences, r.owner())
	}
	r.revisions[i] = revision
	r.shareRevision(revision)
	return true
}

func (r *run) writeRevision(c daemonset.RevisionChange) {
	r.count(revisionResource, c.Op.String())
	same := func(obj *appsv1.ControllerRevision) bool {
		return obj.Namespace == c.Revision.Namespace && obj.Name == c.Revision.Name
	}
	switch c.Op {
	case daemonset.CreateRevision:
		c.Revision.CreationTimestamp = metav1.NewTime(r.clock())
		c.Revision.UID = types.UID("simulated-" + c.Revision.Name)
		r.revisions = append(r.revisions, c.Revision)
		r.shareRevision(c.Revision)
	case daemonset.UpdateRevision:
		if i := slices.IndexFunc(r.revisions, same); i >= 0 {
			r.revisions[i] = c.Revision
			r.shareRevision(c.Revision)
		}
	case daemonset.DeleteRevision:
		r.revisions = slices.DeleteFunc(r.revisions, same)
		if r.planner != nil {
			r.planner.RemoveRevision(types.NamespacedName{Namespace: c.Revision.Namespace, Name: c.Revision.Name})
		}
	}
}

func (r *run) relabel(l daemonset.Relabel) bool {
	p := r.podNamed(l.Pod.Name)
	if p == nil {
		return false
	}
	r.count(podResource, patchVerb)
	obj := r.edit(p)
	labels := maps.Clone(obj.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	labels[appsv1.ControllerRevisionHashLabelKey] = l.Hash
	obj.Labels = labels
	r.touch(p.node)
	return true
}

// create makes the pod that Plan.Pod would; thousands of them share the plan's template.
func (r *run) create(plan daemonset.Plan, c daemonset.Create) {
	r.count(podResource, createVerb)
	on := r.nodeNamed(c.Node)
	n := &r.nodes[on]
	name := r.freeName()
	n.given++
	p := &pod{node: on, nth: n.given, current: true, obj: &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name:              name,
			Namespace:         r.set.Namespace,
			UID:               types.UID("simulated-" + name),
			Labels:            plan.Template.Labels,
			OwnerReferences:   []metav1.OwnerReference{r.owner()},
			CreationTimestamp: metav1.NewTime(r.clock()),
			Finalizers:        plan.Template.Finalizers,
		},
		Spec: plan.Template.Spec,
	}}
	at, _ := r.search(name)
	r.pods = slices.Insert(r.pods, at, p)
	r.edited = append(r.edited, p)
	n.pods = append(n.pods, p)
	r.tell(p, Created, c.Reason)
	if c.Bind {
		p.obj.Spec.NodeName = c.Node
		r.plan(r.now+r.startTime(p), p, getReady)
	} else {
		p.obj.Spec.Affinity = placement.PinTo(p.obj.Spec.Affinity, c.Node)
		r.plan(r.now+r.model.Bind, p, bind)
	}
	r.touch(on)
}

// freeName is a name that no pod has or had. The snapshot may be the end of another simulation.
func (r *run) freeName() string {
	for {
		r.created++
		name := fmt.Sprintf("%s-s%05d", r.set.Name, r.created)
		if _, taken := r.search(name); !taken {
			return name
		}
	}
}

// delete begins the end of a pod. One that was never bound or has ended is gone at once;
// others go when their kubelet, if it works, has stopped them.
func (r *run) delete(d daemonset.Delete) bool {
	r.count(podResource, deleteVerb)
	p := r.podNamed(d.Pod.Name)
	if p == nil || p.terminating() {
		return false
	}
	stop := r.now
	runs := true
	if p.bound() && !p.ended() && p.node != nowhere {
		stop += r.span(r.model.Stop, howLongToStop, p)
		runs = r.nodes[p.node].runs
	}
	at := metav1.NewTime(r.start.Add(stop))
	r.edit(p).DeletionTimestamp = &at
	r.tell(p, Deleted, d.Reason)
	if runs && len(p.obj.Finalizers) == 0 {
		r.plan(stop, p, vanish)
	}
	r.touch(p.node)
	return true
}

// recordFailures advances backoffs, in a new list: the planner keeps the last one.
func (r *run) recordFailures(keys []backoff.Key) {
	if len(keys) == 0 {
		return
	}
	r.backoff = slices.Clone(r.backoff)
	for _, key := range keys {
		i, found := slices.BinarySearchFunc(r.backoff, key, func(e backoff.Entry, key backoff.Key) int {
			return e.Key.Compare(key)
		})
		if !found {
			r.backoff = slices.Insert(r.backoff, i, backoff.Entry{Key: key})
		}
		r.backoff[i] = r.options.Plan.Backoff.Next(r.backoff[i], r.clock())
	}
}

// tidy leaves out pods that are gone, once they are many.
func (r *run) tidy() {
	if r.removed > len(r.pods)/2 {
		r.pods = slices.DeleteFunc(r.pods, func(p *pod) bool { return p.gone })
		r.removed = 0
	}
}

// written lists the writes.
func (r *run) written() []Write {
	var list []Write
	for _, w := range slices.SortedFunc(maps.Keys(r.writes), compareWrites) {
		list = append(list, Write{Resource: w.Resource, Verb: w.Verb, Count: r.writes[w]})
	}
	return list
}

func compareWrites(a, b Write) int {
	return cmp.Or(strings.Compare(a.Resource, b.Resource), strings.Compare(a.Verb, b.Verb))
}
