package controllerruntime

import (
	"context"
	"unicode/utf8"

	"github.com/daemonplan/daemonplan/daemonset"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	eventAction  = "Reconcile" // events.k8s.io/v1 requires one
	maxEventNote = 1024        // bytes; an API server refuses an event with more
)

// RecordEvent implements clusterapi.Writer. A note that an API server would find too long is
// cut.
func (a *API) RecordEvent(_ context.Context, about daemonset.Ref, event daemonset.Event) {
	if a.recorder == nil {
		return
	}
	set := &appsv1.DaemonSet{
		TypeMeta:   metav1.TypeMeta{APIVersion: appsv1.SchemeGroupVersion.String(), Kind: string(daemonset.DaemonSetKind)},
		ObjectMeta: metav1.ObjectMeta{Namespace: about.Namespace, Name: about.Name, UID: about.UID},
	}
	a.recorder.Eventf(set, nil, event.Type, event.Reason, eventAction, "%s", cut(event.Note, maxEventNote))
}

// cut shortens text to at most limit bytes, and does not split a character.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}
