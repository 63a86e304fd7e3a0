package placement

import (
	"cmp"
	"iter"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// inOrder yields a resource list by name.
func inOrder(list corev1.ResourceList) iter.Seq2[corev1.ResourceName, resource.Quantity] {
	return func(yield func(corev1.ResourceName, resource.Quantity) bool) {
		for _, name := range slices.Sorted(maps.Keys(list)) {
			if !yield(name, list[name]) {
				return
			}
		}
	}
}

// quantities is a small resource list that is added up exactly, before anything is rounded.
// Its quantities are its own.
type quantities []quantity

type quantity struct {
	name  corev1.ResourceName
	value resource.Quantity
}

func (list quantities) find(name corev1.ResourceName) *resource.Quantity {
	for i := range list {
		if list[i].name == name {
			return &list[i].value
		}
	}
	return nil
}

func (list *quantities) put(name corev1.ResourceName, value resource.Quantity) {
	if own := list.find(name); own != nil {
		*own = stored(value)
		return
	}
	*list = append(*list, quantity{name: name, value: stored(value)})
}

func (list *quantities) add(name corev1.ResourceName, value resource.Quantity) {
	if own := list.find(name); own != nil {
		own.Add(stored(value))
		return
	}
	list.put(name, value)
}

// stored returns a copy of a quantity as an API server keeps it: in thousandths, rounded up.
func stored(q resource.Quantity) resource.Quantity {
	q = q.DeepCopy()
	q.RoundUp(resource.Milli)
	return q
}

func (list *quantities) addAll(from quantities) {
	for i := range from {
		list.add(from[i].name, from[i].value)
	}
}

// raise brings every resource of from up to what it is there.
func (list *quantities) raise(from quantities) {
	for i := range from {
		if own := list.find(from[i].name); own == nil || own.Cmp(from[i].value) < 0 {
			list.put(from[i].name, from[i].value)
		}
	}
}

// addList adds requests, and of defaults what requests do not name. An API server gives a
// container its limits as requests so, in a pod, not in a template.
func (list *quantities) addList(requests, defaults corev1.ResourceList) {
	for name, value := range inOrder(requests) {
		list.add(name, value)
	}
	for name, value := range inOrder(defaults) {
		if _, named := requests[name]; !named {
			list.add(name, value)
		}
	}
}

// amounts returns the list rounded, by name.
func (list quantities) amounts() []amount {
	counted := make([]amount, len(list))
	for i := range list {
		counted[i] = amount{name: list[i].name, value: countable(list[i].name, list[i].value)}
	}
	slices.SortFunc(counted, func(a, b amount) int { return cmp.Compare(a.name, b.name) })
	return counted
}

// need is a container's requests, and what stands in for those that are not named.
type need struct{ requests, defaults corev1.ResourceList }

func fromSpec(c *corev1.Container) need {
	return need{requests: c.Resources.Requests, defaults: c.Resources.Limits}
}

// containerRequests adds up the containers of a pod: those that run together are added, and
// an init container counts beside the restartable ones that were started before it. The
// larger of the two, resource by resource, is what the pod has to be given.
func containerRequests(spec *corev1.PodSpec, of func(*corev1.Container) need) quantities {
	var total, sidecars, peak quantities
	for i := range spec.Containers {
		n := of(&spec.Containers[i])
		total.addList(n.requests, n.defaults)
	}
	for i := range spec.InitContainers {
		n := of(&spec.InitContainers[i])
		if restarts(&spec.InitContainers[i]) {
			total.addList(n.requests, n.defaults)
			sidecars.addList(n.requests, n.defaults)
			peak.raise(sidecars)
			continue
		}
		var step quantities
		step.addAll(sidecars)
		step.addList(n.requests, n.defaults)
		peak.raise(step)
	}
	total.raise(peak)
	return total
}

// restarts reports whether an init container runs on beside the others (a sidecar).
func restarts(c *corev1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

// specRequests returns what a pod of spec asks for before it runs, as the Kubernetes v1.37.2
// scheduler counts it once the API server has filled in the defaults of a pod: the
// containers, replaced by what the pod as a whole asks for of cpu, memory and huge pages,
// plus the overhead.
func specRequests(spec *corev1.PodSpec) quantities {
	total := containerRequests(spec, fromSpec)
	for name, value := range inOrder(podRequests(spec, total)) {
		total.put(name, value)
	}
	for name, value := range inOrder(spec.Overhead) {
		total.add(name, value)
	}
	return total
}

// podRequests returns the requests for the pod as a whole, with those that an API server
// writes down beside them.
func podRequests(spec *corev1.PodSpec, containers quantities) corev1.ResourceList {
	if spec.Resources == nil || len(spec.Resources.Requests)+len(spec.Resources.Limits) == 0 {
		return nil
	}
	list := podDefaults(spec.Resources, containers)
	for name, value := range inOrder(spec.Resources.Requests) {
		if isPodLevel(name) {
			list[name] = value
		}
	}
	return list
}

// podDefaults returns what an API server writes down as requests of a pod that has limits:
// what its containers ask for, which then stays though they are resized, and the limits for
// the rest. Huge pages cannot be overcommitted, so of them the limits come first, and what
// containers ask for is a limit unless the pod itself asks for some.
func podDefaults(pod *corev1.ResourceRequirements, containers quantities) corev1.ResourceList {
	list := corev1.ResourceList{}
	limited := len(pod.Limits) > 0
	for _, q := range containers {
		_, named := pod.Requests[q.name]
		limited = limited || isHugePages(q.name) && !named
	}
	if !limited {
		return list
	}
	for _, q := range containers {
		if isPodLevel(q.name) {
			list[q.name] = q.value
		}
	}
	for name, value := range inOrder(pod.Limits) {
		if isPodLevel(name) && (isHugePages(name) || containers.find(name) == nil) {
			list[name] = value
		}
	}
	return list
}

// isPodLevel reports whether a pod may ask for the resource as a whole.
func isPodLevel(name corev1.ResourceName) bool {
	return name == corev1.ResourceCPU || name == corev1.ResourceMemory || isHugePages(name)
}
