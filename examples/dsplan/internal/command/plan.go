package command

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/examples/dsplan/internal/dump"
)

// linesSuffix marks files that are many snapshots.
const linesSuffix = ".jsonl"

// planning is one run of plan.
type planning struct {
	planFlags
	streams Streams
	view    view
	out     *bufio.Writer // remembers the first error until it is flushed
	screen  screen
	planned int // DaemonSets, or why not
	empty   int // snapshots without one in a file of many
	partial int // and such that lack objects which their status counts
	printed int // of them, as text
	status  int // the worst of what happened so far
}

func runPlan(args []string, s Streams, now func() time.Time) int {
	flags, err := parsePlanFlags(args, now)
	if errors.Is(err, flag.ErrHelp) {
		return help(s, planUsage)
	}
	if err != nil {
		return misused(s, err, "dsplan plan -h")
	}
	return runView(flags, s, planView{})
}

// view is what a command shows of each plan.
type view interface {
	text(o outcome) string // for a plan that was made
	json(o outcome) any    // for any outcome
}

type planView struct{}

func (planView) text(o outcome) string { return daemonset.Describe(o.plan) }
func (planView) json(o outcome) any    { return project(o) }

// runView plans what the flags name and shows it.
func runView(flags planFlags, s Streams, v view) int {
	p := newPlanning(flags, s)
	p.view = v
	p.planAll()
	if err := p.out.Flush(); err != nil {
		p.report(err)
	}
	return p.status
}

func newPlanning(flags planFlags, s Streams) *planning {
	return &planning{planFlags: flags, streams: s, out: bufio.NewWriterSize(s.Out, 1<<16), screen: screenOf(s.Out)}
}

// report notes an error; the run goes on.
func (p *planning) report(err error) { p.status = failed(p.streams, err) }

// planAll plans the snapshot that most files make up, then those in files of many.
func (p *planning) planAll() {
	many := slices.Clone(p.files)
	many = slices.DeleteFunc(many, func(file string) bool { return !strings.HasSuffix(file, linesSuffix) })
	single := slices.Clone(p.files)
	single = slices.DeleteFunc(single, func(file string) bool { return strings.HasSuffix(file, linesSuffix) })
	if len(single) > 0 {
		p.planFiles(single)
	}
	for _, file := range many {
		p.planLines(file)
	}
	if p.planned == 0 {
		p.status = exitFailed // what was asked for has no answer
	}
}

// planFiles plans the one snapshot that is in all of the files. All of them are read even
// if one is broken, so that every broken one is named.
func (p *planning) planFiles(files []string) {
	world := &dump.World{}
	complete := true
	for _, file := range files {
		read := func(r io.Reader) error { return world.Read(displayName(file), r) }
		if err := p.withFile(file, read); err != nil {
			p.report(err)
			complete = false
		}
	}
	if complete {
		p.planWorld(world, snapshotName{text: strings.Join(each(files, displayName), ", ")})
	}
}

// planLines plans each of the snapshots in a file.
func (p *planning) planLines(file string) {
	p.empty, p.partial = 0, 0
	err := p.withFile(file, func(r io.Reader) error {
		for snapshot, err := range dump.Lines(file, r) {
			if err != nil {
				p.report(err)
				continue
			}
			name := fmt.Sprintf("%s: document %d", file, snapshot.Document)
			p.planWorld(snapshot.World, snapshotName{text: name, isOneOfMany: true})
		}
		return nil
	})
	if err != nil {
		p.report(err)
	}
	const hint = "each line is a snapshot by itself, unless the file is named *.json"
	if p.partial > 0 {
		p.report(fmt.Errorf("%s: snapshots that lack Nodes, Pods or ControllerRevisions which the status of their DaemonSets counts: %d; %s", file, p.partial, hint))
	}
	if p.empty > 0 {
		say(p.streams.Err, fmt.Sprintf("dsplan: %s: snapshots without DaemonSets: %d; %s\n", file, p.empty, hint))
	}
}

// withFile opens a file for the time of a call.
func (p *planning) withFile(name string, read func(io.Reader) error) error {
	if name == standardInput {
		return read(p.streams.In)
	}
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	return read(file)
}

func displayName(file string) string {
	if file == standardInput {
		return "standard input"
	}
	return file
}

// snapshotName tells snapshots apart in messages.
type snapshotName struct {
	text        string
	isOneOfMany bool
}

// planWorld plans the DaemonSets of one snapshot.
func (p *planning) planWorld(world *dump.World, name snapshotName) {
	sets := world.Sets()
	sets = slices.DeleteFunc(sets, func(set dump.Set) bool { return !p.wants(setName(set)) })
	if len(sets) == 0 {
		p.explainNothing(world, name)
		return
	}
	switch {
	case !name.isOneOfMany:
		p.doubt(world, name.text)
	case len(world.Lacks()) > 0:
		p.partial++
	}
	for _, set := range sets {
		p.print(p.planSet(set), name)
	}
}

// explainNothing says why a snapshot has no plan. One of many without DaemonSets is no mistake,
// unless one was asked for, or what could not be read may have been one.
func (p *planning) explainNothing(world *dump.World, name snapshotName) {
	err := world.Err()
	switch {
	case p.set != "":
		p.report(fmt.Errorf("%s: has no DaemonSet %s", name.text, p.set))
	case err == nil && name.isOneOfMany:
		p.empty++
	case err == nil:
		say(p.streams.Err, fmt.Sprintf("dsplan: %s: has no DaemonSets\n", name.text))
	}
	if err != nil {
		p.report(err)
	}
}

// outcome is the plan for one DaemonSet, or why there is none.
type outcome struct {
	set  dump.Set
	plan daemonset.Plan
	now  time.Time
	err  error
}

func (p *planning) planSet(set dump.Set) outcome {
	o := outcome{set: set, now: p.now, err: set.Err}
	if o.err == nil {
		o.plan, o.err = daemonset.Compute(
			daemonset.Snapshot{Objects: set.Objects, Now: p.now},
			daemonset.Options{Burst: p.burst},
		)
	}
	return o
}

// print writes an outcome. Output that cannot be written is reported at the end.
func (p *planning) print(o outcome, name snapshotName) {
	p.planned++
	if o.err != nil {
		p.status = exitFailed
	}
	if p.json {
		line, err := renderJSON(p.view.json(o))
		if err != nil {
			p.report(err)
		}
		_, _ = p.out.Write(line)
		return
	}
	title := setName(o.set)
	if name.isOneOfMany {
		title += " in " + name.text
	}
	text := renderText(p.view, o, title)
	if text == "" {
		return
	}
	if p.printed++; p.printed > 1 {
		say(p.out, "\n")
	}
	say(p.out, p.screen.dress(text))
}

func setName(set dump.Set) string { return set.Namespace + "/" + set.Name }
