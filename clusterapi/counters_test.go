package clusterapi_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/clusterapi"
	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/expectations"
)

func TestCountersByOutcome(t *testing.T) {
	boom := errors.New("boom")
	tests := []struct {
		name string
		give clusterapi.Pass
		want clusterapi.PassCounts
	}{
		{"success", clusterapi.Pass{}, clusterapi.PassCounts{Succeeded: 1}},
		{"refused", clusterapi.Pass{Result: clusterapi.Result{Stale: &clusterapi.StaleError{}}}, clusterapi.PassCounts{Refused: 1}},
		{"gone", clusterapi.Pass{Result: clusterapi.Result{Gone: true}}, clusterapi.PassCounts{Gone: 1}},
		{"failed", clusterapi.Pass{Err: boom}, clusterapi.PassCounts{Failed: 1}},
		{"failed on a refused pass", clusterapi.Pass{Err: boom, Result: clusterapi.Result{Stale: &clusterapi.StaleError{}}}, clusterapi.PassCounts{Failed: 1}},
		{"panicked", clusterapi.Pass{Err: fmt.Errorf("wrapped: %w", &clusterapi.PanicError{Value: boom})}, clusterapi.PassCounts{Panicked: 1}},
		{"hung", clusterapi.Pass{Err: &clusterapi.HangError{}}, clusterapi.PassCounts{Hung: 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var c clusterapi.Counters
			c.Add(tt.give)
			assert.Equal(t, tt.want, c.Passes)
			assert.Equal(t, 1, c.Passes.Total())
		})
	}
}

func TestCountersSumUp(t *testing.T) {
	created := clusterapi.Write{Verb: clusterapi.CreatePod, Outcome: clusterapi.Done}
	deleted := clusterapi.Write{Verb: clusterapi.DeletePod, Outcome: clusterapi.Done}
	failed := clusterapi.Write{Verb: clusterapi.CreatePod, Outcome: clusterapi.Failed}
	var c clusterapi.Counters
	c.Add(clusterapi.Pass{Duration: 3 * time.Second, Result: clusterapi.Result{
		Writes:  []clusterapi.Write{deleted, created, failed, created},
		Expired: expectations.Pending{Creates: 2, Deletes: []types.UID{"a"}},
	}})
	c.Add(clusterapi.Pass{Duration: time.Second, Result: clusterapi.Result{Writes: []clusterapi.Write{created}}})
	want := clusterapi.Counters{
		Passes:  clusterapi.PassCounts{Succeeded: 2},
		Expired: 3,
		Writes: []clusterapi.WriteCount{
			{Verb: clusterapi.CreatePod, Outcome: clusterapi.Done, Count: 3},
			{Verb: clusterapi.CreatePod, Outcome: clusterapi.Failed, Count: 1},
			{Verb: clusterapi.DeletePod, Outcome: clusterapi.Done, Count: 1},
		},
		PassTime: clusterapi.Durations{Count: 2, Sum: 4 * time.Second, Max: 3 * time.Second},
	}
	require.Equal(t, want, c)
	assert.Equal(t, 3, c.Write(clusterapi.CreatePod, clusterapi.Done))
	assert.Zero(t, c.Write(clusterapi.UpdateStatus, clusterapi.Done))
	assert.Zero(t, clusterapi.Counters{}.Write(clusterapi.CreatePod, clusterapi.Done))
}

// TestPassAnswers: what a queue has to know of a pass to plan the next one.
func TestPassAnswers(t *testing.T) {
	busy := func(seconds int) error { return apierrors.NewTooManyRequests("busy", seconds) }
	pending := clusterapi.Result{Plan: daemonset.Plan{Reason: daemonset.WritesPending}}
	tests := []struct {
		name  string
		give  clusterapi.Pass
		delay time.Duration
		idle  bool
	}{
		{"well", clusterapi.Pass{}, 0, false},
		{"failed", clusterapi.Pass{Err: errors.New("boom")}, 0, false},
		{"busy", clusterapi.Pass{Err: fmt.Errorf("observe: %w", busy(7))}, 7 * time.Second, false},
		{
			"busy in several writes",
			clusterapi.Pass{Err: busy(1), Result: clusterapi.Result{Writes: []clusterapi.Write{{Err: busy(3)}, {}, {Err: busy(2)}}}},
			3 * time.Second, false,
		},
		{"stale", clusterapi.Pass{Result: clusterapi.Result{Stale: &clusterapi.StaleError{}}}, 0, true},
		{"writes pending", clusterapi.Pass{Result: pending}, 0, true},
		{"writes pending, and failed", clusterapi.Pass{Result: pending, Err: errors.New("status")}, 0, false},
		{"another reason", clusterapi.Pass{Result: clusterapi.Result{Plan: daemonset.Plan{Reason: daemonset.SetDeleting}}}, 0, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.delay, tt.give.ServerDelay())
			require.Equal(t, tt.idle, tt.give.Idle())
		})
	}
}
