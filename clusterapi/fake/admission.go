package fake

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// namespace is what is not as usual about one.
type namespace struct {
	terminating bool
	podLimit    *int
}

// TerminateNamespace begins the deletion of a namespace. From then on everything new in it
// is refused, as a Forbidden error with the cause NamespaceTerminating. What is in it is
// deleted by the next Step after Timing.Collect. The namespace stays terminating.
func (c *Cluster) TerminateNamespace(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.namespaces[name]
	n.terminating = true
	c.namespaces[name] = n
	c.agenda.set(task{kind: namespaceTask, key: keyIn("", name)}, c.now.Add(c.life.timing.Collect))
}

// LimitPods lets a namespace hold at most so many pods that have not ended, as a
// ResourceQuota of count pods does: creating more is a Forbidden error. A negative limit
// is none.
func (c *Cluster) LimitPods(namespaceName string, limit int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.namespaces[namespaceName]
	n.podLimit = &limit
	if limit < 0 {
		n.podLimit = nil
	}
	c.namespaces[namespaceName] = n
}

// admit refuses what is created in a namespace that is being deleted.
func (c *Cluster) admit(resource schema.GroupResource, obj metav1.Object) error {
	name := obj.GetNamespace()
	if name == "" || !c.namespaces[name].terminating {
		return nil
	}
	err := apierrors.NewForbidden(resource, obj.GetName(),
		fmt.Errorf("unable to create new content in namespace %s because it is being terminated", name))
	err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, metav1.StatusCause{
		Type:    corev1.NamespaceTerminatingCause,
		Message: fmt.Sprintf("namespace %s is being terminated", name),
		Field:   "metadata.namespace",
	})
	return err
}

// admitCount refuses a pod beyond the limit of its namespace.
func (c *Cluster) admitCount(obj metav1.Object) error {
	limit := c.namespaces[obj.GetNamespace()].podLimit
	if _, ok := obj.(*corev1.Pod); !ok || limit == nil {
		return nil
	}
	used := 0
	for key, pod := range c.pods.objects {
		if key.Namespace == obj.GetNamespace() && !finished(pod) {
			used++
		}
	}
	if used < *limit {
		return nil
	}
	return apierrors.NewForbidden(c.pods.rules.resource, obj.GetName(),
		fmt.Errorf("exceeded quota: pods, requested: count=1, used: count=%d, limited: count=%d", used, *limit))
}
