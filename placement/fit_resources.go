package placement

import (
	"math"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

const requestsField = "spec.containers.resources.requests"

// badAmount is a request that no API server admits.
type badAmount struct {
	name corev1.ResourceName
	why  string
}

// compileRequests counts what the template asks for. Of a resource that it does not ask for,
// or less than nothing, a node need not have any.
func (f *Fitter) compileRequests(spec *corev1.PodSpec) {
	for _, a := range specRequests(spec).amounts() {
		switch {
		case !isScheduled(a.name):
			f.invalid = append(f.invalid, badAmount{a.name, "is no resource that a container can ask for"})
		case a.value < 0:
			f.invalid = append(f.invalid, badAmount{a.name, "is asked for with a negative quantity"})
		case a.value == math.MaxInt64:
			f.invalid = append(f.invalid, badAmount{a.name, "is asked for with a quantity that is too large to count"})
		case a.value > 0:
			f.requests = append(f.requests, a)
		}
	}
	slices.SortFunc(f.requests, byRank)
}

// resourcesFit reports whether the node has room for one more pod and for its requests.
func (f *Fitter) resourcesFit(node *corev1.Node, rest others) bool {
	if f.critical {
		return true
	}
	if len(f.invalid) > 0 || int64(rest.len()) >= allocatable(node, corev1.ResourcePods) {
		return false
	}
	for i := range f.requests {
		if a := &f.requests[i]; free(node, rest, a.name).int64() < a.value {
			return false
		}
	}
	return true
}

// allocatable returns how much of a resource pods may use. A node that says nothing about
// that leaves them its capacity, as with an API server.
func allocatable(node *corev1.Node, name corev1.ResourceName) int64 {
	list := node.Status.Allocatable
	if list == nil {
		list = node.Status.Capacity
	}
	return countable(name, list[name])
}

func free(node *corev1.Node, rest others, name corev1.ResourceName) sum {
	return sumOf(allocatable(node, name)).minus(rest.used(name))
}

func (f *Fitter) explainResources(found []Finding, node *corev1.Node, rest others) []Finding {
	if f.critical {
		return found
	}
	for _, bad := range f.invalid {
		found = append(found, Finding{Code: InvalidRequest, Field: requestsField, Detail: clip(string(bad.name)) + " " + bad.why})
	}
	if all := allocatable(node, corev1.ResourcePods); int64(rest.len()) >= all {
		found = append(found, crowded(all, rest))
	}
	for _, asked := range f.requests {
		if free(node, rest, asked.name).int64() < asked.value {
			found = append(found, short(asked, node, rest))
		}
	}
	return found
}

// crowded explains that there are too many pods. It names none: all hold the same.
func crowded(all int64, rest others) Finding {
	count := quantityOf(corev1.ResourcePods)
	c := &Contention{
		Subject:     string(corev1.ResourcePods),
		Asked:       count(1),
		Free:        count(sumOf(all).minus(sumOf(int64(rest.len()))).int64()),
		Allocatable: count(all),
		More:        rest.len(),
	}
	return Finding{
		Code:       InsufficientResources,
		Contention: c,
		Detail:     "pods: 1 asked for, " + c.Free.String() + " free of " + c.Allocatable.String() + "; " + strconv.Itoa(rest.len()) + " are there",
	}
}

// short explains that there is too little of a resource.
func short(asked amount, node *corev1.Node, rest others) Finding {
	quantity := quantityOf(asked.name)
	c := &Contention{
		Subject:     string(asked.name),
		Asked:       quantity(asked.value),
		Free:        quantity(free(node, rest, asked.name).int64()),
		Allocatable: quantity(allocatable(node, asked.name)),
	}
	var shares []share
	for i := range rest.Len() {
		pod := &rest.pods[i]
		if held := holds(pod.amounts, asked.name); held > 0 && rest.has(int32(i)) {
			shares = append(shares, share{pod: pod, amount: held})
		}
	}
	c.hold(shares, quantity)
	detail := clip(c.Subject) + ": " + c.Asked.String() + " asked for, " + c.Free.String() + " free of " + c.Allocatable.String()
	return Finding{Code: InsufficientResources, Field: requestsField, Contention: c, Detail: detail + holderList(c)}
}

// isBestEffort reports whether nothing in spec asks for or limits cpu or memory.
func isBestEffort(spec *corev1.PodSpec) bool {
	lists := make([]corev1.ResourceList, 0, 2*(len(spec.Containers)+len(spec.InitContainers)+1))
	for _, containers := range [][]corev1.Container{spec.Containers, spec.InitContainers} {
		for i := range containers {
			lists = append(lists, containers[i].Resources.Requests, containers[i].Resources.Limits)
		}
	}
	if spec.Resources != nil {
		lists = append(lists, spec.Resources.Requests, spec.Resources.Limits)
	}
	return !slices.ContainsFunc(lists, func(list corev1.ResourceList) bool {
		return !isZero(list[corev1.ResourceCPU]) || !isZero(list[corev1.ResourceMemory])
	})
}

func isZero(q resource.Quantity) bool { return q.IsZero() }
