package fake

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Outcome is what becomes of a pod once it is bound.
type Outcome uint8

// The outcomes.
const (
	Runs        Outcome = iota // starts, turns ready and stays so
	NeverStarts                // stays Pending, as with an image that cannot be pulled
	NeverReady                 // runs without ever being ready
	Rejected                   // is Failed at once, as by a kubelet without room for it
	Fails                      // turns ready, then Failed
	Succeeds                   // turns ready, then Succeeded
	Flaps                      // turns ready and not ready again, for ever
)

// Fate is how the kubelet fares with a pod. The zero value is the usual one.
type Fate struct {
	Outcome Outcome
	After   time.Duration // how long the pod is ready before it Fails, Succeeds or Flaps
	Hangs   bool          // once it is deleted it never stops, not even after its grace period
}

// SetFate makes choose decide the fate of every pod, also of those that are there; nil
// means that all fare as usual. It is asked often, and must give the same answer for the
// same pod until the next SetFate. It gets a shared pod, which it must not write to, while
// the cluster is locked, so it must not use the cluster.
func (c *Cluster) SetFate(choose func(pod *corev1.Pod) Fate) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.life.choose = choose
	c.scheduleAll()
}

// SetFateOn decides the fate of all pods on one node, before what SetFate says. The zero
// Fate takes it back.
func (c *Cluster) SetFateOn(node string, fate Fate) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.life.fateOn[node] = fate
	if fate == (Fate{}) {
		delete(c.life.fateOn, node)
	}
	c.schedulePodsOn(node)
}

func (l *life) fate(pod *corev1.Pod) Fate {
	if fate, ok := l.fateOn[pod.Spec.NodeName]; ok {
		return fate
	}
	if l.choose == nil {
		return Fate{}
	}
	return l.choose(pod)
}
