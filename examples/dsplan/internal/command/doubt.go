package command

import (
	"fmt"
	"strings"
	"time"

	"github.com/daemonplan/daemonplan/examples/dsplan/internal/dump"
)

// stale is how long ago the last word of a node may be. Kubelets report every five minutes.
const stale = time.Hour

// doubt says what makes answers about a snapshot doubtful: a part of it is missing, or it is of
// another time than it is judged for. They are given all the same.
func (p *planning) doubt(world *dump.World, name string) {
	if world.Err() != nil {
		return // that is said already
	}
	switch kinds := world.Lacks(); {
	case len(kinds) > 0:
		p.report(fmt.Errorf("%s: has no %s, and by the status of its DaemonSets there are some; what follows is wrong. "+
			"A dump is: kubectl get daemonsets,nodes,pods,controllerrevisions -A -o yaml", name, strings.Join(kinds, " and no ")))
	case len(world.Nodes()) == 0:
		say(p.streams.Err, fmt.Sprintf("dsplan: %s: has no Nodes, so that no pod is wanted anywhere\n", name))
	}
	heard := world.Heard()
	if apart := p.now.Sub(heard).Abs(); !heard.IsZero() && apart > stale {
		say(p.streams.Err, fmt.Sprintf("dsplan: %s: its nodes were last heard of at %s, %s from the time that answers are for; -now sets that\n",
			name, heard.UTC().Format(time.RFC3339), roughly(apart)))
	}
}

func roughly(d time.Duration) string {
	const day = 24 * time.Hour
	if d < 2*day {
		return d.Round(time.Minute).String()
	}
	return fmt.Sprintf("%d days", d/day)
}
