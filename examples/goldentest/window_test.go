package goldentest_test

import (
	"testing"
	"time"

	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/daemonset/plantest"
	"github.com/daemonplan/daemonplan/daemonset/simulate"

	"github.com/daemonplan/daemonplan/examples/goldentest"
)

// An agent in the middle of an update: a is done, b serves an old version, and the old pod on
// c is down.
func update() daemonset.Snapshot {
	v1 := plantest.Set("demo/agent", plantest.Image("registry.example/agent:v1"), plantest.MaxUnavailable("2"))
	v2 := plantest.Set("demo/agent", plantest.Image("registry.example/agent:v2"), plantest.MaxUnavailable("2"))
	return plantest.Snapshot(v2, v1, v2,
		plantest.Node("a"), plantest.Node("b"), plantest.Node("c"), plantest.Node("d"),
		plantest.Node("gpu", plantest.Taint("dedicated=gpu:NoSchedule")),
		plantest.Pod(v2, "a"),
		plantest.Pod(v1, "b"),
		plantest.Pod(v1, "c", plantest.NotReady()),
		plantest.Pod(v1, "d"),
	)
}

func TestPlan(t *testing.T) {
	tests := []struct {
		name     string
		window   goldentest.Window
		canaries []string
	}{
		{"open", goldentest.Window{From: 10, To: 14}, nil},
		{"open-past-midnight", goldentest.Window{From: 11, To: 4}, nil},
		{"closed", goldentest.Window{From: 22, To: 4}, nil},
		{"canary", goldentest.Window{From: 10, To: 14}, []string{"d"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			plan, err := tt.window.Plan(update(), tt.canaries...)
			if err != nil {
				t.Fatal(err)
			}
			plantest.Golden(t, "testdata/"+tt.name+".txt", plan)
			for _, broken := range simulate.Audit(update(), plan, daemonset.Options{}) {
				t.Errorf("the plan breaks %s: %+v", broken.Rule, broken)
			}
		})
	}
}

// TestRollout looks at a whole update: how long it takes when kubelets are at ease.
func TestRollout(t *testing.T) {
	r, err := simulate.Run(update(), simulate.Options{Model: simulate.DefaultModel(), Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	if r.Outcome != simulate.Complete || r.Duration > 2*time.Minute {
		t.Errorf("%s after %s", r.Outcome, r.Duration)
	}
	plantest.GoldenText(t, "testdata/rollout.txt", simulate.Describe(r))
}
