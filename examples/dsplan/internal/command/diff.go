package command

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/daemonset/diff"
	"github.com/daemonplan/daemonplan/examples/dsplan/internal/dump"
)

const diffUsage = `Usage:

	dsplan diff -f FILE -with FILE [flags]

	-f FILE            a dump in YAML or JSON, "-" for standard input; may be repeated
	-with FILE         DaemonSets as they are to be, or another dump
	-ds NAMESPACE/NAME compare only this DaemonSet; NAME alone takes those of any namespace
	-now TIME          plan for this time, in RFC 3339 (default: the current time)
	-burst N           as for plan
	-names N           name at most N nodes of a group, all for -1 (default: 5)
	-o text|json       print for people, or one JSON object a line (default: text)

If the file given with -with holds nothing but DaemonSets, they are manifests: each is applied
to the one of its namespace and name in the dump, as an API server would. What a manifest
leaves open takes the API's defaults; neither status nor uid is needed; an annotation that
"kubectl rollout restart" wrote stays. DaemonSets that no manifest is of are left out.
Otherwise it is another dump, say a later one, and every DaemonSet of the two is compared.

Printed is what differs in the spec, whether the template is another one by value, and the
nodes on which something differs:

	Gains     the node takes a pod of the set, and did not
	Admits    the pod there, which would not have been placed there, belongs there now
	Loses     the pod there goes, and none takes its place
	Closes    the node takes no new pod, and did; one that is there stays
	Restarts  the pod there is replaced, and was not to be
	Outdates  the pod there becomes outdated, and OnDelete leaves it until somebody deletes it
	Spares    the pod there was to be replaced, and is not any more
	Delays    what happened there now has to wait
	Hastens   what had to wait there happens now
	Differs   other pods are there, or wait for something else

"now" is what the next plan does, "later" what waits, with the reason that the plan gives;
"dsplan help NodeStepFirst", or another one, says what it means.

The exit status is 0 if everything was compared, whether or not it differs, 1 if something
could not be, 2 for bad usage.
`

// comparing is one run of diff.
type comparing struct {
	planning
	names int
}

func runDiff(args []string, s Streams, now func() time.Time) int {
	c := comparing{}
	var with string
	flags := flag.NewFlagSet("dsplan diff", flag.ContinueOnError)
	flags.StringVar(&with, "with", "", "")
	flags.IntVar(&c.names, "names", 5, "")
	shared, err := parseFlags(flags, args, now)
	if errors.Is(err, flag.ErrHelp) {
		return help(s, diffUsage)
	}
	if err == nil {
		err = checkDiff(shared, with)
	}
	if err != nil {
		return misused(s, err, "dsplan diff -h")
	}
	c.planning = *newPlanning(shared, s)
	if before, after := c.read(shared.files), c.read([]string{with}); before != nil && after != nil {
		c.compareAll(before, after, with)
	}
	if err := c.out.Flush(); err != nil {
		c.report(err)
	}
	return c.status
}

func checkDiff(shared planFlags, with string) error {
	isMany := func(name string) bool { return strings.HasSuffix(name, linesSuffix) }
	switch {
	case len(shared.args) > 0:
		return fmt.Errorf("unexpected argument %q", shared.args[0])
	case with == "":
		return errors.New("-with is missing")
	case with == standardInput:
		return errors.New("-with is -; only -f reads standard input")
	case isMany(with) || slices.ContainsFunc(shared.files, isMany):
		return fmt.Errorf("a %s file holds many snapshots; diff compares one with one", linesSuffix)
	}
	return nil
}

// read reads files into one snapshot; nil if it is not complete.
func (c *comparing) read(files []string) *dump.World {
	world, complete := &dump.World{}, true
	for _, file := range files {
		read := func(r io.Reader) error { return world.Read(displayName(file), r) }
		if err := c.withFile(file, read); err != nil {
			c.report(err)
			complete = false
		}
	}
	if !complete {
		return nil
	}
	return world
}

// pair is one set before and after. One that is not there on a side has no DaemonSet there.
type pair struct {
	name          string
	before, after daemonset.Objects
	err           error
}

func (c *comparing) compareAll(before, after *dump.World, with string) {
	c.doubt(before, "the dump")
	changes := between(before, after)
	if after.HoldsOnlySets() {
		changes = applied(before, after)
	} else {
		c.doubt(after, with)
	}
	changes = slices.DeleteFunc(changes, func(p pair) bool { return !c.wants(p.name) })
	switch {
	case len(changes) == 0 && c.set != "":
		c.report(fmt.Errorf("neither the dump nor %s has anything to compare of %s", with, c.set))
	case len(changes) == 0:
		c.report(fmt.Errorf("%s: has no DaemonSets", with))
	}
	for _, p := range changes {
		c.compare(p)
	}
}

// applied puts each manifest in the place of the set that it is of.
func applied(world, manifests *dump.World) []pair {
	sets := world.Sets()
	return each(manifests.Sets(), func(manifest dump.Set) pair {
		p := pair{name: setName(manifest), err: manifest.Err}
		i := slices.IndexFunc(sets, func(set dump.Set) bool { return setName(set) == p.name })
		if i >= 0 {
			p.before = sets[i].Objects
			p.err = cmp.Or(p.err, sets[i].Err)
		}
		if p.err != nil {
			return p
		}
		set, err := diff.Apply(p.before.DaemonSet, manifest.Objects.DaemonSet)
		if err != nil {
			p.err = err
			return p
		}
		p.after = world.Around(set)
		return p
	})
}

// between pairs the sets of two dumps by name.
func between(before, after *dump.World) []pair {
	var changes []pair
	for _, set := range before.Sets() {
		changes = append(changes, pair{name: setName(set), before: set.Objects, err: set.Err})
	}
	for _, set := range after.Sets() {
		i := slices.IndexFunc(changes, func(p pair) bool { return p.name == setName(set) })
		if i < 0 {
			i = len(changes)
			changes = append(changes, pair{name: setName(set)})
		}
		changes[i].after = set.Objects
		changes[i].err = cmp.Or(changes[i].err, set.Err)
	}
	slices.SortFunc(changes, func(a, b pair) int { return cmp.Compare(a.name, b.name) })
	return changes
}

// diffResult is what diff -o json prints for each DaemonSet.
type diffResult struct {
	DaemonSet string       `json:"daemonSet"`
	Counts    []diff.Count `json:"counts"`
	Report    *diff.Report `json:"report,omitempty"`
	Error     string       `json:"error,omitempty"`
}

func (c *comparing) compare(p pair) {
	var r diff.Report
	err := p.err
	if err == nil {
		r, err = diff.Snapshots(
			daemonset.Snapshot{Objects: p.before, Now: c.now}, daemonset.Snapshot{Objects: p.after, Now: c.now},
			daemonset.Options{Burst: c.burst},
		)
	}
	if err != nil {
		c.status = exitFailed
	}
	if c.json {
		c.printJSON(p, r, err)
		return
	}
	if c.printed++; c.printed > 1 {
		say(c.out, "\n")
	}
	text := "# " + p.name + "\n"
	if err != nil {
		text += "error: " + message(err) + "\n"
	} else {
		text += diff.Describe(r, c.names)
	}
	say(c.out, c.screen.dress(text))
}

func (c *comparing) printJSON(p pair, r diff.Report, err error) {
	result := diffResult{DaemonSet: p.name, Counts: []diff.Count{}}
	if err != nil {
		result.Error = message(err)
	} else {
		result.Report = &r
		result.Counts = append(result.Counts, r.Counts()...)
	}
	line, err := renderJSON(result)
	if err != nil {
		c.report(err)
	}
	_, _ = c.out.Write(line)
}
