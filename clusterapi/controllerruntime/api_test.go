package controllerruntime_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	crfake "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/daemonplan/daemonplan/clusterapi/controllerruntime"
)

var podRef = daemonset.Ref{Namespace: "ns", Name: "pod", UID: "pod"}

// sink is an API whose writes go nowhere, and what they were.
type sink struct {
	*controllerruntime.API

	patches []string
	deletes []client.DeleteOptions
}

func newSink(t *testing.T, answer error) *sink {
	t.Helper()
	s := &sink{}
	c := crfake.NewClientBuilder().WithScheme(scheme.Scheme).WithInterceptorFuncs(interceptor.Funcs{
		Patch: func(_ context.Context, _ client.WithWatch, obj client.Object, patch client.Patch, _ ...client.PatchOption) error {
			data, err := patch.Data(obj)
			require.NoError(t, err)
			require.Equal(t, types.MergePatchType, patch.Type())
			s.patches = append(s.patches, string(data))
			return answer
		},
		Delete: func(_ context.Context, _ client.WithWatch, _ client.Object, options ...client.DeleteOption) error {
			given := client.DeleteOptions{}
			given.ApplyOptions(options)
			s.deletes = append(s.deletes, given)
			return answer
		},
		Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error { return answer },
		Update: func(context.Context, client.WithWatch, client.Object, ...client.UpdateOption) error { return answer },
		SubResourceUpdate: func(context.Context, client.Client, string, client.Object, ...client.SubResourceUpdateOption) error {
			return answer
		},
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error { return answer },
		Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return answer
		},
	}).Build()
	s.API = controllerruntime.New(c, c, nil)
	return s
}

func TestPatchIsGuarded(t *testing.T) {
	tests := []struct {
		name, why  string
		give, want string // an empty want is a refusal
	}{
		{"labels", "the UID is added", `{"metadata":{"labels":{"a":null}}}`, `{"metadata":{"labels":{"a":null},"uid":"pod"}}`},
		{"another UID", "the reference decides", `{"metadata":{"uid":"other"}}`, `{"metadata":{"uid":"pod"}}`},
		{"no metadata", "the UID is added", `{}`, `{"metadata":{"uid":"pod"}}`},
		{"null", "nothing to patch, and still a precondition", `{"metadata":null}`, `{"metadata":{"uid":"pod"}}`},
		{"large numbers", "they are not made floats", `{"metadata":{"generation":9007199254740993}}`, `{"metadata":{"generation":9007199254740993,"uid":"pod"}}`},
		{"no object", "no merge patch for an object", `[1]`, ""},
		{"metadata is no object", "as above", `{"metadata":"x"}`, ""},
		{"no JSON", "as above", `{`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			api := newSink(t, nil)
			_, podErr := api.PatchPod(t.Context(), podRef, []byte(tt.give))
			_, revisionErr := api.PatchRevision(t.Context(), podRef, []byte(tt.give))
			if tt.want == "" {
				require.True(t, apierrors.IsBadRequest(podErr), "%v", podErr)
				require.True(t, apierrors.IsBadRequest(revisionErr), "%v", revisionErr)
				require.Empty(t, api.patches)
				return
			}
			require.NoError(t, podErr)
			require.NoError(t, revisionErr)
			require.Equal(t, []string{tt.want, tt.want}, api.patches, tt.why)
		})
	}
}

func TestDeleteIsGuarded(t *testing.T) {
	api := newSink(t, nil)
	require.NoError(t, api.DeletePod(t.Context(), podRef))
	require.NoError(t, api.DeleteRevision(t.Context(), podRef))
	require.Len(t, api.deletes, 2)
	for _, options := range api.deletes {
		require.Equal(t, podRef.UID, *options.Preconditions.UID)
		require.Nil(t, options.GracePeriodSeconds, "a pod says itself how long it takes")
	}
}

// TestWritesNeedAUID: without one, whatever has the name would be changed.
func TestWritesNeedAUID(t *testing.T) {
	api := newSink(t, nil)
	anyone := daemonset.Ref{Namespace: "ns", Name: "pod"}
	_, podErr := api.PatchPod(t.Context(), anyone, []byte(`{}`))
	_, revisionErr := api.PatchRevision(t.Context(), anyone, []byte(`{}`))
	for _, err := range []error{podErr, revisionErr, api.DeletePod(t.Context(), anyone), api.DeleteRevision(t.Context(), anyone)} {
		require.True(t, apierrors.IsBadRequest(err), "%v", err)
	}
	require.Empty(t, api.patches)
	require.Empty(t, api.deletes)
}

// TestErrorsComeThrough: the driver decides by them, so they arrive as they are, and without
// an object.
func TestErrorsComeThrough(t *testing.T) {
	answer := apierrors.NewTooManyRequests("busy", 7)
	api := newSink(t, answer)
	ctx, key := t.Context(), types.NamespacedName{Namespace: "ns", Name: "agent"}
	set, revision := stored(), history()
	calls := map[string]func() (object any, err error){
		"Observe": func() (any, error) {
			seen, err := api.Observe(ctx, key)
			require.Zero(t, seen)
			return nilOf(seen.Objects.DaemonSet), err
		},
		"Live":           func() (any, error) { o, err := api.Live(ctx, key); return nilOf(o), err },
		"Revision":       func() (any, error) { o, err := api.Revision(ctx, key); return nilOf(o), err },
		"CreatePod":      func() (any, error) { o, err := api.CreatePod(ctx, podOf(set, "")); return nilOf(o), err },
		"PatchPod":       func() (any, error) { o, err := api.PatchPod(ctx, podRef, []byte(`{}`)); return nilOf(o), err },
		"DeletePod":      func() (any, error) { return nil, api.DeletePod(ctx, podRef) },
		"CreateRevision": func() (any, error) { o, err := api.CreateRevision(ctx, revision); return nilOf(o), err },
		"UpdateRevision": func() (any, error) { o, err := api.UpdateRevision(ctx, revision); return nilOf(o), err },
		"PatchRevision":  func() (any, error) { o, err := api.PatchRevision(ctx, podRef, []byte(`{}`)); return nilOf(o), err },
		"DeleteRevision": func() (any, error) { return nil, api.DeleteRevision(ctx, podRef) },
		"UpdateStatus":   func() (any, error) { o, err := api.UpdateStatus(ctx, set); return nilOf(o), err },
	}
	for name, call := range calls {
		object, err := call()
		require.ErrorIs(t, err, answer, name)
		require.Nil(t, object, name)
	}
}

// TestPatchOfASuccessor: only the answer that is about the UID means that the object is
// another one; what else is not valid stays Invalid.
func TestPatchOfASuccessor(t *testing.T) {
	invalid := func(path ...string) error {
		cause := field.Invalid(field.NewPath(path[0], path[1:]...), "x", "field is immutable")
		return apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, "pod", field.ErrorList{cause})
	}
	tests := []struct {
		name     string
		answer   error
		conflict bool
	}{
		{"UID", invalid("metadata", "uid"), true},
		{"another field", invalid("metadata", "labels"), false},
		{"a field of that name elsewhere", invalid("spec", "uid"), false},
		{"another refusal", apierrors.NewBadRequest("metadata.uid"), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			api := newSink(t, tt.answer)
			_, podErr := api.PatchPod(t.Context(), podRef, []byte(`{}`))
			_, revisionErr := api.PatchRevision(t.Context(), podRef, []byte(`{}`))
			for _, err := range []error{podErr, revisionErr} {
				require.Equal(t, tt.conflict, apierrors.IsConflict(err), "%v", err)
				if !tt.conflict {
					require.Equal(t, tt.answer, err)
				}
			}
		})
	}
}

// nilOf makes a nil pointer a nil value, and leaves others.
func nilOf[T any](object *T) any {
	if object == nil {
		return nil
	}
	return object
}

func TestRecordEventCutsNotes(t *testing.T) {
	r := &recorder{}
	c := crfake.NewClientBuilder().WithScheme(scheme.Scheme).Build()
	api := controllerruntime.New(c, c, r)
	for _, note := range []string{"100% of %d", strings.Repeat("x", 1024), strings.Repeat("x", 1025), "x" + strings.Repeat("ä", 600)} {
		api.RecordEvent(t.Context(), podRef, daemonset.Event{Type: corev1.EventTypeNormal, Reason: "R", Note: note})
		got := r.recorded[len(r.recorded)-1].Event.Note
		require.True(t, strings.HasPrefix(note, got))
		require.True(t, utf8.ValidString(got))
		require.LessOrEqual(t, len(got), 1024)
		require.GreaterOrEqual(t, len(got), min(len(note), 1023))
	}
	controllerruntime.New(c, c, nil).RecordEvent(t.Context(), podRef, daemonset.Event{}) // nobody listens
}

func TestArgumentsStay(t *testing.T) {
	patch := []byte(`{"metadata":{"labels":{"a":"1"}}}`)
	before := string(patch)
	api := newSink(t, nil)
	_, err := api.PatchPod(t.Context(), podRef, patch)
	require.NoError(t, err)
	require.Equal(t, before, string(patch))
	require.True(t, json.Valid(patch))
}
