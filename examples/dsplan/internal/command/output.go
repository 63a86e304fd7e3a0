package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/placement"
)

// maxMessage is how much of an error is printed. It may quote what is wrong, which may be
// as large as the dump.
const maxMessage = 800

func message(err error) string {
	text := err.Error()
	if len(text) <= maxMessage {
		return text
	}
	return fmt.Sprintf("%s... (%d bytes more)", strings.ToValidUTF8(text[:maxMessage], ""), len(text)-maxMessage)
}

// renderText is a view of a plan for people, under a title; empty if the view shows nothing.
func renderText(v view, o outcome, title string) string {
	if o.err != nil {
		return fmt.Sprintf("# %s\nerror: %s\n", title, message(o.err))
	}
	text := v.text(o)
	if text == "" {
		return ""
	}
	return fmt.Sprintf("# %s\n%s", title, text)
}

// renderJSON is a value as one line.
func renderJSON(value any) ([]byte, error) {
	var line bytes.Buffer
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return line.Bytes(), err
}

// result is what plan -o json prints for each DaemonSet. Every field is always there, and
// lists are never null; only Error is left out when there is a plan.
type result struct {
	DaemonSet     string                 `json:"daemonSet"`
	Revision      revisionResult         `json:"revision"`
	Creates       []createResult         `json:"creates"`
	Deletes       []deleteResult         `json:"deletes"`
	Adopts        []string               `json:"adopts"`
	Releases      []string               `json:"releases"`
	Relabels      []string               `json:"relabels"`
	Status        appsv1.DaemonSetStatus `json:"status"`
	StatusChanged bool                   `json:"statusChanged"`
	Events        []eventResult          `json:"events"`
	Deferred      deferredResult         `json:"deferred"`
	RequeueAfter  string                 `json:"requeueAfter"`
	Nodes         []nodeResult           `json:"nodes"`
	Error         string                 `json:"error,omitempty"`
}

type revisionResult struct {
	Name    string   `json:"name"`
	Hash    string   `json:"hash"`
	Number  int64    `json:"number"`
	Action  string   `json:"action"` // none, create or update
	Deletes []string `json:"deletes"`
}

type createResult struct {
	Node   string           `json:"node"`
	Reason daemonset.Reason `json:"reason"`
}

type deleteResult struct {
	Pod    string           `json:"pod"`
	Node   string           `json:"node"`
	Reason daemonset.Reason `json:"reason"`
}

type eventResult struct {
	Type    string `json:"type"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

type deferredResult struct {
	Creates int `json:"creates"`
	Deletes int `json:"deletes"`
}

type nodeResult struct {
	Name     string              `json:"name"`
	Decision string              `json:"decision"`
	Reason   daemonset.Reason    `json:"reason"`
	Findings []placement.Finding `json:"findings"`
}

func project(o outcome) result {
	plan := o.plan
	r := result{
		DaemonSet:     setName(o.set),
		Revision:      projectRevision(plan),
		Adopts:        claimed(plan.Claims, func(c daemonset.Claim) bool { return c.Adopt }),
		Releases:      claimed(plan.Claims, func(c daemonset.Claim) bool { return !c.Adopt }),
		StatusChanged: plan.Status != nil,
		Deferred:      deferredResult(plan.Deferred),
	}
	r.Creates = each(plan.Creates, func(c daemonset.Create) createResult {
		return createResult{Node: c.Node, Reason: c.Reason}
	})
	r.Deletes = each(plan.Deletes, func(d daemonset.Delete) deleteResult {
		return deleteResult{Pod: d.Pod.Name, Node: d.Node, Reason: d.Reason}
	})
	r.Relabels = each(plan.Relabels, func(l daemonset.Relabel) string { return l.Pod.Name })
	r.Events = each(plan.Events, func(e daemonset.Event) eventResult {
		return eventResult{Type: e.Type, Reason: e.Reason, Message: e.Note}
	})
	r.Nodes = each(plan.Nodes, projectNode)
	if o.err != nil {
		r.Error = message(o.err)
		return r
	}
	r.Status = o.set.Objects.DaemonSet.Status
	if plan.Status != nil {
		r.Status = *plan.Status
	}
	if !plan.Next.IsZero() {
		r.RequeueAfter = plan.Next.Sub(o.now).String()
	}
	return r
}

// projectRevision tells what happens to the current revision, and what goes.
func projectRevision(plan daemonset.Plan) revisionResult {
	r := revisionResult{
		Name:    plan.Revision.Name,
		Hash:    plan.Revision.Hash,
		Number:  plan.Revision.Number,
		Action:  "none",
		Deletes: []string{},
	}
	for _, change := range plan.Revisions {
		switch {
		case change.Op == daemonset.DeleteRevision:
			r.Deletes = append(r.Deletes, change.Revision.Name)
		case change.Revision.Name == plan.Revision.Name:
			r.Action = change.Op.String()
		}
	}
	return r
}

func projectNode(n daemonset.NodeReport) nodeResult {
	return nodeResult{
		Name:     n.Name,
		Decision: n.Verdict.Decision.String(),
		Reason:   n.Reason,
		Findings: each(n.Verdict.Findings, func(f placement.Finding) placement.Finding { return f }),
	}
}

// claimed names what is claimed in one of the two ways.
func claimed(claims []daemonset.Claim, wanted func(daemonset.Claim) bool) []string {
	names := []string{}
	for _, c := range claims {
		if wanted(c) {
			names = append(names, c.Ref.Name)
		}
	}
	return names
}

// each converts a list; the result is never nil.
func each[From, To any](list []From, convert func(From) To) []To {
	converted := make([]To, 0, len(list))
	for _, element := range list {
		converted = append(converted, convert(element))
	}
	return converted
}
