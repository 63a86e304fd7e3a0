package command

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/daemonset/explain"
	"github.com/daemonplan/daemonplan/examples/dsplan/internal/dump"
)

const explainUsage = `Usage:

	dsplan explain -f FILE [flags] [NODE...]

	-f FILE            a dump in YAML or JSON, "-" for standard input; may be repeated
	-ds NAMESPACE/NAME explain only this DaemonSet; NAME alone takes those of any namespace
	-node FILE         explain Nodes that are not in the dump, as if each were added to it
	-now TIME          explain for this time, in RFC 3339 (default: the current time)
	-burst N           as for plan
	-names N           name at most N nodes of a group, all for -1 (default: 5)
	-o text|json       print for people, or one JSON object a line (default: text)

Without NODE, and without -node, all nodes are explained, those with the same story
together: first where something happens now, then where something waits, then what is at
rest. With NODE only the named nodes are, each by itself.

Of each node it is said what keeps pods away and what would lift that, what its pods count
as and why, what happens now, what waits, for what and until when. The facts are those of
"dsplan plan", which says them in fewer words.

The exit status is 0 if everything was explained, 1 if something could not be, also a node
that is not in the dump, or if there was no DaemonSet, and 2 for bad usage.
`

// explainView tells stories.
type explainView struct {
	nodes        []string       // by name; empty for all
	hypothetical []*corev1.Node // besides
	names        int
	options      daemonset.Options
	report       func(error)
	reported     []string // names of nodes that are not there
}

func runExplain(args []string, s Streams, now func() time.Time) int {
	v := explainView{}
	status := exitOK
	v.report = func(err error) { status = failed(s, err) }
	var nodeFile string
	flags := flag.NewFlagSet("dsplan explain", flag.ContinueOnError)
	flags.StringVar(&nodeFile, "node", "", "")
	flags.IntVar(&v.names, "names", 5, "")
	shared, err := parseFlags(flags, args, now)
	if errors.Is(err, flag.ErrHelp) {
		return help(s, explainUsage)
	}
	if err != nil {
		return misused(s, err, "dsplan explain -h")
	}
	if nodeFile != "" {
		if v.hypothetical, err = readNodes(nodeFile); err != nil {
			return failed(s, err)
		}
	}
	v.nodes = shared.args
	v.options = daemonset.Options{Burst: shared.burst}
	return max(runView(shared, s, &v), status)
}

// readNodes reads the Nodes in a file, of which there must be one.
func readNodes(name string) ([]*corev1.Node, error) {
	world, err := readWorld(name)
	if err != nil {
		return nil, err
	}
	if len(world.Nodes()) == 0 {
		return nil, fmt.Errorf("%s: has no Node", name)
	}
	return world.Nodes(), nil
}

// readWorld reads one file by itself.
func readWorld(name string) (*dump.World, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	world := &dump.World{}
	if err := world.Read(name, file); err != nil {
		return nil, err
	}
	return world, world.Err()
}

func (v *explainView) text(o outcome) string {
	remarks := explain.DescribeRemarks(explain.Remarks(o.plan))
	stories := v.stories(o)
	if v.isAboutSome() {
		var b strings.Builder
		for _, story := range stories {
			b.WriteString(explain.Describe(story))
		}
		return b.String()
	}
	return remarks + explain.DescribeGroups(explain.Grouped(stories), v.names)
}

func (v *explainView) isAboutSome() bool { return len(v.nodes) > 0 || len(v.hypothetical) > 0 }

// stories are those that were asked for.
func (v *explainView) stories(o outcome) []explain.Story {
	snapshot := o.snapshot()
	if !v.isAboutSome() {
		return explain.Nodes(snapshot, o.plan)
	}
	var stories []explain.Story
	for _, name := range v.nodes {
		story, ok := explain.Node(snapshot, o.plan, name)
		if !ok {
			v.missing(name)
			continue
		}
		stories = append(stories, story)
	}
	for _, node := range v.hypothetical {
		story, err := explain.Hypothetical(snapshot, v.options, node)
		if err != nil {
			v.report(err)
			continue
		}
		stories = append(stories, story)
	}
	return stories
}

// missing reports a node that is not in the dump, once for all sets.
func (v *explainView) missing(name string) {
	if !slices.Contains(v.reported, name) {
		v.reported = append(v.reported, name)
		v.report(fmt.Errorf("there is no node %s in the dump; -node FILE explains one that is not there yet", name))
	}
}

// explainResult is what explain -o json prints for each DaemonSet.
type explainResult struct {
	DaemonSet string           `json:"daemonSet"`
	Remarks   []explain.Remark `json:"remarks"`
	Nodes     []explain.Story  `json:"nodes"`
	Groups    []groupResult    `json:"groups"` // empty when single nodes are asked for
	Error     string           `json:"error,omitempty"`
}

// groupResult names the nodes with one story, which Nodes holds for each.
type groupResult struct {
	Count int      `json:"count"`
	Nodes []string `json:"nodes"`
}

func (v *explainView) json(o outcome) any {
	r := explainResult{DaemonSet: setName(o.set), Remarks: []explain.Remark{}, Nodes: []explain.Story{}, Groups: []groupResult{}}
	if o.err != nil {
		r.Error = message(o.err)
		return r
	}
	r.Remarks = append(r.Remarks, explain.Remarks(o.plan)...)
	r.Nodes = append(r.Nodes, v.stories(o)...)
	if !v.isAboutSome() {
		r.Groups = each(explain.Grouped(r.Nodes), func(g explain.Group) groupResult {
			return groupResult{Count: len(g.Nodes), Nodes: slices.Clone(g.Nodes)}
		})
	}
	return r
}

// snapshot is what the plan was made from.
func (o outcome) snapshot() daemonset.Snapshot {
	return daemonset.Snapshot{Objects: o.set.Objects, Now: o.now}
}
