package command

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/daemonplan/daemonplan/daemonset"
	"k8s.io/apimachinery/pkg/types"
)

// planPath is below which plans are served.
const planPath = "/plans"

// handler serves plans, and passes everything else on to next.
func handler(next http.Handler, kept *plans) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", next)
	mux.HandleFunc("GET "+planPath, func(w http.ResponseWriter, r *http.Request) { serveList(w, r, kept) })
	mux.HandleFunc("GET "+planPath+"/{namespace}/{name}", func(w http.ResponseWriter, r *http.Request) { servePlan(w, r, kept) })
	return mux
}

// summary is an entry of the list.
type summary struct {
	Namespace string    `json:"namespace"`
	Name      string    `json:"name"`
	Made      time.Time `json:"made,omitzero"`   // the plan
	Passed    time.Time `json:"passed,omitzero"` // the latest pass
	Creates   int       `json:"creates"`
	Deletes   int       `json:"deletes"`
	Empty     bool      `json:"empty"`             // there is nothing to apply
	Problem   string    `json:"problem,omitempty"` // of the latest pass
}

// full is an entry with its plan.
type full struct {
	summary
	Plan *daemonset.Plan `json:"plan,omitempty"` // nil if no pass has come to one
}

func summarize(r entry) summary {
	s := summary{
		Namespace: r.key.Namespace, Name: r.key.Name, Made: r.made, Passed: r.passed,
		Creates: len(r.plan.Creates), Deletes: len(r.plan.Deletes), Empty: !r.made.IsZero() && r.plan.Empty(),
	}
	switch {
	case r.err != nil:
		s.Problem = r.err.Error()
	case r.stale != nil:
		s.Problem = r.stale.Error()
	}
	return s
}

func serveList(w http.ResponseWriter, r *http.Request, kept *plans) {
	list := []summary{} // not null in JSON
	for _, entry := range kept.list() {
		list = append(list, summarize(entry))
	}
	if wantsJSON(r) {
		writeJSON(w, http.StatusOK, map[string]any{"items": list})
		return
	}
	setText(w)
	if len(list) == 0 {
		fmt.Fprintln(w, "No plan was made yet. A replica that is not the leader makes none.")
		return
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "NAMESPACE\tNAME\tMADE\tCREATES\tDELETES\tEMPTY\tPROBLEM")
	for _, s := range list {
		fmt.Fprintf(table, "%s\t%s\t%s\t%d\t%d\t%t\t%s\n", s.Namespace, s.Name, instant(s.Made), s.Creates, s.Deletes, s.Empty, firstLine(s.Problem))
	}
	_ = table.Flush() // a client that went away
}

func servePlan(w http.ResponseWriter, r *http.Request, kept *plans) {
	key := types.NamespacedName{Namespace: r.PathValue("namespace"), Name: r.PathValue("name")}
	found, ok := kept.get(key)
	if !ok {
		refuse(w, r, fmt.Sprintf("no pass was made here for %s: there is no such DaemonSet, it is of another class, or this replica is not the leader", key))
		return
	}
	answer := full{summary: summarize(found)}
	if !found.made.IsZero() {
		answer.Plan = &found.plan
	}
	if wantsJSON(r) {
		writeJSON(w, http.StatusOK, answer)
		return
	}
	setText(w)
	fmt.Fprintf(w, "made  %s\n", instant(answer.Made))
	fmt.Fprintf(w, "pass  %s\n", instant(answer.Passed))
	for line := range strings.SplitSeq(answer.Problem, "\n") {
		if line != "" {
			fmt.Fprintf(w, "problem  %s\n", line)
		}
	}
	if answer.Plan != nil {
		_, _ = io.WriteString(w, daemonset.Describe(*answer.Plan)) // a client may have gone away
	}
}

func refuse(w http.ResponseWriter, r *http.Request, problem string) {
	if wantsJSON(r) {
		writeJSON(w, http.StatusNotFound, map[string]string{"error": problem})
		return
	}
	setText(w)
	w.WriteHeader(http.StatusNotFound)
	fmt.Fprintln(w, problem)
}

// wantsJSON goes by ?format=, and without it by the Accept header.
func wantsJSON(r *http.Request) bool {
	if format := r.URL.Query().Get("format"); format != "" {
		return format == formatJSON
	}
	return strings.Contains(r.Header.Get("Accept"), "application/json")
}

func writeJSON(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value) // a client that went away
}

func setText(w http.ResponseWriter) { w.Header().Set("Content-Type", "text/plain; charset=utf-8") }

func instant(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format(time.RFC3339)
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
