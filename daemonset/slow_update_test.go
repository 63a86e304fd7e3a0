package daemonset_test

import (
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// limits are maxUnavailable and maxSurge for a number of nodes.
func (w *slowWorld) limits(nodes int) (unavailable, surge int) {
	unavailable = 1
	if r := w.set.Spec.UpdateStrategy.RollingUpdate; r != nil && w.set.Spec.UpdateStrategy.Type != appsv1.OnDeleteDaemonSetStrategyType {
		if r.MaxUnavailable != nil {
			unavailable = slowScale(*r.MaxUnavailable, nodes)
		}
		if r.MaxSurge != nil {
			surge = slowScale(*r.MaxSurge, nodes)
		}
	}
	if unavailable == 0 && surge == 0 && nodes > 0 {
		unavailable = 1
	}
	return unavailable, surge
}

// slowScale takes hundredths one by one, rounded up.
func slowScale(limit intstr.IntOrString, nodes int) int {
	if limit.Type == intstr.Int {
		return int(limit.IntVal)
	}
	percent := 0
	for _, digit := range limit.StrVal[:len(limit.StrVal)-1] {
		percent = percent*10 + int(digit-'0')
	}
	scaled := 0
	for scaled*100 < percent*nodes {
		scaled++
	}
	return scaled
}

// versions splits the pods of a node that are not terminating.
func (w *slowWorld) versions(node *slowNode) (fresh, old []*corev1.Pod) {
	for _, pod := range node.pods {
		switch {
		case pod.DeletionTimestamp != nil:
		case w.isNew(pod):
			fresh = append(fresh, pod)
		default:
			old = append(old, pod)
		}
	}
	return fresh, old
}

// update is section 5.
func (w *slowWorld) update(maxUnavailable int) {
	unavailable := 0
	var candidates []string
	for _, name := range slices.Sorted(maps.Keys(w.nodes)) {
		node := w.nodes[name]
		if !node.run && len(node.pods) == 0 {
			continue
		}
		fresh, old := w.versions(node)
		switch {
		case len(fresh) > 1, len(old) > 1, len(fresh) == len(old):
			unavailable++
		case len(fresh) == 1:
			if !w.available(fresh[0]) {
				unavailable++
			}
		case w.available(old[0]):
			candidates = append(candidates, old[0].Name)
		default:
			unavailable++
			w.deletesDue[old[0].Name] = true
		}
	}
	room := min(max(0, maxUnavailable-unavailable), len(candidates))
	w.deletesChosen = candidates[:room]
}

// updateWithSurge is section 6.
func (w *slowWorld) updateWithSurge(maxSurge int) {
	surging, available := 0, 0
	var candidates, leavers []string
	for _, name := range slices.Sorted(maps.Keys(w.nodes)) {
		node := w.nodes[name]
		fresh, old := w.versions(node)
		if !node.exists && len(fresh) == 0 && len(old) == 1 {
			continue // the planner leaves it out; upstream fails on it
		}
		if len(fresh) > 1 || len(old) > 1 {
			surging++
			continue
		}
		if len(old) == 1 && w.available(old[0]) || len(old) == 0 && len(fresh) == 1 && w.available(fresh[0]) {
			available++
		}
		switch {
		case len(old) == 0:
		case len(fresh) == 1 && w.available(fresh[0]):
			w.deletesDue[old[0].Name] = true
		case len(fresh) == 1:
			surging++
		case node.run && w.available(old[0]):
			candidates = append(candidates, name)
		case node.run:
			w.createsDue[name] = true
		case w.available(old[0]):
			leavers = append(leavers, old[0].Name)
		default:
			w.deletesDue[old[0].Name] = true
		}
	}
	w.createsChosen = candidates[:min(max(0, maxSurge-surging), len(candidates))]
	w.deletesChosen = leavers[:min(max(0, available-w.desired()), len(leavers))]
}

// status is section 8.
func (w *slowWorld) status() appsv1.DaemonSetStatus {
	s := *w.set.Status.DeepCopy()
	s.DesiredNumberScheduled = int32(w.desired())
	s.CurrentNumberScheduled, s.NumberMisscheduled, s.NumberReady = 0, 0, 0
	s.NumberAvailable, s.UpdatedNumberScheduled = 0, 0
	for _, node := range w.nodes {
		if !node.exists || len(node.pods) == 0 {
			continue
		}
		first := node.pods[0]
		if !node.run {
			s.NumberMisscheduled++
			continue
		}
		s.CurrentNumberScheduled++
		if _, ready := slowReady(first); ready {
			s.NumberReady++
		}
		if w.available(first) {
			s.NumberAvailable++
		}
		if w.isNew(first) {
			s.UpdatedNumberScheduled++
		}
	}
	s.NumberUnavailable = s.DesiredNumberScheduled - s.NumberAvailable
	return s
}
