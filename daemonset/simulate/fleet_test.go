package simulate_test

import (
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/daemonset/simulate"
)

var noon = time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)

// strategy is an update strategy; empty is absent, and "OnDelete" as unavailable is that.
type strategy struct {
	unavailable, surge string
	minReady           int32
}

// fleet is a set at rest on nodes in three zones: a simulation of its first roll-out made it.
func fleet(nodes int, s strategy) daemonset.Snapshot {
	labels := map[string]string{"app": "agent"}
	set := &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: "agent", UID: "set-1", Generation: 1},
		Spec: appsv1.DaemonSetSpec{
			Selector:        &metav1.LabelSelector{MatchLabels: labels},
			MinReadySeconds: s.minReady,
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "agent", Image: "registry.example/agent:v1"}}},
			},
			UpdateStrategy: s.api(),
		},
	}
	world := daemonset.Snapshot{Objects: daemonset.Objects{DaemonSet: set}, Now: noon.Add(-time.Hour)}
	for i := range nodes {
		name := fmt.Sprintf("node-%05d", i)
		world.Objects.Nodes = append(world.Objects.Nodes, &corev1.Node{ObjectMeta: metav1.ObjectMeta{
			Name: name, UID: types.UID("uid-" + name),
			Labels: map[string]string{corev1.LabelTopologyZone: "zone-" + string(rune('a'+i%3))},
		}})
	}
	r, err := simulate.Run(world, simulate.Options{})
	if err != nil || r.Outcome != simulate.Complete {
		panic(fmt.Sprint(r.Outcome, err))
	}
	r.Final.Now = noon
	return r.Final
}

func (s strategy) api() appsv1.DaemonSetUpdateStrategy {
	if s.unavailable == "OnDelete" {
		return appsv1.DaemonSetUpdateStrategy{Type: appsv1.OnDeleteDaemonSetStrategyType}
	}
	rolling := &appsv1.RollingUpdateDaemonSet{}
	if s.unavailable != "" {
		v := intstr.Parse(s.unavailable)
		rolling.MaxUnavailable = &v
	}
	if s.surge != "" {
		zero, v := intstr.FromInt32(0), intstr.Parse(s.surge)
		rolling.MaxUnavailable, rolling.MaxSurge = &zero, &v
	}
	return appsv1.DaemonSetUpdateStrategy{Type: appsv1.RollingUpdateDaemonSetStrategyType, RollingUpdate: rolling}
}

// updated is the same with a new image.
func updated(s daemonset.Snapshot) daemonset.Snapshot {
	set := s.Objects.DaemonSet.DeepCopy()
	set.Generation++
	set.Spec.Template.Spec.Containers[0].Image = "registry.example/agent:v2"
	s.Objects.DaemonSet = set
	return s
}
