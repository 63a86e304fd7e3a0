package fake

import (
	"encoding/json"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemonplan/daemonplan/daemonset"
)

func podClauses() []clause {
	return []clause{
		{"CreatePod/returns the pod as stored, named by the server", checkCreatePod},
		{"CreatePod/a name that is taken is AlreadyExists", checkCreatePodTwice},
		{"PatchPod/merges into the metadata", checkPatchPod},
		{"PatchPod/adopts and releases", checkAdoptPod},
		{"PatchPod/another resource version is a Conflict", checkPatchStalePod},
		{"PatchPod/never touches a successor", func(c *contract) {
			t := c.t
			c.checkRef(t, podRef(t, c), func(ref daemonset.Ref) error {
				_, err := c.api.PatchPod(t.Context(), ref, []byte(`{"metadata":{"labels":{"touched":"yes"}}}`))
				return err
			})
		}},
		{"PatchPod/never touches a successor, also if the patch names the UID", func(c *contract) {
			t := c.t
			c.checkRef(t, podRef(t, c), func(ref daemonset.Ref) error {
				_, err := c.api.PatchPod(t.Context(), ref, touch(ref))
				return err
			})
		}},
		{"DeletePod/asks for deletion, and again", checkDeletePod},
		{"DeletePod/lets the pod have its grace period", checkDeleteGrace},
		{"DeletePod/never touches a successor", func(c *contract) {
			t := c.t
			c.checkRef(t, podRef(t, c), func(ref daemonset.Ref) error { return c.api.DeletePod(t.Context(), ref) })
		}},
	}
}

func checkCreatePod(c *contract) {
	t := c.t
	set := c.set(t)
	give := c.richPod("", "absent", set)
	give.GenerateName = "agent-"
	before := give.DeepCopy()
	first, err := c.api.CreatePod(t.Context(), give)
	must(t, "CreatePod", err)
	wantSame(t, "the pod that was given", give, before)
	if !strings.HasPrefix(first.Name, "agent-") || len(first.Name) <= len("agent-") {
		t.Errorf("got name %q, want agent- and a suffix", first.Name)
	}
	if first.UID == "" || first.ResourceVersion == "" {
		t.Errorf("got UID %q and resource version %q, want both", first.UID, first.ResourceVersion)
	}
	wantGiven(t, "what was returned", first, give)
	wantGiven(t, "what is stored", c.storedPod(t, first), give)
	second, err := c.api.CreatePod(t.Context(), give)
	must(t, "CreatePod of the same object", err)
	if second.Name == first.Name || second.UID == first.UID {
		t.Errorf("got %s (%s) twice, want another pod", second.Name, second.UID)
	}
	c.Sync(t)
	wantNames(t, "pods", c.observe(t).Pods, first.Name, second.Name)
}

func checkCreatePodTwice(c *contract) {
	t := c.t
	set := c.set(t)
	first, err := c.api.CreatePod(t.Context(), c.pod("one", set))
	must(t, "CreatePod", err)
	_, err = c.api.CreatePod(t.Context(), c.pod("one", set))
	wantAlreadyExists(t, "CreatePod of the same name", err)
	c.Sync(t)
	if got := c.seenPod(t); got == nil || got.UID != first.UID {
		t.Errorf("got %v, want the first pod untouched", got)
	}
}

func checkPatchPod(c *contract) {
	t := c.t
	c.set(t)
	give := c.pod("one", nil)
	give.Labels["keep"], give.Labels["drop"] = "1", "1"
	stored := create(t, c, give)
	patch := []byte(`{"metadata":{"labels":{"drop":null,"add":"1"}}}`)
	for _, what := range []string{"PatchPod", "PatchPod again"} {
		got, err := c.api.PatchPod(t.Context(), refOf(stored), patch)
		must(t, what, err)
		wantSame(t, what+": labels", got.Labels, map[string]string{"app": "agent", "keep": "1", "add": "1"})
		wantSame(t, what+": spec", got.Spec, stored.Spec)
		if got.UID != stored.UID {
			t.Errorf("%s: got UID %s, want %s", what, got.UID, stored.UID)
		}
	}
	c.Sync(t)
	if got := c.seenPod(t); got == nil || got.Labels["add"] != "1" {
		t.Errorf("got %v, want the label to be stored", got)
	}
}

func checkAdoptPod(c *contract) {
	t := c.t
	set := c.set(t)
	stored := create(t, c, c.pod("one", nil))
	c.checkOwners(t, set, func(patch []byte) []metav1.OwnerReference {
		got, err := c.api.PatchPod(t.Context(), refOf(stored), patch)
		must(t, "PatchPod", err)
		wantSame(t, "what is stored: owner references", c.storedPod(t, stored).OwnerReferences, got.OwnerReferences)
		return got.OwnerReferences
	})
}

// checkOwners adopts an object without owners and releases it again, alone and beside
// another owner. A list in a JSON merge patch replaces the stored one, also if it is empty.
func (c *contract) checkOwners(t *testing.T, set *appsv1.DaemonSet, patch func(patch []byte) []metav1.OwnerReference) {
	t.Helper()
	other := create(t, c, c.revision("another-owner", nil)) // that is there, or the garbage collector would see to it
	beside := metav1.OwnerReference{APIVersion: appsv1.SchemeGroupVersion.String(), Kind: string(RevisionKind), Name: other.Name, UID: other.UID}
	for _, step := range []struct {
		what   string
		owners []metav1.OwnerReference
	}{
		{"after the adoption", []metav1.OwnerReference{controller(set)}},
		{"after the release", []metav1.OwnerReference{}},
		{"after the adoption beside another owner", []metav1.OwnerReference{beside, controller(set)}},
		{"after the release, which leaves the other owner", []metav1.OwnerReference{beside}},
		{"after the release by the other owner", []metav1.OwnerReference{}},
	} {
		wantSame(t, "owner references "+step.what, patch(ownersPatch(t, step.owners)), step.owners)
	}
}

// checkPatchStalePod patches as the Driver does when it adopts: the list of owners replaces
// the stored one, so the object must be as it was seen.
func checkPatchStalePod(c *contract) {
	t := c.t
	c.set(t)
	stale := create(t, c, c.pod("one", nil))
	_, err := c.api.PatchPod(t.Context(), refOf(stale), []byte(`{"metadata":{"labels":{"first":"1"}}}`))
	must(t, "PatchPod", err)
	_, err = c.api.PatchPod(t.Context(), refOf(stale), []byte(`{"metadata":{"resourceVersion":"`+stale.ResourceVersion+`","labels":{"second":"1"}}}`))
	wantConflict(t, "PatchPod at an old resource version", err)
	c.Sync(t)
	if got := c.seenPod(t); got == nil || got.Labels["first"] == "" || got.Labels["second"] != "" {
		t.Errorf("got %v, want only the first patch to have had an effect", got)
	}
}

func checkDeletePod(c *contract) {
	t := c.t
	set := c.set(t)
	stored, err := c.api.CreatePod(t.Context(), c.pod("one", set))
	must(t, "CreatePod", err)
	must(t, "DeletePod", c.api.DeletePod(t.Context(), refOf(stored)))
	if err := c.api.DeletePod(t.Context(), refOf(stored)); err != nil && !apierrors.IsNotFound(err) {
		t.Errorf("DeletePod again: got %v, want nothing or NotFound", err)
	}
	c.Sync(t)
	if got := c.seenPod(t); got != nil && got.DeletionTimestamp == nil {
		t.Error("the pod is there as if it had not been deleted")
	}
}

// checkDeleteGrace has a bound pod, because one that is not goes at once. A finalizer keeps
// one that gets no time from being gone.
func checkDeleteGrace(c *contract) {
	t := c.t
	give := c.richPod("one", "", c.set(t))
	give.Spec.Affinity = nil
	give.Spec.NodeName = c.node(t, "bound", corev1.NodeSpec{}).Name
	give.Finalizers = []string{"example.com/contract"}
	stored := create(t, c, give)
	must(t, "DeletePod", c.api.DeletePod(t.Context(), refOf(stored)))
	got, err := c.api.PatchPod(t.Context(), refOf(stored), []byte(`{"metadata":{"finalizers":null}}`))
	switch {
	case err != nil:
		t.Errorf("PatchPod, which looks at the pod: got %v, want the pod with a deletionTimestamp", err)
	case got.DeletionTimestamp == nil:
		t.Error("the pod is there as if it had not been deleted")
	case got.DeletionGracePeriodSeconds == nil || *got.DeletionGracePeriodSeconds != ownGrace:
		t.Errorf("got a grace period of %s s, want that of the pod, %d s", asJSON(got.DeletionGracePeriodSeconds), ownGrace)
	}
}

// podRef makes a pod that checkRef can replace.
func podRef(t *testing.T, c *contract) replaceable {
	t.Helper()
	c.set(t)
	stored := create(t, c, c.pod("one", nil))
	return replaceable{
		ref: refOf(stored),
		replace: func() {
			c.Remove(t, stored)
			create(t, c, c.pod("one", nil))
		},
		remove: func() {
			c.Sync(t)
			if successor := c.seenPod(t); successor != nil {
				c.Remove(t, successor)
			}
		},
		touched: func() bool {
			c.Sync(t)
			successor := c.seenPod(t)
			return successor == nil || successor.DeletionTimestamp != nil || successor.Labels["touched"] != ""
		},
	}
}

func (c *contract) seenPod(t *testing.T) *corev1.Pod {
	t.Helper()
	for _, pod := range c.observe(t).Pods {
		if pod.Name == "one" {
			return pod
		}
	}
	return nil
}

// touch is a patch of the kind that the Driver makes.
func touch(ref daemonset.Ref) []byte {
	return []byte(`{"metadata":{"uid":"` + string(ref.UID) + `","labels":{"touched":"yes"}}}`)
}

func ownersPatch(t *testing.T, owners []metav1.OwnerReference) []byte {
	t.Helper()
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"ownerReferences": owners}})
	must(t, "json.Marshal", err)
	return patch
}
