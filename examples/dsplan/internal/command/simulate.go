package command

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/daemonset/simulate"
	"github.com/daemonplan/daemonplan/examples/dsplan/internal/dump"
	"github.com/daemonplan/daemonplan/examples/dsplan/internal/picture"
)

// simulating is one run of simulate.
type simulating struct {
	simulateFlags
	reader  *planning // for its way to open files
	out     *bufio.Writer
	screen  screen
	bar     *progressBar
	results []simulate.Result // for the page
	printed int
	status  int
}

func runSimulate(args []string, s Streams, now func() time.Time) int {
	flags, err := parseSimulateFlags(args, now)
	if errors.Is(err, flag.ErrHelp) {
		return help(s, simulateUsage)
	}
	if err != nil {
		return misused(s, err, "dsplan simulate -h")
	}
	run := &simulating{
		simulateFlags: flags,
		reader:        newPlanning(flags.planFlags, s),
		out:           bufio.NewWriterSize(s.Out, 1<<16),
		screen:        screenOf(s.Out),
		bar:           newProgressBar(s.Err),
	}
	if err := run.all(); err != nil {
		run.report(err)
	}
	if err := run.out.Flush(); err != nil {
		run.report(err)
	}
	return run.status
}

func (r *simulating) report(err error) { r.status = failed(r.reader.streams, err) }

// all simulates the sets of the snapshot. The error is of what keeps all of them from it.
func (r *simulating) all() error {
	sets, err := r.sets()
	if err != nil {
		return err
	}
	var with []dump.Set
	if r.change.file != "" {
		changed, err := r.read([]string{r.change.file})
		if err != nil {
			return err
		}
		with = changed.Sets()
		if i := slices.IndexFunc(with, func(set dump.Set) bool { return set.Err != nil }); i >= 0 {
			return fmt.Errorf("-with: %w", with[i].Err)
		}
	}
	if len(with)+len(r.change.images) > 0 {
		if err := r.change.apply(sets, with); err != nil {
			return err
		}
	}
	for _, set := range sets {
		r.one(set)
	}
	if r.output == htmlOutput {
		return picture.Write(r.out, r.results)
	}
	return nil
}

// sets are those of the snapshot that are to be simulated.
func (r *simulating) sets() ([]dump.Set, error) {
	world, err := r.read(r.files)
	if err != nil {
		return nil, err
	}
	name := strings.Join(each(r.files, displayName), ", ")
	sets := slices.DeleteFunc(world.Sets(), func(set dump.Set) bool { return !r.wants(setName(set)) })
	switch {
	case len(sets) == 0 && r.set == "":
		return nil, fmt.Errorf("%s: has no DaemonSets", name)
	case len(sets) == 0:
		return nil, fmt.Errorf("%s: has no DaemonSet %s", name, r.set)
	}
	r.reader.doubt(world, name)
	r.status = max(r.status, r.reader.status)
	return sets, nil
}

// read reads one snapshot. All files are read even if one is broken.
func (r *simulating) read(files []string) (*dump.World, error) {
	world := &dump.World{}
	var broken []error
	for _, file := range files {
		broken = append(broken, r.reader.withFile(file, func(in io.Reader) error { return world.Read(displayName(file), in) }))
	}
	return world, errors.Join(broken...)
}

// one simulates a set and prints what came of it.
func (r *simulating) one(set dump.Set) {
	result, err := r.simulate(set)
	r.bar.clear()
	if err != nil {
		r.report(fmt.Errorf("%s: %w", setName(set), err))
		return
	}
	if result.Outcome != simulate.Complete || !result.Proof.Held() {
		r.status = exitFailed
	}
	switch r.output {
	case htmlOutput:
		r.results = append(r.results, result)
	case jsonOutput:
		line, err := json.Marshal(simulateResult{DaemonSet: setName(set), Result: result})
		if err != nil {
			r.report(err)
		}
		_, _ = r.out.Write(append(line, '\n'))
	case textOutput:
		if r.printed++; r.printed > 1 {
			say(r.out, "\n")
		}
		say(r.out, r.screen.dress(fmt.Sprintf("# %s\n%s", setName(set), simulate.Summary(result))))
		say(r.out, strips(result, r.screen))
	}
}

// simulateResult is what simulate -o json prints for each DaemonSet.
type simulateResult struct {
	DaemonSet string `json:"daemonSet"`
	simulate.Result
}

func (r *simulating) simulate(set dump.Set) (simulate.Result, error) {
	if set.Err != nil {
		return simulate.Result{}, set.Err
	}
	return simulate.Run(daemonset.Snapshot{Objects: set.Objects, Now: r.now}, simulate.Options{
		Model:    r.model,
		Seed:     r.seed,
		Limit:    r.limit,
		Plan:     daemonset.Options{Burst: r.burst},
		Progress: r.bar.of(setName(set)),
	})
}
