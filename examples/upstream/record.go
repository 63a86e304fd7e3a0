package upstream

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/internal/conformance"
	"github.com/daemonplan/daemonplan/placement"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"
)

// Record makes one pass of the stock controller over a snapshot and notes what it did.
func Record(ctx context.Context, id string, s daemonset.Snapshot, burst int) (conformance.Case, error) {
	c := conformance.Case{ID: id, Now: s.Now, Burst: burst, Snapshot: s.Objects, Backoff: s.Backoff}
	stock, err := New(ctx, s, burst)
	if err != nil {
		return c, err
	}
	if err := stock.Sync(ctx); err != nil {
		c.Want.Error = err.Error()
	}
	c.Want.Runs = 1
	for _, action := range stock.client.Actions() {
		note(&c.Want, action)
	}
	close(stock.events)
	for text := range stock.events {
		// The recorder writes "Type Reason message".
		words := strings.SplitN(text, " ", 3)
		c.Want.Events = append(c.Want.Events, words[0]+" "+words[1])
	}
	for _, delay := range stock.queue.after {
		c.Want.RequeueAfter = append(c.Want.RequeueAfter, delay.String())
	}
	if created := c.Want.RevisionCreated; created != nil && named(s.Objects.Revisions, created.Name) {
		c.Want.RevisionCreated = nil // tried, and refused because the name is taken
	}
	settle(&c.Want)
	return c, nil
}

func named(revisions []*appsv1.ControllerRevision, name string) bool {
	return slices.ContainsFunc(revisions, func(r *appsv1.ControllerRevision) bool { return r.Name == name })
}

// note adds one write to the answer.
func note(a *conformance.Answer, action clienttesting.Action) {
	switch resource := action.GetResource().Resource; {
	case resource == "pods":
		notePod(a, action)
	case resource == "controllerrevisions":
		noteRevision(a, action)
	case resource == "daemonsets" && action.Matches("update", "daemonsets/status"):
		set := objectOf(action).(*appsv1.DaemonSet)
		a.Status = &set.Status
	}
}

func notePod(a *conformance.Answer, action clienttesting.Action) {
	switch action := action.(type) {
	case clienttesting.CreateAction:
		pod := action.GetObject().(*corev1.Pod)
		node, _ := placement.TargetNode(pod)
		a.CreateOnNodes.Ever = append(a.CreateOnNodes.Ever, node)
		if a.CreatedTemplate == nil {
			a.CreatedNode = node
			a.CreatedTemplate = &corev1.PodTemplateSpec{ObjectMeta: pod.ObjectMeta, Spec: pod.Spec}
			a.CreatedTemplate.GenerateName, a.CreatedTemplate.Namespace, a.CreatedTemplate.OwnerReferences = "", "", nil
		}
	case clienttesting.PatchAction:
		a.PodPatched = append(a.PodPatched, action.GetName())
	case clienttesting.DeleteAction:
		a.DeletePods.Ever = append(a.DeletePods.Ever, action.GetName())
	}
}

func noteRevision(a *conformance.Answer, action clienttesting.Action) {
	switch action := action.(type) {
	case clienttesting.CreateAction:
		if action.GetVerb() == "update" {
			a.RevisionUpdated = append(a.RevisionUpdated, revisionOf(action))
			return
		}
		created := revisionOf(action)
		a.RevisionCreated = &created
	case clienttesting.PatchAction:
		a.RevisionPatched = append(a.RevisionPatched, action.GetName())
	case clienttesting.DeleteAction:
		a.RevisionDeleted = append(a.RevisionDeleted, action.GetName())
	}
}

func revisionOf(action clienttesting.Action) conformance.Revision {
	r := objectOf(action).(*appsv1.ControllerRevision)
	return conformance.Revision{Name: r.Name, Revision: r.Revision, Hash: r.Labels[appsv1.ControllerRevisionHashLabelKey]}
}

func objectOf(action clienttesting.Action) runtime.Object {
	holder, ok := action.(interface{ GetObject() runtime.Object })
	if !ok {
		panic(fmt.Sprintf("%T carries no object", action))
	}
	return holder.GetObject()
}

// settle brings the answer into the form of the corpus.
func settle(a *conformance.Answer) {
	for _, choice := range []*conformance.Choice{&a.CreateOnNodes, &a.DeletePods} {
		slices.Sort(choice.Ever)
		choice.Count = len(choice.Ever)
		choice.Always = choice.Ever
	}
	slices.Sort(a.Events)
	slices.Sort(a.RevisionDeleted)
}
