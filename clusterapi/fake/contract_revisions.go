package fake

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/daemonplan/daemonplan/daemonset"
)

func revisionClauses() []clause {
	return []clause{
		{"CreateRevision/returns the revision as stored", checkCreateRevision},
		{"UpdateRevision/replaces the revision", checkUpdateRevision},
		{"UpdateRevision/another resource version is a Conflict", checkUpdateStaleRevision},
		{"PatchRevision/merges into the metadata", checkPatchRevision},
		{"PatchRevision/another resource version is a Conflict", checkPatchStaleRevision},
		{"PatchRevision/never touches a successor", func(c *contract) {
			t := c.t
			c.checkRef(t, revisionRef(t, c), func(ref daemonset.Ref) error {
				_, err := c.api.PatchRevision(t.Context(), ref, []byte(`{"metadata":{"labels":{"touched":"yes"}}}`))
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
	give := c.revision("one", set)
	before := give.DeepCopy()
	stored, err := c.api.CreateRevision(t.Context(), give)
	must(t, "CreateRevision", err)
	wantSame(t, "the revision that was given", give, before)
	if stored.UID == "" || stored.ResourceVersion == "" {
		t.Errorf("got UID %q and resource version %q, want both", stored.UID, stored.ResourceVersion)
	}
	if stored.Name != "one" || stored.Revision != give.Revision {
		t.Errorf("got %s number %d, want one number %d", stored.Name, stored.Revision, give.Revision)
	}
	wantSame(t, "owner references", stored.OwnerReferences, give.OwnerReferences)
	_, err = c.api.CreateRevision(t.Context(), c.revision("one", nil))
	wantAlreadyExists(t, "CreateRevision of a name that is taken", err)
}

func checkUpdateRevision(c *contract) {
	t := c.t
	stored := create(t, c, c.revision("one", nil))
	give := stored.DeepCopy()
	give.Revision = 9
	give.Labels = map[string]string{"new": "1"}
	before := give.DeepCopy()
	got, err := c.api.UpdateRevision(t.Context(), give)
	must(t, "UpdateRevision", err)
	wantSame(t, "the revision that was given", give, before)
	wantSame(t, "labels", got.Labels, give.Labels)
	if got.Revision != 9 || got.ResourceVersion == stored.ResourceVersion {
		t.Errorf("got number %d at %s, want 9 at another version than before", got.Revision, got.ResourceVersion)
	}
	again, err := c.api.Revision(t.Context(), keyOf(stored))
	must(t, "Revision", err)
	wantSame(t, "what is stored", again.Revision, int64(9))
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
	}
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
