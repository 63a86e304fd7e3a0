package daemonset_test

import (
	"encoding/json"
	"iter"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/daemonplan/daemonplan/internal/conformance"
)

// corpusFile holds what the controller of Kubernetes v1.37.2 answered on generated
// snapshots; DAEMONPLAN_CORPUS names another file of the same form, compressed or not.
const corpusFile = "testdata/conformance/upstream-v1.37.2.jsonl.gz"

func TestUpstreamConformance(t *testing.T) {
	path := os.Getenv("DAEMONPLAN_CORPUS")
	if path == "" {
		path = corpusFile
	} else if _, err := os.Stat(path); err != nil && !filepath.IsAbs(path) {
		path = filepath.Join("..", path) // named from the root of the repository
	}
	var total, agree, unseen int
	for c := range readCorpus(t, path) {
		total++
		diff, unseenChoice := c.Compare()
		if unseenChoice != "" {
			unseen++
			t.Logf("%s: agrees, with a choice that upstream did not make in %d runs: %s", c.ID, c.Want.Runs, unseenChoice)
		}
		if diff == "" {
			agree++
			continue
		}
		t.Errorf("%s: differs (-upstream +plan):\n%s", c.ID, diff)
	}
	require.NotZero(t, total, "%s holds no case", path)
	t.Logf("%s: %d of %d cases agree, %d of them with a choice that upstream was not seen to make",
		filepath.Base(path), agree, total, unseen)
}

// TestConformanceNotices shows that the comparison is not blind: each answer of the corpus
// that is bent in one field must be found to differ.
func TestConformanceNotices(t *testing.T) {
	bends := map[string]func(w *conformance.Answer) bool{
		"createOnNodes": func(w *conformance.Answer) bool { w.CreateOnNodes.Count++; return true },
		"always": func(w *conformance.Answer) bool {
			w.DeletePods.Always = append(w.DeletePods.Always, "nobody")
			return true
		},
		"deletePods": func(w *conformance.Answer) bool { w.DeletePods.Count++; return true },
		"status": func(w *conformance.Answer) bool {
			if w.Status == nil {
				return false
			}
			w.Status.NumberReady += 7
			return true
		},
		"no status": func(w *conformance.Answer) bool { had := w.Status != nil; w.Status = nil; return had },
		"events":    func(w *conformance.Answer) bool { w.Events = append(w.Events, "Normal X"); return true },
		"revisionCreated": func(w *conformance.Answer) bool {
			if w.RevisionCreated == nil {
				return false
			}
			w.RevisionCreated.Hash += "x"
			return true
		},
		"revisionUpdated": func(w *conformance.Answer) bool {
			if len(w.RevisionUpdated) == 0 {
				return false
			}
			w.RevisionUpdated[0].Revision++
			return true
		},
		"revisionDeleted": func(w *conformance.Answer) bool { w.RevisionDeleted = append(w.RevisionDeleted, "x"); return true },
		"podPatched":      func(w *conformance.Answer) bool { w.PodPatched = append(w.PodPatched, "x"); return true },
		"revisionPatched": func(w *conformance.Answer) bool { w.RevisionPatched = append(w.RevisionPatched, "x"); return true },
		"requeueAfter":    func(w *conformance.Answer) bool { w.RequeueAfter = []string{"17s"}; return true },
		"createdTemplate": func(w *conformance.Answer) bool {
			if w.CreatedTemplate == nil {
				return false
			}
			w.CreatedTemplate.Spec.Tolerations = nil
			return true
		},
	}
	hits := map[string]int{}
	for c := range readCorpus(t, corpusFile) {
		if c.Want.Error != "" {
			continue
		}
		for name, bend := range bends {
			bent := c
			raw, err := json.Marshal(c.Want)
			require.NoError(t, err)
			bent.Want = conformance.Answer{}
			require.NoError(t, json.Unmarshal(raw, &bent.Want))
			if !bend(&bent.Want) {
				continue
			}
			hits[name]++
			if diff, _ := bent.Compare(); diff == "" {
				t.Errorf("%s: a wrong %s went unnoticed", c.ID, name)
			}
		}
		if total := len(hits); total == len(bends) && hits["revisionUpdated"] > 5 && hits["createdTemplate"] > 5 {
			break
		}
	}
	require.Len(t, hits, len(bends), "every kind of bend must have been tried")
}

func readCorpus(t *testing.T, path string) iter.Seq[conformance.Case] {
	t.Helper()
	return func(yield func(conformance.Case) bool) {
		for c, err := range conformance.Read(path) {
			require.NoError(t, err)
			if !yield(c) {
				return
			}
		}
	}
}
