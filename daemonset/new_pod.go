package daemonset

import (
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemonplan/daemonplan/placement"
)

// maxNameLength is how long the name of a pod may be, before the API server adds a suffix.
const maxNameLength = 253

// podTemplate is the set's template as its pods carry it: with the tolerations of daemon
// pods and the labels that tell which revision they are of.
func (p *pass) podTemplate() *corev1.PodTemplateSpec {
	template := p.set.obj.Spec.Template.DeepCopy()
	template.Spec.Tolerations = placement.Tolerations(&template.Spec)
	if p.set.generation != "" {
		template.Labels = withLabel(template.Labels, legacyGenerationLabel, p.set.generation)
	}
	if p.revision.Hash != "" {
		template.Labels = withLabel(template.Labels, appsv1.ControllerRevisionHashLabelKey, p.revision.Hash)
	}
	return template
}

// Pod builds the object for one create: the plan's template, pinned or bound to the node, owned by
// the DaemonSet, named by the API server. It returns nil for a plan without a template,
// which has no creates. The pod belongs to the caller.
func (p Plan) Pod(c Create) *corev1.Pod {
	if p.Template == nil {
		return nil
	}
	template := p.Template.DeepCopy()
	if c.Bind {
		template.Spec.NodeName = c.Node
	} else {
		template.Spec.Affinity = placement.PinTo(template.Spec.Affinity, c.Node)
	}
	prefix := p.For.Name + "-"
	if len(prefix) > maxNameLength {
		prefix = p.For.Name
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			GenerateName:    prefix,
			Namespace:       p.For.Namespace,
			Labels:          template.Labels,
			Annotations:     template.Annotations,
			Finalizers:      template.Finalizers,
			OwnerReferences: []metav1.OwnerReference{p.For.ControllerReference()},
		},
		Spec: template.Spec,
	}
}

// ControllerReference makes the DaemonSet the controller of what it creates.
func (r Ref) ControllerReference() metav1.OwnerReference {
	owner := &metav1.ObjectMeta{Name: r.Name, UID: r.UID}
	return *metav1.NewControllerRef(owner, appsv1.SchemeGroupVersion.WithKind(string(DaemonSetKind)))
}

// withLabel returns a copy of labels in which key has value.
func withLabel(labels map[string]string, key, value string) map[string]string {
	labels = maps.Clone(labels)
	if labels == nil {
		labels = map[string]string{}
	}
	labels[key] = value
	return labels
}
