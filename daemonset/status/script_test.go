package status_test

import (
	"strings"
	"testing"
	"time"

	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/daemonset/status"
	"github.com/daemonplan/daemonplan/internal/script"
)

// judging is a script's world with one more command: "status", with a deadline behind it if it
// is not the default, and with "fit" if the controller places its pods itself.
type judging struct {
	world   *script.World
	asked   daemonset.Snapshot
	options daemonset.Options
}

func newJudging() script.Runner {
	j := &judging{}
	j.world = script.NewWorld(func(s daemonset.Snapshot, o daemonset.Options) (daemonset.Plan, error) {
		j.asked, j.options = s, o
		return daemonset.Compute(s, o)
	})
	return j
}

// Run implements script.Runner.
func (j *judging) Run(command string) (string, error) {
	words := strings.Fields(command)
	if words[0] != "status" {
		return j.world.Run(command)
	}
	var o status.Options
	plan := "plan"
	for _, word := range words[1:] {
		if word == "fit" {
			plan += " fit"
			continue
		}
		var err error
		if o.Deadline, err = time.ParseDuration(word); err != nil {
			return "", err
		}
	}
	if _, err := j.world.Run(plan); err != nil {
		return "", err
	}
	o.Plan = j.options
	r, err := status.Of(j.asked, o)
	if err != nil {
		return "", err
	}
	return status.Describe(r, -1), nil
}

// TestScripts runs the verdicts in testdata, one situation a file.
func TestScripts(t *testing.T) {
	script.Run(t, "testdata/*.txt", newJudging)
}
