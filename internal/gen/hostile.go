package gen

import (
	"iter"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Hostile returns the case of data with something done to it that no API server would let
// through: nil entries, duplicates, missing or unreadable fields, extreme numbers and times.
// Compute may refuse it, but only with an InvalidError.
func Hostile(data []byte, o Options) Case {
	s := &source{data: data}
	spoils := make([]int, 1+s.below(2))
	for i := range spoils {
		spoils[i] = s.below(len(spoilers()))
	}
	c := Make(s.data, o)
	for _, i := range spoils {
		if c.Snapshot.Objects.DaemonSet != nil {
			spoilers()[i](&c)
		}
	}
	return c
}

// spoilers each do one bad thing to a case that has a DaemonSet.
func spoilers() []func(c *Case) {
	return slices.Concat(listSpoilers(), setSpoilers(), objectSpoilers())
}

func listSpoilers() []func(c *Case) {
	return []func(c *Case){
		func(c *Case) { c.Snapshot.Objects.Nodes = append(c.Snapshot.Objects.Nodes, nil) },
		func(c *Case) { c.Snapshot.Objects.Pods = append(c.Snapshot.Objects.Pods, nil) },
		func(c *Case) { c.Snapshot.Objects.Revisions = append(c.Snapshot.Objects.Revisions, nil) },
		func(c *Case) { c.Snapshot.Objects.Nodes = slices.Repeat(c.Snapshot.Objects.Nodes, 2) },
		func(c *Case) { c.Snapshot.Objects.Pods = slices.Repeat(c.Snapshot.Objects.Pods, 2) },
		func(c *Case) { c.Snapshot.Objects.Revisions = slices.Repeat(c.Snapshot.Objects.Revisions, 2) },
		func(c *Case) { c.Snapshot.Backoff = slices.Repeat(c.Snapshot.Backoff, 2) },
		func(c *Case) { c.Snapshot.Now = time.Time{} },
		func(c *Case) { c.Snapshot.Now = time.Date(9900, time.December, 31, 23, 59, 59, 0, time.UTC) },
		func(c *Case) { c.Snapshot.Pending.Creates = -5 },
	}
}

func setSpoilers() []func(c *Case) {
	return []func(c *Case){
		func(c *Case) { c.Snapshot.Objects.DaemonSet = nil },
		func(c *Case) { c.Snapshot.Objects.DaemonSet.Name = "" },
		func(c *Case) { c.Snapshot.Objects.DaemonSet.UID = "" },
		func(c *Case) { c.Snapshot.Objects.DaemonSet.Spec.Selector = nil },
		func(c *Case) {
			c.Snapshot.Objects.DaemonSet.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"": "?"}}
		},
		func(c *Case) { limits(c, intstr.FromString("abc%")) },
		func(c *Case) { limits(c, intstr.FromInt32(-1)) },
		func(c *Case) { limits(c, intstr.FromString("99999999999%")) },
		func(c *Case) { c.Snapshot.Objects.DaemonSet.Spec.UpdateStrategy.Type = "Sideways" },
		func(c *Case) { c.Snapshot.Objects.DaemonSet.Spec.MinReadySeconds = -1 },
		func(c *Case) { c.Snapshot.Objects.DaemonSet.Spec.MinReadySeconds = 1<<31 - 1 },
		func(c *Case) { c.Snapshot.Objects.DaemonSet.Spec.RevisionHistoryLimit = new(int32(-1)) },
		func(c *Case) { c.Snapshot.Objects.DaemonSet.Status.CollisionCount = new(int32(1<<31 - 1)) },
		func(c *Case) { c.Snapshot.Objects.DaemonSet.Spec.Template = corev1.PodTemplateSpec{} },
	}
}

func limits(c *Case, limit intstr.IntOrString) {
	strategy := &c.Snapshot.Objects.DaemonSet.Spec.UpdateStrategy
	if strategy.RollingUpdate != nil {
		strategy.RollingUpdate.MaxUnavailable = new(limit)
		strategy.RollingUpdate.MaxSurge = new(limit)
	}
}

func objectSpoilers() []func(c *Case) {
	return []func(c *Case){
		func(c *Case) {
			for n := range present(c.Snapshot.Objects.Nodes) {
				n.Labels, n.Spec.Taints = nil, []corev1.Taint{{}}
			}
		},
		func(c *Case) {
			for p := range present(c.Snapshot.Objects.Pods) {
				p.Status, p.UID = corev1.PodStatus{}, ""
			}
		},
		func(c *Case) {
			for p := range present(c.Snapshot.Objects.Pods) {
				p.Labels["noise"] = strings.Repeat("x", 1<<12)
				p.OwnerReferences = slices.Repeat(p.OwnerReferences, 2)
			}
		},
		func(c *Case) {
			broken := [][]byte{nil, []byte("7"), []byte(`{"spec":{"template":[]}}`), []byte("null"), []byte(`{"spec":{"template":{"$patch":"x"}}}`)}
			for r := range present(c.Snapshot.Objects.Revisions) {
				r.Data.Raw = broken[int(r.Revision&0xff)%len(broken)]
			}
		},
		func(c *Case) {
			for r := range present(c.Snapshot.Objects.Revisions) {
				r.Revision, r.Labels = 1<<63-1, nil
			}
		},
	}
}

// present yields the entries that no other spoiler has made nil.
func present[T any](entries []*T) iter.Seq[*T] {
	return func(yield func(*T) bool) {
		for _, entry := range entries {
			if entry != nil && !yield(entry) {
				return
			}
		}
	}
}
