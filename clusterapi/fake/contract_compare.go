package fake

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/daemonplan/daemonplan/placement"
)

// wantKept checks that got says all that want says, in any field. A server may add to it:
// defaults, what only it can know, and what its admission puts into lists.
func wantKept(t *testing.T, what string, got, want any) {
	t.Helper()
	for _, lost := range missing("", decoded(t, got), decoded(t, want)) {
		t.Errorf("%s%s", what, lost)
	}
}

func decoded(t *testing.T, value any) any {
	t.Helper()
	text, err := json.Marshal(value)
	must(t, "json.Marshal", err)
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber() // a large number must not look like its neighbour
	var result any
	must(t, "json.Unmarshal", decoder.Decode(&result))
	return result
}

// missing lists what of want is not in got. Elements of a list have to be there in order.
func missing(path string, got, want any) []string {
	var lost []string
	switch want := want.(type) {
	case nil:
	case map[string]any:
		fields, _ := got.(map[string]any) // that no object has any fields is right
		for _, name := range slices.Sorted(maps.Keys(want)) {
			lost = append(lost, missing(path+"."+name, fields[name], want[name])...)
		}
	case []any:
		rest, _ := got.([]any)
		for i, element := range want {
			at := slices.IndexFunc(rest, func(e any) bool { return len(missing("", e, element)) == 0 })
			if at < 0 {
				return append(lost, fmt.Sprintf("%s: got %s, want %s as number %d", path, asJSON(got), asJSON(element), i))
			}
			rest = rest[at+1:]
		}
	default:
		if got != want {
			lost = append(lost, fmt.Sprintf("%s: got %s, want %s", path, asJSON(got), asJSON(want)))
		}
	}
	return lost
}

// whole is what Observe has to show of a DaemonSet or ControllerRevision: all, because it
// is written back. Others may write to it, so its version may be another.
func whole[T Object](obj T) T {
	obj = copyOf(obj)
	obj.SetManagedFields(nil)
	obj.SetResourceVersion("")
	return obj
}

// readOfNode is what planning reads of a node.
func readOfNode(node *corev1.Node) *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: node.Name, UID: node.UID, Labels: node.Labels},
		Spec:       corev1.NodeSpec{Taints: node.Spec.Taints},
	}
}

// readOfPod is what planning reads of a pod, but for the node that it is meant for.
func readOfPod(pod *corev1.Pod) *corev1.Pod {
	read := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID, ResourceVersion: pod.ResourceVersion,
			CreationTimestamp: pod.CreationTimestamp, DeletionTimestamp: pod.DeletionTimestamp,
			Labels: pod.Labels, OwnerReferences: pod.OwnerReferences,
		},
		Spec:   corev1.PodSpec{NodeName: pod.Spec.NodeName},
		Status: corev1.PodStatus{Phase: pod.Status.Phase},
	}
	if ready := conditionOf(pod, corev1.PodReady); ready != nil {
		read.Status.Conditions = []corev1.PodCondition{{
			Type: ready.Type, Status: ready.Status, LastTransitionTime: ready.LastTransitionTime,
		}}
	}
	return read
}

// wantSeen checks that Observe shows of each object what planning reads.
func wantSeen[T Object](t *testing.T, seen []T, wanted ...T) {
	t.Helper()
	for _, want := range wanted {
		at := slices.IndexFunc(seen, func(obj T) bool { return obj.GetUID() == want.GetUID() })
		if at < 0 {
			continue // wantNames says so
		}
		wantRead(t, seen[at], want)
	}
}

func wantRead(t *testing.T, got, want any) {
	t.Helper()
	switch want := want.(type) {
	case *corev1.Node:
		wantKept(t, "node "+want.Name, got, readOfNode(want))
	case *corev1.Pod:
		wantKept(t, "pod "+want.Name, got, readOfPod(want))
		pod, _ := got.(*corev1.Pod) // of the same type
		wantNode, _ := placement.TargetNode(want)
		gotNode, _ := placement.TargetNode(pod)
		wantSame(t, "pod "+want.Name+": the node it is meant for", gotNode, wantNode)
	case *appsv1.ControllerRevision:
		wantKept(t, "revision "+want.Name, got, whole(want))
	case *appsv1.DaemonSet:
		wantKept(t, "DaemonSet "+want.Name, got, whole(want))
	}
}

// wantGiven checks that an object that was stored says all that was given.
func wantGiven[T Object](t *testing.T, what string, stored, give T) {
	t.Helper()
	give = copyOf(give)
	give.SetResourceVersion("")
	give.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	wantKept(t, what, stored, give)
}
