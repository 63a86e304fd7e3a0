package gen

import (
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
)

const (
	namespace = "fleet"
	setName   = "agent"
	setUID    = types.UID("uid-set")
	otherUID  = types.UID("uid-other")

	current = 3 // the version of the set's template; 0 to 2 are older
)

// world is a case in the making.
type world struct {
	source
	lenient   bool
	rewritten bool
	mood      mood
	starting  bool // when surging: the old pods serve, and the current ones are not ready yet
	now       time.Time

	set       *appsv1.DaemonSet
	revisions []*appsv1.ControllerRevision
	hashes    [current + 1]string // of each version of the template
	twin      string              // the hash of a second revision of the current version; may be empty
	nodes     []*corev1.Node
	pods      []*corev1.Pod
}

func (w *world) makeSet() {
	w.set = &appsv1.DaemonSet{
		TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "DaemonSet"},
		ObjectMeta: metav1.ObjectMeta{
			Name: setName, Namespace: namespace, UID: setUID,
			Generation:        int64(2 + w.below(3)),
			CreationTimestamp: at(epoch().Add(-48 * time.Hour)),
			Labels:            map[string]string{"team": "infra"},
		},
		Spec: appsv1.DaemonSetSpec{
			Selector:             w.selector(),
			Template:             w.template(),
			UpdateStrategy:       w.strategy(),
			MinReadySeconds:      pick(&w.source, int32(0), 0, 10, 60),
			RevisionHistoryLimit: pick(&w.source, new(int32(10)), nil, new(int32(0)), new(int32(1)), new(int32(2))),
		},
	}
	w.set.Status.ObservedGeneration = w.set.Generation - int64(w.below(2))
	if w.oneIn(4) {
		w.set.Annotations = map[string]string{
			appsv1.DeprecatedTemplateGeneration: pick(&w.source, "7", "7", "07", "seven"),
			"note":                              "kept",
		}
	}
	if w.oneIn(5) {
		w.set.Status.CollisionCount = new(int32(w.below(3)))
	}
	if w.oneIn(40) {
		w.set.DeletionTimestamp = new(at(w.now))
		w.set.Finalizers = []string{"foregroundDeletion"}
	}
}

func (w *world) selector() *metav1.LabelSelector {
	if w.lenient && w.oneIn(40) {
		return &metav1.LabelSelector{}
	}
	if w.oneIn(6) {
		return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: "app", Operator: metav1.LabelSelectorOpIn, Values: []string{"agent", "agent-next"}},
			{Key: "canary", Operator: metav1.LabelSelectorOpDoesNotExist},
		}}
	}
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": "agent"}}
}

// template is the set's pod template; versions of it differ in the image.
func (w *world) template() corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{
			Labels:      map[string]string{"app": "agent", "tier": "node"},
			Annotations: pick(&w.source, nil, map[string]string{"scrape": "true"}),
		},
		Spec: corev1.PodSpec{
			Containers: []corev1.Container{{
				Name: "agent", Image: image(current), ImagePullPolicy: corev1.PullIfNotPresent,
				TerminationMessagePath: "/dev/termination-log", TerminationMessagePolicy: corev1.TerminationMessageReadFile,
			}},
			RestartPolicy: corev1.RestartPolicyAlways, DNSPolicy: corev1.DNSClusterFirst,
			SchedulerName:                 corev1.DefaultSchedulerName,
			SecurityContext:               &corev1.PodSecurityContext{},
			TerminationGracePeriodSeconds: new(int64(30)),
			HostNetwork:                   w.oneIn(4),
			NodeName:                      w.templateNode(),
			NodeSelector:                  w.nodeSelector(),
			Affinity:                      w.affinity(),
			Tolerations:                   w.tolerations(),
		},
	}
}

func image(version int) string { return fmt.Sprintf("registry.example/agent:v%d", version) }

func (w *world) templateNode() string {
	if w.oneIn(40) {
		return nodeName(0)
	}
	return ""
}

func (w *world) strategy() appsv1.DaemonSetUpdateStrategy {
	if w.oneIn(8) {
		return appsv1.DaemonSetUpdateStrategy{Type: appsv1.OnDeleteDaemonSetStrategyType}
	}
	s := appsv1.DaemonSetUpdateStrategy{Type: appsv1.RollingUpdateDaemonSetStrategyType}
	zero := intstr.FromInt32(0)
	limits := []intstr.IntOrString{
		intstr.FromInt32(1), intstr.FromInt32(1), intstr.FromInt32(2), intstr.FromInt32(3), intstr.FromInt32(40),
		intstr.FromString("1%"), intstr.FromString("25%"), intstr.FromString("50%"), intstr.FromString("100%"),
	}
	limit := pick(&w.source, limits...)
	s.RollingUpdate = &appsv1.RollingUpdateDaemonSet{MaxUnavailable: &limit, MaxSurge: &zero}
	if w.mood == surging && !w.oneIn(5) || w.oneIn(8) {
		s.RollingUpdate = &appsv1.RollingUpdateDaemonSet{MaxUnavailable: &zero, MaxSurge: &limit}
	}
	if !w.lenient {
		return s
	}
	switch w.below(20) {
	case 16:
		s.RollingUpdate = nil
	case 17:
		s.RollingUpdate.MaxUnavailable = nil
	case 18:
		s.RollingUpdate = &appsv1.RollingUpdateDaemonSet{MaxUnavailable: new(zero), MaxSurge: new(zero)}
	case 19:
		s.RollingUpdate = &appsv1.RollingUpdateDaemonSet{MaxUnavailable: new(limit), MaxSurge: new(pick(&w.source, limits...))}
	}
	return s
}

func setCondition(now time.Time) appsv1.DaemonSetCondition {
	return appsv1.DaemonSetCondition{Type: "Written", Status: corev1.ConditionTrue, LastTransitionTime: at(now), Reason: "ByHand"}
}
