package fake

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// Step lets the scheduler, the kubelets, the garbage collector and the node lifecycle do
// what is due now, each one thing about each object, and returns how many things there
// were to look at. A pod that takes no time at all still needs several steps to be ready.
// When nothing is due, Step does nothing and returns 0.
func (c *Cluster) Step() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.step()
}

// Run lets d pass: it steps at every moment at which something is due, as often as it
// takes, and returns how many things were looked at. Zero or less does what is due now.
func (c *Cluster) Run(d time.Duration) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	looked, end := 0, c.now.Add(max(0, d))
	for {
		first, ok := c.agenda.next()
		if !ok || first.at.After(end) {
			c.advanceTo(end)
			return looked
		}
		c.advanceTo(first.at)
		looked += c.step()
	}
}

// Next returns when something is due next, which may be in the past; ok is false if
// nothing is until something changes.
func (c *Cluster) Next() (at time.Time, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	first, ok := c.agenda.next()
	return first.at, ok
}

func (c *Cluster) step() int {
	tasks := c.agenda.take(c.now)
	for _, t := range tasks {
		c.perform(t)
	}
	return len(tasks)
}

func (c *Cluster) perform(t task) {
	switch t.kind {
	case namespaceTask:
		c.emptyNamespace(t.key.Name)
	case nodeTask:
		if node, ok := c.nodes.objects[t.key]; ok {
			c.tendNode(node)
		}
	case setTask:
		if set, ok := c.sets.objects[t.key]; ok {
			c.releaseSet(set)
		}
	case revisionGarbageTask:
		collect(c.revisions, t.key)
	case podGarbageTask:
		collect(c.pods, t.key)
	case podTask:
		if pod, ok := c.pods.objects[t.key]; ok {
			c.tendPod(pod)
		}
	}
}

func (c *Cluster) nodeChanged(old, node *corev1.Node) {
	if node == nil {
		c.life.lost[old.Name] = c.now
		delete(c.life.health, old.Name)
		c.agenda.cancel(task{kind: nodeTask, key: keyOf(old)})
		c.schedulePodsOn(old.Name)
		return
	}
	delete(c.life.lost, node.Name)
	c.scheduleNode(node)
	if old == nil || !sameForPods(old, node) {
		c.schedulePodsOn(node.Name)
	}
}

func (c *Cluster) setChanged(old, set *appsv1.DaemonSet) {
	if set != nil {
		c.scheduleSet(set)
	}
	if set == nil || old != nil && old.UID != set.UID {
		c.scheduleOwned(old)
	}
}

func (c *Cluster) revisionChanged(old, revision *appsv1.ControllerRevision) {
	c.revisionsOf.replace(old, revision)
	if revision != nil {
		c.scheduleGarbage(task{kind: revisionGarbageTask, key: keyOf(revision)}, revision)
	}
	if old != nil {
		c.wakeOwners(old)
	}
}

func (c *Cluster) podChanged(old, pod *corev1.Pod) {
	c.podsOn.replace(old, pod)
	c.podsOf.replace(old, pod)
	c.life.note(old, pod, c.now)
	if pod == nil {
		c.agenda.cancel(task{kind: podTask, key: keyOf(old)})
	} else {
		c.schedulePod(pod)
		c.scheduleGarbage(task{kind: podGarbageTask, key: keyOf(pod)}, pod)
	}
	if old != nil {
		c.wakeOwners(old)
	}
}
