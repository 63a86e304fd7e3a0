package daemonset_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/internal/gen"
)

// property is something that is true of every plan. It returns an error where it is not,
// and says with saw when a situation came up in which it could have been broken.
type property struct {
	name  string
	why   string
	saw   []string // the situations; each must come up at least once in a run
	holds func(s *subject, saw func(situation string)) error
	// anyInput says that it holds as well for input that no API server lets through.
	anyInput bool
	// open says what is known to be wrong today; the property must then fail, so that this
	// cannot outlive its cause.
	open string
}

// subject is a case with its plan. Properties must not write to it.
type subject struct {
	gen.Case
	plan daemonset.Plan
	data []byte
}

// acting reports whether nodes are looked at at all.
func (s *subject) acting() bool { return s.plan.Reason == "" }

// properties lists them by the letters of the design, the shorter ones first.
func properties() []property {
	return []property{
		untouched(), unshared(), sameInAnyOrder(), sameInAnyZone(), sameAfterJSON(), sameTwice(),
		deletesAreOurs(), createsAreWanted(),
		withinMaxUnavailable(), withinMaxSurge(), moreForMore(),
		everyNodeReported(), reasonsWhereDue(), pairsExplained(),
		pendingActsNot(), countsAgree(), wakesInTime(),
		slowTwinAgrees(), converges(),
	}
}

// TestProperties runs every property over the same generated cases.
func TestProperties(t *testing.T) {
	runs := uint64(2000)
	if testing.Short() {
		runs = 200
	}
	tallies := map[string]map[string]int{}
	failed := map[string]bool{}
	for _, p := range properties() {
		tallies[p.name] = map[string]int{}
	}
	for seed := range runs {
		s, err := newSubject(gen.Bytes(seed))
		if err != nil {
			t.Fatalf("seed %d: a valid case is refused: %v", seed, err)
		}
		for _, p := range properties() {
			tally := func(situation string) { tallies[p.name][situation]++ }
			err := p.holds(s, tally)
			if err == nil || failed[p.name] {
				continue
			}
			failed[p.name] = true // more seeds would say the same
			if p.open != "" {
				t.Logf("%s, seed %d: known: %s", p.name, seed, p.open)
				continue
			}
			t.Errorf("%s, seed %d: %v\n%s", p.name, seed, err, reproduce(p, s.data))
		}
	}
	for _, p := range properties() {
		if p.open != "" && !failed[p.name] && !testing.Short() {
			t.Errorf("%s: holds now; it is no longer open that %s", p.name, p.open)
		}
		for _, situation := range p.saw {
			if tallies[p.name][situation] == 0 {
				t.Errorf("%s: never came up: %s", p.name, situation)
			}
		}
		t.Logf("%s: %v", p.name, tallies[p.name])
	}
}

func newSubject(data []byte) (*subject, error) {
	c := gen.Make(data, gen.Options{Lenient: true, Rewritten: true})
	plan, err := daemonset.Compute(c.Snapshot, c.Options)
	return &subject{Case: c, plan: plan, data: data}, err
}

func sawNothing(string) {}

// reproduce shortens the bytes of a failure and prints them as a corpus file.
func reproduce(p property, data []byte) string {
	fails := func(data []byte) bool {
		s, err := newSubject(data)
		return err != nil || p.holds(s, sawNothing) != nil
	}
	for cut := len(data) / 2; cut > 0; {
		if shorter := data[:len(data)-cut]; fails(shorter) {
			data = shorter
		} else {
			cut /= 2
		}
		cut = min(cut, len(data)/2)
	}
	return fmt.Sprintf("why: %s\ntestdata/fuzz/FuzzCompute/NAME:\ngo test fuzz v1\n[]byte(%q)\n", p.why, data)
}

// FuzzCompute holds every property against what a fuzzer comes up with, and those that hold
// for any input against hostile cases too.
func FuzzCompute(f *testing.F) {
	f.Add([]byte{})
	for seed := range uint64(20) {
		f.Add(gen.Bytes(seed)[:120])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := newSubject(data)
		if err != nil {
			t.Fatalf("a valid case is refused: %v", err)
		}
		for _, p := range properties() {
			if err := p.holds(s, sawNothing); err != nil && p.open == "" {
				t.Errorf("%s: %v", p.name, err)
			}
		}
		if err := checkHostile(data); err != nil {
			t.Error(err)
		}
	})
}

// TestHostile: nothing that a caller can put into a snapshot makes Compute panic, and what
// it refuses it names.
func TestHostile(t *testing.T) {
	for seed := range uint64(500) {
		if err := checkHostile(gen.Bytes(seed)); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

func checkHostile(data []byte) error {
	c := gen.Hostile(data, gen.Options{Lenient: true, Rewritten: true})
	plan, err := daemonset.Compute(c.Snapshot, c.Options)
	if err != nil {
		invalid, ok := errors.AsType[*daemonset.InvalidError](err)
		if !ok || invalid.Field == "" || invalid.Err == nil || !strings.Contains(err.Error(), invalid.Field) {
			return fmt.Errorf("hostile: the error names no field: %w", err)
		}
		return nil
	}
	for _, p := range properties() {
		if !p.anyInput {
			continue
		}
		if err := p.holds(&subject{Case: c, plan: plan, data: data}, sawNothing); err != nil {
			return fmt.Errorf("hostile: %s: %w", p.name, err)
		}
	}
	return nil
}

// textOf is a plan in both of its forms, byte for byte.
func textOf(plan daemonset.Plan) (string, error) {
	raw, err := json.Marshal(plan)
	return string(raw) + "\n" + daemonset.Describe(plan), err
}

// samePlan compares the plan of another snapshot with that of the subject.
func samePlan(s *subject, other daemonset.Snapshot) error {
	plan, err := daemonset.Compute(other, s.Options)
	if err != nil {
		return err
	}
	want, err := textOf(s.plan)
	if err != nil {
		return err
	}
	got, err := textOf(plan)
	if err != nil {
		return err
	}
	return firstDifference(want, got)
}

// firstDifference shows where two texts part.
func firstDifference(want, got string) error {
	if want == got {
		return nil
	}
	i := 0
	for i < min(len(want), len(got)) && want[i] == got[i] {
		i++
	}
	around := func(text string) string { return text[max(0, i-80):min(len(text), i+80)] }
	return fmt.Errorf("plans differ at byte %d:\n want ...%s...\n got  ...%s", i, around(want), around(got))
}
