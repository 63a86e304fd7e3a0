package fake

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemonplan/daemonplan/daemonset"
)

func revisionClauses() []clause {
	return []clause{
		{"CreateRevision/returns the revision as stored", checkCreateRevision},
		{"UpdateRevision/replaces the revision", checkUpdateRevision},
		{"UpdateRevision/another resource version is a Conflict", checkUpdateStaleRevision},
		{"UpdateRevision/never touches a successor", checkUpdateRevisionSuccessor},
		{"PatchRevision/merges into the metadata", checkPatchRevision},
		{"PatchRevision/adopts and releases", checkAdoptRevision},
		{"PatchRevision/another resource version is a Conflict", checkPatchStaleRevision},
		{"PatchRevision/never touches a successor", func(c *contract) {
			t := c.t
			c.checkRef(t, revisionRef(t, c), func(ref daemonset.Ref) error {
				_, err := c.api.PatchRevision(t.Context(), ref, []byte(`{"metadata":{"labels":{"touched":"yes"}}}`))
				return err
			})
		}},
		{"PatchRevision/never touches a successor, also if the patch names the UID", func(c *contract) {
			t := c.t
			c.checkRef(t, revisionRef(t, c), func(ref daemonset.Ref) error {
				_, err := c.api.PatchRevision(t.Context(), ref, touch(ref))
				return err
			})
		}},
		{"DeleteRevision/removes the revision", checkDeleteRevision},
		{"DeleteRevision/never touches a successor", func(c *contract) {
			t := c.t
			c.checkRef(t, revisionRef(t, c), func(ref daemonset.Ref) error { return c.api.DeleteRevision(t.Context(), ref) })
		}},
	}
}

func checkCreateRevision(c *contract) {
	t := c.t
	set := c.set(t)
	give := c.richRevision("one", set)
	before := give.DeepCopy()
	stored, err := c.api.CreateRevision(t.Context(), give)
	must(t, "CreateRevision", err)
	wantSame(t, "the revision that was given", give, before)
	if stored.UID == "" || stored.ResourceVersion == "" {
		t.Errorf("got UID %q and resource version %q, want both", stored.UID, stored.ResourceVersion)
	}
	wantGiven(t, "what was returned", stored, give)
	live, err := c.api.Revision(t.Context(), keyOf(give))
	must(t, "Revision", err)
	wantGiven(t, "what is stored", live, give)
	_, err = c.api.CreateRevision(t.Context(), c.revision("one", nil))
	wantAlreadyExists(t, "CreateRevision of a name that is taken", err)
}

func checkUpdateRevision(c *contract) {
	t := c.t
	stored := create(t, c, c.richRevision("one", nil))
	give := stored.DeepCopy()
	give.Revision = 9
	give.Labels = map[string]string{"new": "1"}
	give.Annotations["new"] = "1"
	before := give.DeepCopy()
	got, err := c.api.UpdateRevision(t.Context(), give)
	must(t, "UpdateRevision", err)
	wantSame(t, "the revision that was given", give, before)
	if got.ResourceVersion == stored.ResourceVersion {
		t.Errorf("got version %s, want another one than before", got.ResourceVersion)
	}
	live, err := c.api.Revision(t.Context(), keyOf(stored))
	must(t, "Revision", err)
	for _, r := range []struct {
		what     string
		revision *appsv1.ControllerRevision
	}{{"what was returned", got}, {"what is stored", live}} {
		wantGiven(t, r.what, r.revision, give)
		wantSame(t, r.what+": labels", r.revision.Labels, give.Labels)
	}
}

// checkUpdateRevisionSuccessor also gives the successor's version, as who looked it up would.
func checkUpdateRevisionSuccessor(c *contract) {
	t := c.t
	gone := create(t, c, c.revision("one", nil))
	c.Remove(t, gone)
	successor := create(t, c, c.revision("one", nil))
	for _, version := range []string{gone.ResourceVersion, successor.ResourceVersion} {
		give := gone.DeepCopy()
		give.ResourceVersion = version
		give.Revision = 9
		_, err := c.api.UpdateRevision(t.Context(), give)
		wantConflict(t, "UpdateRevision of one that has a successor", err)
	}
	live, err := c.api.Revision(t.Context(), keyOf(successor))
	must(t, "Revision", err)
	wantSame(t, "number of the successor", live.Revision, successor.Revision)
}

func checkUpdateStaleRevision(c *contract) {
	t := c.t
	stale := create(t, c, c.revision("one", nil))
	first := stale.DeepCopy()
	first.Revision = 2
	current, err := c.api.UpdateRevision(t.Context(), first)
	must(t, "UpdateRevision", err)
	stale.Revision = 3
	_, err = c.api.UpdateRevision(t.Context(), stale)
	wantConflict(t, "UpdateRevision at an old resource version", err)
	got, err := c.api.Revision(t.Context(), keyOf(current))
	must(t, "Revision", err)
	if got.Revision != 2 {
		t.Errorf("got number %d, want the refused write to have no effect", got.Revision)
	}
}

func checkPatchRevision(c *contract) {
	t := c.t
	give := c.revision("one", nil)
	give.Labels = map[string]string{"keep": "1", "drop": "1"}
	stored := create(t, c, give)
	for _, what := range []string{"PatchRevision", "PatchRevision again"} {
		got, err := c.api.PatchRevision(t.Context(), refOf(stored), []byte(`{"metadata":{"labels":{"drop":null,"add":"1"}}}`))
		must(t, what, err)
		wantSame(t, what+": labels", got.Labels, map[string]string{"keep": "1", "add": "1"})
		if got.UID != stored.UID || got.Revision != stored.Revision {
			t.Errorf("%s: got %s number %d, want nothing else changed", what, got.UID, got.Revision)
		}
		wantSame(t, what+": data", got.Data, stored.Data)
	}
}

func checkAdoptRevision(c *contract) {
	t := c.t
	set := c.set(t)
	stored := create(t, c, c.revision("one", nil))
	c.checkOwners(t, set, func(patch []byte) []metav1.OwnerReference {
		got, err := c.api.PatchRevision(t.Context(), refOf(stored), patch)
		must(t, "PatchRevision", err)
		live, err := c.api.Revision(t.Context(), keyOf(stored))
		must(t, "Revision", err)
		wantSame(t, "what is stored: owner references", live.OwnerReferences, got.OwnerReferences)
		return got.OwnerReferences
	})
}

func checkPatchStaleRevision(c *contract) {
	t := c.t
	stale := create(t, c, c.revision("one", nil))
	_, err := c.api.PatchRevision(t.Context(), refOf(stale), []byte(`{"metadata":{"labels":{"first":"1"}}}`))
	must(t, "PatchRevision", err)
	_, err = c.api.PatchRevision(t.Context(), refOf(stale), []byte(`{"metadata":{"resourceVersion":"`+stale.ResourceVersion+`","labels":{"second":"1"}}}`))
	wantConflict(t, "PatchRevision at an old resource version", err)
	got, err := c.api.Revision(t.Context(), keyOf(stale))
	must(t, "Revision", err)
	wantSame(t, "labels", got.Labels, map[string]string{"first": "1"})
}

func checkDeleteRevision(c *contract) {
	t := c.t
	stored := create(t, c, c.revision("one", nil))
	must(t, "DeleteRevision", c.api.DeleteRevision(t.Context(), refOf(stored)))
	_, err := c.api.Revision(t.Context(), keyOf(stored))
	wantNotFound(t, "Revision of one that was deleted", err)
}

// revisionRef makes a revision that checkRef can replace.
func revisionRef(t *testing.T, c *contract) replaceable {
	t.Helper()
	stored := create(t, c, c.revision("one", nil))
	live := func() *appsv1.ControllerRevision {
		successor, err := c.api.Revision(t.Context(), keyOf(stored))
		if err != nil {
			return nil
		}
		return successor
	}
	return replaceable{
		ref: refOf(stored),
		replace: func() {
			c.Remove(t, stored)
			create(t, c, c.revision("one", nil))
		},
		remove: func() {
			if successor := live(); successor != nil {
				c.Remove(t, successor)
			}
		},
		touched: func() bool {
			successor := live()
			return successor == nil || successor.Labels["touched"] != ""
		},
	}
}
