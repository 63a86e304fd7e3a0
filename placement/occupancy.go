package placement

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Occupancy is what the pods on one node hold: resources, host ports and disks. It is added
// up once and serves any number of [Fitter] values; its zero value is an empty node. Adding
// and removing follow the node's pods, so that a change costs a pod and not a node.
//
// Pods are told apart by namespace and name, without a name by UID. An Occupancy keeps no
// reference to pods. It may be read by several goroutines, not while one writes.
type Occupancy struct {
	pods   []holding // by key
	hashes []uint64  // of the keys of pods, which are far apart in memory
	totals []tally
	ports  []heldPort
	disks  []heldDisk
}

// holding is what one pod holds.
type holding struct {
	key     podKey
	uid     types.UID
	amounts []amount
	ports   []hostPort
	disks   []disk
}

type heldPort struct {
	port hostPort
	pod  int32 // index in pods
}

type heldDisk struct {
	disk disk
	pod  int32
}

type podKey struct {
	namespace, name string
	uid             types.UID // of a pod without a name
}

func keyOf(pod *corev1.Pod) podKey {
	key := podKey{namespace: pod.Namespace, name: pod.Name}
	if key.name == "" {
		key.uid = pod.UID
	}
	return key
}

func (k podKey) compare(other podKey) int {
	return cmp.Or(cmp.Compare(k.namespace, other.namespace), cmp.Compare(k.name, other.name), cmp.Compare(k.uid, other.uid))
}

// hash is FNV-1a.
func (k podKey) hash() uint64 {
	sum := uint64(14695981039346656037)
	for _, text := range [...]string{k.namespace, k.name, string(k.uid)} {
		for i := range len(text) {
			sum = (sum ^ uint64(text[i])) * 1099511628211
		}
		sum = (sum ^ '/') * 1099511628211
	}
	return sum
}

// anonymous pods, as a simulation may have them, cannot be told apart.
func (k podKey) anonymous() bool { return k.name == "" && k.uid == "" }

// NewOccupancy returns what pods hold together, as if each had been added.
func NewOccupancy(pods ...*corev1.Pod) *Occupancy {
	o := &Occupancy{pods: make([]holding, 0, len(pods)), hashes: make([]uint64, 0, len(pods))}
	for _, pod := range pods {
		o.Add(pod)
	}
	return o
}

// Add counts pod, in place of an earlier state of it. It does not look at spec.nodeName:
// whose pods they are is the caller's business. A pod that is Succeeded or Failed holds
// nothing, so that adding it takes its earlier state away; one that is terminating holds
// what it has until it is gone. A pod with neither name nor UID is counted anew each time. A
// nil pod is nothing.
//
// Requests are counted as the Kubernetes v1.37.2 scheduler counts those of pods on nodes:
// the containers together or the largest init container beside the restartable ones before
// it; in their place what the pod as a whole asks for of cpu, memory and huge pages; plus
// overhead; during a resize in place the largest of what is asked for, allocated and in
// force. Where Kubernetes would let a negative sum make room, it holds nothing.
func (o *Occupancy) Add(pod *corev1.Pod) {
	if pod == nil {
		return
	}
	key := keyOf(pod)
	at, found := slices.BinarySearchFunc(o.pods, key, func(h holding, k podKey) int { return h.key.compare(k) })
	if found && !key.anonymous() {
		o.drop(at)
	}
	if pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
		return
	}
	h := holding{
		key:     key,
		uid:     pod.UID,
		amounts: heldRequests(pod).amounts(),
		ports:   hostPorts(&pod.Spec),
		disks:   disksOf(pod.Spec.Volumes, pod.Namespace, pod.Name),
	}
	h.amounts = slices.DeleteFunc(h.amounts, func(a amount) bool { return a.value <= 0 })
	o.insert(at, h)
}

// Remove forgets pod and reports whether it was counted. A pod that has another UID than the
// one counted under its name is its predecessor or successor and takes nothing away.
func (o *Occupancy) Remove(pod *corev1.Pod) bool {
	at, found := o.index(pod)
	if found {
		o.drop(at)
	}
	return found
}

// Len returns the number of pods that are counted. For a nil Occupancy it is 0.
func (o *Occupancy) Len() int {
	if o == nil {
		return 0
	}
	return len(o.pods)
}

// Clone returns a copy that is changed on its own. The copy of nil is an empty node.
func (o *Occupancy) Clone() *Occupancy {
	if o == nil {
		return &Occupancy{}
	}
	return &Occupancy{
		pods:   slices.Clone(o.pods), // a holding is never written to
		hashes: slices.Clone(o.hashes),
		totals: slices.Clone(o.totals),
		ports:  slices.Clone(o.ports),
		disks:  slices.Clone(o.disks),
	}
}

// index finds a pod in the state in which it was counted.
func (o *Occupancy) index(pod *corev1.Pod) (int, bool) {
	if o == nil || pod == nil {
		return 0, false
	}
	key := keyOf(pod)
	if key.anonymous() {
		return 0, false
	}
	hash := key.hash()
	for at := range o.hashes {
		if o.hashes[at] == hash && o.pods[at].key == key {
			counted := o.pods[at].uid
			return at, counted == pod.UID || counted == "" || pod.UID == ""
		}
	}
	return 0, false
}

func (o *Occupancy) insert(at int, h holding) {
	o.pods = slices.Insert(o.pods, at, h)
	o.hashes = slices.Insert(o.hashes, at, h.key.hash())
	o.shift(at, 1)
	for _, a := range h.amounts {
		o.tally(a.name, sumOf(a.value))
	}
	for _, p := range h.ports {
		o.ports = append(o.ports, heldPort{port: p, pod: int32(at)})
	}
	for _, d := range h.disks {
		o.disks = append(o.disks, heldDisk{disk: d, pod: int32(at)})
	}
}

func (o *Occupancy) drop(at int) {
	for _, a := range o.pods[at].amounts {
		o.tally(a.name, sum{}.minus(sumOf(a.value)))
	}
	o.ports = slices.DeleteFunc(o.ports, func(p heldPort) bool { return p.pod == int32(at) })
	o.disks = slices.DeleteFunc(o.disks, func(d heldDisk) bool { return d.pod == int32(at) })
	o.pods = slices.Delete(o.pods, at, at+1)
	o.hashes = slices.Delete(o.hashes, at, at+1)
	o.shift(at, -1)
}

// shift follows the pods from at on, which have moved by one.
func (o *Occupancy) shift(at int, by int32) {
	for i := range o.ports {
		if o.ports[i].pod >= int32(at) {
			o.ports[i].pod += by
		}
	}
	for i := range o.disks {
		if o.disks[i].pod >= int32(at) {
			o.disks[i].pod += by
		}
	}
}

func (o *Occupancy) tally(name corev1.ResourceName, by sum) {
	for i := range o.totals {
		if o.totals[i].name == name {
			o.totals[i].sum = o.totals[i].sum.plus(by)
			return
		}
	}
	o.totals = append(o.totals, tally{name: name, sum: by})
}

// others is an Occupancy without some of its pods. Its methods look at what is left.
type others struct {
	*Occupancy
	left []int32 // indices of the pods that are left out, a few
}

// without adds to left the indices of pods, each once.
func (o *Occupancy) without(pods []*corev1.Pod, left []int32) others {
	for _, pod := range pods {
		at, counted := o.index(pod)
		if counted && !slices.Contains(left, int32(at)) {
			left = append(left, int32(at))
		}
	}
	return others{Occupancy: o, left: left}
}

func (o others) len() int { return o.Len() - len(o.left) }

func (o others) heldPorts() int {
	if o.Occupancy == nil {
		return 0
	}
	return len(o.ports)
}

func (o others) heldDisks() int {
	if o.Occupancy == nil {
		return 0
	}
	return len(o.disks)
}

func (o others) has(pod int32) bool { return !slices.Contains(o.left, pod) }

// used returns how much of a resource is held.
func (o others) used(name corev1.ResourceName) sum {
	if o.Occupancy == nil {
		return sum{}
	}
	var total sum
	for i := range o.totals {
		if o.totals[i].name == name {
			total = o.totals[i].sum
			break
		}
	}
	for _, at := range o.left {
		total = total.minus(sumOf(holds(o.pods[at].amounts, name)))
	}
	return total
}
