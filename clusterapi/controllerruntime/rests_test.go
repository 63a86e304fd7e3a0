package controllerruntime_test

import (
	"context"
	"testing"
	"time"

	"github.com/daemonplan/daemonplan/clusterapi"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/daemonplan/daemonplan/clusterapi/controllerruntime"
)

// TestRests: a request that comes while its set rests makes no pass and comes back in time.
func TestRests(t *testing.T) {
	busy := apierrors.NewTooManyRequests("later", 7)
	refused := clusterapi.Result{Writes: []clusterapi.Write{{Verb: clusterapi.CreatePod, Outcome: clusterapi.Failed, Err: busy}}}
	tests := []struct {
		name, why string
		rest      time.Duration
		result    clusterapi.Result
		err       error
		want      time.Duration // of the rest
	}{
		{"after a pass", "events are gathered", time.Second, clusterapi.Result{}, nil, time.Second},
		{"by default", "", 0, clusterapi.Result{}, nil, clusterapi.DefaultRest},
		{"none", "", -1, clusterapi.Result{}, nil, 0},
		{"after a failure", "the retry has its own delay", time.Minute, clusterapi.Result{}, context.DeadlineExceeded, 0},
		{"a server asks for a delay", "not even an event goes before it", -1, refused, busy, 7 * time.Second},
		{"a set that is gone", "another one of its name is not held up", time.Minute, clusterapi.Result{Gone: true}, nil, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			now, passes := time.Unix(1e9, 0), 0
			s := &syncer{sync: func(context.Context, types.NamespacedName) (clusterapi.Result, error) {
				passes++
				return tt.result, tt.err
			}}
			r, err := controllerruntime.NewReconciler(s, controllerruntime.ReconcilerOptions{Rest: tt.rest, Now: func() time.Time { return now }})
			require.NoError(t, err)
			_, err = r.Reconcile(t.Context(), request)
			require.Equal(t, tt.err, err)

			if tt.want > 0 {
				now = now.Add(tt.want / 4)
				got, err := r.Reconcile(t.Context(), request)
				require.NoError(t, err)
				require.Equal(t, reconcile.Result{RequeueAfter: tt.want - tt.want/4}, got, tt.why)
				require.Equal(t, 1, passes)

				other := reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "ns", Name: "other"}}
				_, err = r.Reconcile(t.Context(), other)
				require.Equal(t, tt.err, err)
				require.Equal(t, 2, passes, "another set is not held up")

				now = now.Add(-time.Hour) // the clock was turned back
				got, err = r.Reconcile(t.Context(), request)
				require.NoError(t, err)
				require.Equal(t, reconcile.Result{RequeueAfter: tt.want}, got)
				now = now.Add(tt.want)
			}
			before := passes
			_, err = r.Reconcile(t.Context(), request)
			require.Equal(t, tt.err, err)
			require.Equal(t, before+1, passes)
		})
	}
}
