package fake_test

import (
	"context"
	"encoding/json"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/clusterapi"
	"github.com/daemonplan/daemonplan/clusterapi/fake"
	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/placement"
)

// each replaces the objects of a list by copies that change may write to.
func each[T fake.Object](objects []T, change func(obj T)) {
	for i, obj := range objects {
		objects[i], _ = obj.DeepCopyObject().(T)
		change(objects[i])
	}
}

// diet drops all that neither a plan reads nor a write gives back.
func diet(o *clusterapi.Observation) {
	o.Objects.DaemonSet = o.Objects.DaemonSet.DeepCopy()
	o.Objects.DaemonSet.ManagedFields = nil
	each(o.Objects.Nodes, func(n *corev1.Node) {
		*n = corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: n.Name, UID: n.UID, ResourceVersion: n.ResourceVersion, Labels: n.Labels},
			Spec:       corev1.NodeSpec{Taints: n.Spec.Taints},
		}
	})
	each(o.Objects.Revisions, func(r *appsv1.ControllerRevision) { r.ManagedFields = nil })
	each(o.Objects.Pods, func(p *corev1.Pod) {
		p.Annotations, p.Finalizers, p.ManagedFields = nil, nil, nil
		spec := corev1.PodSpec{NodeName: p.Spec.NodeName}
		if node, ok := placement.TargetNode(p); ok && spec.NodeName == "" {
			spec.Affinity = placement.PinTo(nil, node)
		}
		p.Spec = spec
		conditions := slices.DeleteFunc(p.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type != corev1.PodReady })
		p.Status = corev1.PodStatus{Phase: p.Status.Phase, Conditions: conditions}
	})
}

// seenDefects observe objects that lack something.
func seenDefects() map[string]defect {
	const all, status = "Observe/returns_the_set_with_all", "Observe/shows_pods_that_have_finished"
	seen := func(found, says string, change func(o *daemonset.Objects)) defect {
		return defect{found: found, says: []string{says}, bend: func(_ *fake.Cluster, d *defective) {
			d.seeing(func(o *clusterapi.Observation) { change(&o.Objects) })
		}}
	}
	nodes := func(says string, change func(n *corev1.Node)) defect {
		return seen(all, says, func(o *daemonset.Objects) { each(o.Nodes, change) })
	}
	pods := func(found, says string, change func(p *corev1.Pod)) defect {
		return seen(found, says, func(o *daemonset.Objects) { each(o.Pods, change) })
	}
	revisions := func(says string, change func(r *appsv1.ControllerRevision)) defect {
		return seen(all, says, func(o *daemonset.Objects) { each(o.Revisions, change) })
	}
	set := func(says string, change func(set *appsv1.DaemonSet)) defect {
		return seen(all, says, func(o *daemonset.Objects) {
			o.DaemonSet = o.DaemonSet.DeepCopy()
			change(o.DaemonSet)
		})
	}
	return map[string]defect{
		"observes nodes without labels": nodes("-plain.metadata.labels", func(n *corev1.Node) { n.Labels = nil }),
		"observes nodes without taints": nodes("-tainted.spec.taints", func(n *corev1.Node) { n.Spec.Taints = nil }),
		"observes one taint": nodes("-tainted.spec.taints", func(n *corev1.Node) {
			n.Spec.Taints = n.Spec.Taints[:min(1, len(n.Spec.Taints))]
		}),
		"observes pods without labels": pods(all, "pod owned.metadata.labels", func(p *corev1.Pod) { p.Labels = nil }),
		"observes pods without spec":   pods(all, "pod bound.spec.nodeName", func(p *corev1.Pod) { p.Spec = corev1.PodSpec{} }),
		"observes pods without affinity": pods(all, "pod orphan: the node it is meant for",
			func(p *corev1.Pod) { p.Spec.Affinity = nil }),
		"observes pods without creation": pods(all, "pod owned.metadata.creationTimestamp",
			func(p *corev1.Pod) { p.CreationTimestamp = metav1.Time{} }),
		"observes only controllers": pods(all, "pod owned.metadata.ownerReferences", func(p *corev1.Pod) {
			for i := range p.OwnerReferences {
				p.OwnerReferences[i].BlockOwnerDeletion = nil
			}
		}),
		"observes pods without phase": pods(status, "pod failed.status.phase", func(p *corev1.Pod) { p.Status.Phase = "" }),
		"observes pods without conditions": pods(status, "pod ready.status.conditions",
			func(p *corev1.Pod) { p.Status.Conditions = nil }),
		"observes readiness without time": pods(status, "pod ready.status.conditions", func(p *corev1.Pod) {
			for i := range p.Status.Conditions {
				p.Status.Conditions[i].LastTransitionTime = metav1.Time{}
			}
		}),
		"observes revisions without data": revisions("revision owned.data", func(r *appsv1.ControllerRevision) {
			r.Data = runtime.RawExtension{Raw: []byte(`{}`)}
		}),
		"observes revisions without labels":      revisions("revision orphan.metadata.labels", func(r *appsv1.ControllerRevision) { r.Labels = nil }),
		"observes revisions without annotations": revisions("revision owned.metadata.annotations", func(r *appsv1.ControllerRevision) { r.Annotations = nil }),
		"observes a set without labels":          set("DaemonSet agent.metadata.labels", func(s *appsv1.DaemonSet) { s.Labels = nil }),
		"observes a set without template":        set("DaemonSet agent.spec.template", func(s *appsv1.DaemonSet) { s.Spec.Template = corev1.PodTemplateSpec{} }),
		"observes a set without generation":      set("DaemonSet agent.metadata.generation", func(s *appsv1.DaemonSet) { s.Generation = 0 }),
	}
}

// lossyDefects write objects that lack something.
func lossyDefects() map[string]defect {
	created := func(says string, change func(p *corev1.Pod)) defect {
		return defect{found: "CreatePod/returns_the_pod_as_stored", says: []string{"what was returned" + says, "what is stored" + says}, bend: func(_ *fake.Cluster, d *defective) {
			d.createPod = func(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
				pod = pod.DeepCopy()
				change(pod)
				return d.Client.CreatePod(ctx, pod)
			}
		}}
	}
	revision := func(says string, change func(r *appsv1.ControllerRevision)) defect {
		return defect{found: "CreateRevision/returns_the_revision", says: []string{"what was returned" + says, "what is stored" + says}, bend: func(_ *fake.Cluster, d *defective) {
			d.createRevision = func(ctx context.Context, r *appsv1.ControllerRevision) (*appsv1.ControllerRevision, error) {
				r = r.DeepCopy()
				change(r)
				return d.Client.CreateRevision(ctx, r)
			}
		}}
	}
	status := func(says string, change func(s *appsv1.DaemonSetStatus)) defect {
		return defect{found: "UpdateStatus/replaces_the_status", says: []string{"what was returned.status." + says, "what is stored.status." + says}, bend: func(_ *fake.Cluster, d *defective) {
			d.updateStatus = func(ctx context.Context, set *appsv1.DaemonSet) (*appsv1.DaemonSet, error) {
				set = set.DeepCopy()
				change(&set.Status)
				return d.Client.UpdateStatus(ctx, set)
			}
		}}
	}
	return map[string]defect{
		"creates pods without affinity":    created(".spec.affinity", func(p *corev1.Pod) { p.Spec.Affinity = nil }),
		"creates pods without tolerations": created(".spec.tolerations", func(p *corev1.Pod) { p.Spec.Tolerations = nil }),
		"creates pods without labels":      created(".metadata.labels", func(p *corev1.Pod) { p.Labels = nil }),
		"creates pods without annotations": created(".metadata.annotations", func(p *corev1.Pod) { p.Annotations = nil }),
		"creates pods without owner":       created(".metadata.ownerReferences", func(p *corev1.Pod) { p.OwnerReferences = nil }),
		"creates pods with less environment": created(".spec.containers", func(p *corev1.Pod) {
			p.Spec.Containers[0].Env = p.Spec.Containers[0].Env[:min(1, len(p.Spec.Containers[0].Env))]
		}),
		"creates revisions without labels": revision(".metadata.labels", func(r *appsv1.ControllerRevision) { r.Labels = nil }),
		"creates revisions with rounded data": revision(".data.spec.template.spec.large", func(r *appsv1.ControllerRevision) {
			var data any
			if err := json.Unmarshal(r.Data.Raw, &data); err != nil {
				return
			}
			if raw, err := json.Marshal(data); err == nil {
				r.Data.Raw = raw
			}
		}),
		"updates revisions without annotations": {found: "UpdateRevision/replaces_the_revision", says: []string{"what is stored.metadata.annotations"}, bend: func(_ *fake.Cluster, d *defective) {
			d.updateRevision = func(ctx context.Context, r *appsv1.ControllerRevision) (*appsv1.ControllerRevision, error) {
				r = r.DeepCopy()
				r.Annotations = nil
				return d.Client.UpdateRevision(ctx, r)
			}
		}},
		"writes a status without collisions": status("collisionCount", func(s *appsv1.DaemonSetStatus) { s.CollisionCount = nil }),
		"writes a status without conditions": status("conditions", func(s *appsv1.DaemonSetStatus) { s.Conditions = nil }),
	}
}

// strategicDefects patch as a strategic merge patch does, which merges owner references by
// UID, or do not patch these at all.
func strategicDefects() map[string]defect {
	const pods, revisions = "PatchPod/adopts_and_releases", "PatchRevision/adopts_and_releases"
	const kept = "owner references after the release: got [{"
	owners := func(document map[string]any) (metadata map[string]any, references []metav1.OwnerReference, ok bool) {
		metadata, _ = document["metadata"].(map[string]any)
		if _, ok = metadata["ownerReferences"]; !ok {
			return nil, nil, false
		}
		raw, err := json.Marshal(metadata["ownerReferences"])
		return metadata, references, err == nil && json.Unmarshal(raw, &references) == nil
	}
	merged := func(patch []byte, stored metav1.Object) []byte {
		var document map[string]any
		if json.Unmarshal(patch, &document) != nil {
			return patch
		}
		metadata, references, ok := owners(document)
		if !ok || stored == nil {
			return patch
		}
		all := slices.DeleteFunc(slices.Clone(stored.GetOwnerReferences()), func(o metav1.OwnerReference) bool {
			return slices.ContainsFunc(references, func(r metav1.OwnerReference) bool { return r.UID == o.UID })
		})
		metadata["ownerReferences"] = append(all, references...)
		changed, err := json.Marshal(document)
		if err != nil {
			return patch
		}
		return changed
	}
	return map[string]defect{
		"patches pods strategically": {found: pods, says: []string{kept}, bend: func(c *fake.Cluster, d *defective) {
			d.patchPod = func(ctx context.Context, ref daemonset.Ref, patch []byte) (*corev1.Pod, error) {
				if stored, err := fake.Get[*corev1.Pod](c, keyOfRef(ref)); err == nil {
					patch = merged(patch, stored)
				}
				return d.Client.PatchPod(ctx, ref, patch)
			}
		}},
		"patches revisions strategically": {found: revisions, says: []string{kept}, bend: func(c *fake.Cluster, d *defective) {
			d.patchRevision = func(ctx context.Context, ref daemonset.Ref, patch []byte) (*appsv1.ControllerRevision, error) {
				if stored, err := fake.Get[*appsv1.ControllerRevision](c, keyOfRef(ref)); err == nil {
					patch = merged(patch, stored)
				}
				return d.Client.PatchRevision(ctx, ref, patch)
			}
		}},
		"never changes the owners of revisions": {found: revisions, says: []string{"owner references after the adoption: got null"}, bend: func(_ *fake.Cluster, d *defective) {
			d.patchRevision = func(ctx context.Context, ref daemonset.Ref, patch []byte) (*appsv1.ControllerRevision, error) {
				var document map[string]any
				if json.Unmarshal(patch, &document) == nil {
					if metadata, _, ok := owners(document); ok {
						delete(metadata, "ownerReferences")
						if changed, err := json.Marshal(document); err == nil {
							patch = changed
						}
					}
				}
				return d.Client.PatchRevision(ctx, ref, patch)
			}
		}},
		"deletes at once":    {found: "DeletePod/lets_the_pod_have_its_grace_period", says: []string{"got a grace period of 0 s"}, bend: deleteWithGrace(0)},
		"deletes in a hurry": {found: "DeletePod/lets_the_pod_have_its_grace_period", says: []string{"got a grace period of 30 s"}, bend: deleteWithGrace(30)},
	}
}

func deleteWithGrace(grace int64) func(c *fake.Cluster, d *defective) {
	return func(c *fake.Cluster, d *defective) {
		d.deletePod = func(ctx context.Context, pod daemonset.Ref) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return fake.Delete[*corev1.Pod](c, keyOfRef(pod), fake.DeleteOptions{UID: &pod.UID, Grace: &grace})
		}
	}
}

// successorDefects write to what has the name now, or say of it what an API server says.
func successorDefects() map[string]defect {
	return map[string]defect{
		"writes the status by name": {found: "UpdateStatus/never_touches_a_successor", says: []string{"status of the successor"}, bend: func(_ *fake.Cluster, d *defective) {
			d.updateStatus = func(ctx context.Context, set *appsv1.DaemonSet) (*appsv1.DaemonSet, error) {
				set = set.DeepCopy()
				if live, err := d.Client.Live(ctx, types.NamespacedName{Namespace: set.Namespace, Name: set.Name}); err == nil && live.UID != set.UID {
					set.UID, set.ResourceVersion = live.UID, live.ResourceVersion
				}
				return d.Client.UpdateStatus(ctx, set)
			}
		}},
		"updates revisions by name": {found: "UpdateRevision/never_touches_a_successor", says: []string{"number of the successor"}, bend: func(_ *fake.Cluster, d *defective) {
			d.updateRevision = func(ctx context.Context, r *appsv1.ControllerRevision) (*appsv1.ControllerRevision, error) {
				r = r.DeepCopy()
				r.UID = ""
				return d.Client.UpdateRevision(ctx, r)
			}
		}},
		"says Invalid of a UID in a patch": {
			found: "PatchPod/never_touches_a_successor,_also", says: []string{"the write to a successor: got Invalid"},
			bend: func(_ *fake.Cluster, d *defective) {
				d.patchPod = func(ctx context.Context, ref daemonset.Ref, patch []byte) (*corev1.Pod, error) {
					pod, err := d.Client.PatchPod(ctx, ref, patch)
					if apierrors.IsConflict(err) {
						return nil, apierrors.NewInvalid(corev1.SchemeGroupVersion.WithKind("Pod").GroupKind(), ref.Name, nil)
					}
					return pod, err
				}
			},
		},
	}
}

func keyOfRef(ref daemonset.Ref) types.NamespacedName {
	return types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}
}
