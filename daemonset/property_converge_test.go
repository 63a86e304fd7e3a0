package daemonset_test

import (
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/backoff"
	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/expectations"
	"github.com/daemonplan/daemonplan/internal/gen"
)

// ideal is a cluster in which every write succeeds at once, every pod becomes ready, and
// every pod that is deleted is gone.
type ideal struct {
	daemonset.Snapshot
	options daemonset.Options
	made    int
}

func converges() property {
	return property{
		name: "converges",
		why:  "(f) plans that are applied come to an end, with one current pod on every node that should run one",
		saw:  []string{"a rollout", "a surge", "OnDelete", "a wait"},
		holds: func(s *subject, saw func(string)) error {
			if s.plan.Reason == daemonset.SetDeleting || s.plan.Reason == daemonset.SelectsEverything {
				return nil
			}
			w := &ideal{Snapshot: copySnapshot(s.Snapshot), options: s.Options}
			w.Pending = expectations.Pending{}
			// A pass may act, then wait for a node to become available, for each of them; a
			// burst of one makes every pod a pass of its own.
			bound := 12 + 4*(len(w.Objects.Nodes)+len(w.Objects.Pods))
			for i := range bound {
				plan, err := daemonset.Compute(w.Snapshot, w.options)
				if err != nil {
					return err
				}
				if plan.Empty() && plan.Next.IsZero() {
					// A pod beside an older one does not count in the status, so no plan asks to be
					// woken for it. The driver is, by the rule for pods that turned ready.
					plan.Next = w.ripe()
				}
				if i > 0 && plan.Empty() && plan.Next.IsZero() {
					return w.settled(plan, saw)
				}
				if plan.Empty() && !plan.Next.IsZero() {
					saw("a wait")
				}
				w.apply(plan, saw)
			}
			return fmt.Errorf("still not at rest after %d passes", bound)
		},
	}
}

// ripe is when the last pod that is ready will be available; zero if they all are.
func (w *ideal) ripe() time.Time {
	var last time.Time
	for _, pod := range w.Objects.Pods {
		since, ready := slowReady(pod)
		at := since.Add(time.Duration(w.Objects.DaemonSet.Spec.MinReadySeconds) * time.Second)
		if ready && at.After(w.Now) && at.After(last) {
			last = at
		}
	}
	return last
}

// settled checks the end: what every node should have, and no more.
func (w *ideal) settled(plan daemonset.Plan, saw func(string)) error {
	onDelete := w.Objects.DaemonSet.Spec.UpdateStrategy.Type == appsv1.OnDeleteDaemonSetStrategyType
	if onDelete {
		saw("OnDelete")
	}
	// A percentage of no desired nodes is no budget: what is outdated on nodes that only keep
	// their pods then stays, as in Kubernetes v1.37.2.
	end := newSlowWorld(gen.Case{Snapshot: w.Snapshot, Options: w.options}, plan.Revision.Hash)
	updates := !onDelete && end.desired() > 0
	for name, node := range end.nodes {
		switch {
		case !node.exists:
			return fmt.Errorf("pods are left on %s, which does not exist", name)
		case node.run && len(node.pods) != 1:
			return fmt.Errorf("%s has %d pods at the end", name, len(node.pods))
		case !node.stay && len(node.pods) > 0:
			return fmt.Errorf("%s must not have pods, and has %d at the end", name, len(node.pods))
		case len(node.pods) > 1:
			return fmt.Errorf("%s keeps %d pods", name, len(node.pods))
		case len(node.pods) == 1 && updates && !end.isNew(node.pods[0]):
			return fmt.Errorf("%s still has the outdated pod %s", name, node.pods[0].Name)
		}
	}
	status := w.Objects.DaemonSet.Status
	if status.NumberAvailable != status.DesiredNumberScheduled || status.ObservedGeneration < w.Objects.DaemonSet.Generation {
		return fmt.Errorf("the status at the end is %+v", status)
	}
	return nil
}

// apply carries a plan out and lets the world have its way until the next pass.
func (w *ideal) apply(plan daemonset.Plan, saw func(string)) {
	for _, c := range plan.Claims {
		w.claim(c)
	}
	for _, change := range plan.Revisions {
		w.write(change)
	}
	for _, r := range plan.Relabels {
		for _, pod := range w.Objects.Pods {
			if pod.UID == r.Pod.UID {
				pod.Labels[appsv1.ControllerRevisionHashLabelKey] = r.Hash
			}
		}
	}
	for _, key := range plan.Failures {
		entry, _ := w.Backoff.Sorted().Get(key)
		w.Backoff = slices.DeleteFunc(w.Backoff, func(e backoff.Entry) bool { return e.Key == key })
		w.Backoff = append(w.Backoff, w.options.Backoff.Next(entry, w.Now))
	}
	w.pass(plan, saw)
	if plan.Status != nil {
		w.Objects.DaemonSet.Status = *plan.Status.DeepCopy()
	}
	if plan.Empty() && !plan.Next.IsZero() {
		w.Now = plan.Next // nothing but time helps
	} else {
		w.Now = w.Now.Add(time.Second)
	}
}

// pass changes the pods: the plan's writes, then what kubelets and garbage collection do.
func (w *ideal) pass(plan daemonset.Plan, saw func(string)) {
	for _, d := range plan.Deletes {
		if d.Reason == daemonset.Outdated {
			saw("a rollout")
		}
		w.Objects.Pods = slices.DeleteFunc(w.Objects.Pods, func(p *corev1.Pod) bool { return p.UID == d.Pod.UID })
	}
	nodes := map[string]bool{}
	for _, node := range w.Objects.Nodes {
		nodes[node.Name] = true
	}
	w.Objects.Pods = slices.DeleteFunc(w.Objects.Pods, func(p *corev1.Pod) bool {
		return p.DeletionTimestamp != nil || p.Spec.NodeName != "" && !nodes[p.Spec.NodeName]
	})
	for _, c := range plan.Creates {
		if c.Reason == daemonset.SurgeStarted {
			saw("a surge")
		}
		pod := plan.Pod(c)
		w.made++
		pod.Name = fmt.Sprintf("%smade-%d", pod.GenerateName, w.made)
		pod.UID = types.UID("uid-" + pod.Name)
		pod.CreationTimestamp = metav1.NewTime(w.Now.Truncate(time.Second))
		w.Objects.Pods = append(w.Objects.Pods, pod)
	}
	for _, pod := range w.Objects.Pods {
		w.run(pod)
	}
}

// run binds a pod and makes it ready, unless it has ended.
func (w *ideal) run(pod *corev1.Pod) {
	if pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded {
		return
	}
	pod.Spec.NodeName = slowNodeOf(pod)
	if since, ready := slowReady(pod); ready && !since.IsZero() {
		return
	}
	pod.Status.Phase = corev1.PodRunning
	pod.Status.Conditions = []corev1.PodCondition{{
		Type: corev1.PodReady, Status: corev1.ConditionTrue,
		LastTransitionTime: metav1.NewTime(w.Now.Truncate(time.Second)),
	}}
}

// claim adds or takes away a controller reference.
func (w *ideal) claim(c daemonset.Claim) {
	for _, pod := range w.Objects.Pods {
		if pod.UID == c.Ref.UID {
			w.own(&pod.ObjectMeta, c)
		}
	}
	for _, revision := range w.Objects.Revisions {
		if revision.UID == c.Ref.UID {
			w.own(&revision.ObjectMeta, c)
		}
	}
}

func (w *ideal) own(meta *metav1.ObjectMeta, c daemonset.Claim) {
	owner := *metav1.NewControllerRef(w.Objects.DaemonSet, appsv1.SchemeGroupVersion.WithKind("DaemonSet"))
	meta.OwnerReferences = slices.DeleteFunc(meta.OwnerReferences, func(o metav1.OwnerReference) bool { return o.UID == owner.UID })
	if c.Adopt {
		meta.OwnerReferences = append(meta.OwnerReferences, owner)
	}
}

// write changes history.
func (w *ideal) write(change daemonset.RevisionChange) {
	if change.Op != daemonset.CreateRevision {
		w.Objects.Revisions = slices.DeleteFunc(w.Objects.Revisions, func(r *appsv1.ControllerRevision) bool {
			return r.Name == change.Revision.Name && r.Namespace == change.Revision.Namespace
		})
	}
	if change.Op != daemonset.DeleteRevision {
		w.made++
		revision := change.Revision.DeepCopy()
		if revision.UID == "" {
			revision.UID = types.UID(fmt.Sprintf("uid-revision-made-%d", w.made))
		}
		w.Objects.Revisions = append(w.Objects.Revisions, revision)
	}
}
