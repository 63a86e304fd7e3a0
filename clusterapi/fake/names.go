package fake

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
)

// maxPrefix is how much of a generateName is used, as in Kubernetes v1.37.2: names that the
// server makes have at most 63 characters.
const maxPrefix = 58

// nameRequest is what the suffix of a generated name depends on, besides the seed: what is
// created, and for pods on which node. So names do not depend on who was first.
type nameRequest struct {
	kind      Kind
	namespace string
	prefix    string
	node      string
}

// name gives obj a name by its generateName, if it has none, and returns what tells the
// request for it from others; nothing if the name was chosen.
func (s *store[T]) name(obj T) (string, error) {
	prefix := obj.GetGenerateName()
	if obj.GetName() != "" || prefix == "" {
		return "", nil
	}
	request := nameRequest{kind: s.rules.kind, namespace: obj.GetNamespace(), prefix: prefix[:min(len(prefix), maxPrefix)]}
	if pod, ok := any(obj).(*corev1.Pod); ok {
		request.node = placeOf(pod)[0]
	}
	for range maxGenerated {
		s.cluster.named[request]++
		number := s.cluster.named[request]
		name := request.prefix + s.cluster.chance.suffix(
			string(request.kind), request.namespace, request.prefix, request.node, strconv.Itoa(number))
		if _, taken := s.objects[types.NamespacedName{Namespace: request.namespace, Name: name}]; !taken {
			obj.SetName(name)
			return request.node + "#" + strconv.Itoa(number), nil
		}
	}
	return "", apierrors.NewGenerateNameConflict(s.rules.resource, prefix, 1)
}
