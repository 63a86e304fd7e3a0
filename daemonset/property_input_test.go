package daemonset_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/daemonplan/daemonplan/daemonset"
)

// copySnapshot shares nothing with s but strings.
func copySnapshot(s daemonset.Snapshot) daemonset.Snapshot {
	c := s
	c.Objects.DaemonSet = s.Objects.DaemonSet.DeepCopy()
	c.Objects.Nodes = copyEach(s.Objects.Nodes)
	c.Objects.Pods = copyEach(s.Objects.Pods)
	c.Objects.Revisions = copyEach(s.Objects.Revisions)
	c.Backoff = slices.Clone(s.Backoff)
	c.Pending.Deletes = slices.Clone(s.Pending.Deletes)
	return c
}

func copyEach[T any, P interface {
	*T
	DeepCopy() *T
}](objects []P) []P {
	if objects == nil {
		return nil
	}
	copies := make([]P, len(objects))
	for i, o := range objects {
		copies[i] = o.DeepCopy()
	}
	return copies
}

func untouched() property {
	return property{
		name: "untouched", anyInput: true,
		why: "(a) objects come straight from a shared cache",
		saw: []string{"pods", "an update of a revision"},
		holds: func(s *subject, saw func(string)) error {
			c := copySnapshot(s.Snapshot)
			if _, err := daemonset.Compute(c, s.Options); err != nil {
				return err
			}
			if len(c.Objects.Pods) > 0 {
				saw("pods")
			}
			for _, change := range s.plan.Revisions {
				if change.Op == daemonset.UpdateRevision {
					saw("an update of a revision")
				}
			}
			if !reflect.DeepEqual(c, s.Snapshot) {
				return errors.New("Compute wrote to the snapshot")
			}
			return nil
		},
	}
}

func unshared() property {
	return property{
		name: "unshared", anyInput: true,
		why: "(a) a plan may be kept and changed while the cache lives on",
		saw: []string{"a template", "a revision", "a status", "findings", "a created pod"},
		holds: func(s *subject, saw func(string)) error {
			c := copySnapshot(s.Snapshot)
			plan, err := daemonset.Compute(c, s.Options)
			if err != nil {
				return err
			}
			if err := podsAreUnshared(plan, saw); err != nil {
				return err
			}
			for situation, came := range map[string]bool{
				"a template": plan.Template != nil,
				"a revision": len(plan.Revisions) > 0,
				"a status":   plan.Status != nil,
				"findings":   slices.ContainsFunc(plan.Nodes, func(n daemonset.NodeReport) bool { return len(n.Verdict.Findings) > 0 }),
			} {
				if came {
					saw(situation)
				}
			}
			scribble(reflect.ValueOf(&plan))
			if !reflect.DeepEqual(c, s.Snapshot) {
				return errors.New("writing to the plan changed the snapshot")
			}
			return nil
		},
	}
}

func podsAreUnshared(plan daemonset.Plan, saw func(string)) error {
	if len(plan.Creates) == 0 {
		return nil
	}
	saw("a created pod")
	before, err := textOf(plan)
	if err != nil {
		return err
	}
	scribble(reflect.ValueOf(plan.Pod(plan.Creates[0])))
	after, err := textOf(plan)
	if err != nil {
		return err
	}
	return firstDifference(before, after)
}

// scribble overwrites everything that can be reached from v through exported fields,
// including what slices have beyond their length.
func scribble(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			scribble(v.Elem())
			clearValue(v.Elem())
		}
	case reflect.Slice:
		whole := v.Slice(0, v.Cap())
		for i := range whole.Len() {
			scribble(whole.Index(i))
			clearValue(whole.Index(i))
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			scribble(v.MapIndex(key))
		}
		v.Clear()
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				scribble(v.Field(i))
			}
		}
	default:
	}
}

func clearValue(v reflect.Value) {
	if v.CanSet() {
		v.SetZero()
	}
}

func sameInAnyOrder() property {
	return property{
		name: "same in any order", anyInput: true,
		why: "(b) lists come from maps, caches and files",
		saw: []string{"several deletes", "several creates", "several revisions", "a burst cut", "several backoff entries", "several findings"},
		holds: func(s *subject, saw func(string)) error {
			for situation, came := range map[string]bool{
				"several deletes":         len(s.plan.Deletes) > 1,
				"several creates":         len(s.plan.Creates) > 1,
				"several revisions":       len(s.Snapshot.Objects.Revisions) > 1,
				"a burst cut":             s.plan.Deferred != daemonset.Deferred{},
				"several backoff entries": len(s.Snapshot.Backoff) > 1,
				"several findings":        len(s.plan.Findings) > 1,
			} {
				if came {
					saw(situation)
				}
			}
			for seed := range uint64(3) {
				if err := samePlan(s, shuffled(s.Snapshot, seed)); err != nil {
					return fmt.Errorf("order %d: %w", seed, err)
				}
			}
			return nil
		},
	}
}

// shuffled returns the snapshot in another order: backwards for seed 0.
func shuffled(s daemonset.Snapshot, seed uint64) daemonset.Snapshot {
	r := rand.New(rand.NewPCG(seed, 0))
	s.Objects.Nodes = shuffle(s.Objects.Nodes, seed, r)
	s.Objects.Pods = shuffle(s.Objects.Pods, seed, r)
	s.Objects.Revisions = shuffle(s.Objects.Revisions, seed, r)
	s.Backoff = shuffle(s.Backoff, seed, r)
	return s
}

func shuffle[S ~[]E, E any](s S, seed uint64, r *rand.Rand) S {
	s = slices.Clone(s)
	if seed == 0 {
		slices.Reverse(s)
		return s
	}
	r.Shuffle(len(s), func(i, j int) { s[i], s[j] = s[j], s[i] })
	return s
}

func sameTwice() property {
	return property{
		name: "same twice", anyInput: true,
		why: "(b) equal snapshots give equal plans, also from a copy",
		saw: []string{"a plan that is not empty"},
		holds: func(s *subject, saw func(string)) error {
			if !s.plan.Empty() {
				saw("a plan that is not empty")
			}
			return samePlan(s, copySnapshot(s.Snapshot))
		},
	}
}

func sameInAnyZone() property {
	return property{
		name: "same in any time zone",
		why:  "the API machinery decodes times into the zone of the process",
		saw:  []string{"a reason that lapses", "a next time"},
		holds: func(s *subject, saw func(string)) error {
			if !s.plan.Next.IsZero() {
				saw("a next time")
			}
			if slices.ContainsFunc(s.plan.Nodes, func(n daemonset.NodeReport) bool { return !n.Until.IsZero() }) {
				saw("a reason that lapses")
			}
			zone := time.FixedZone("elsewhere", 5*3600)
			c := copySnapshot(s.Snapshot)
			c.Now = c.Now.In(zone)
			c.Pending.Deadline = c.Pending.Deadline.In(zone)
			for i := range c.Backoff {
				c.Backoff[i].Since = c.Backoff[i].Since.In(zone)
			}
			for _, pod := range c.Objects.Pods {
				move(pod, zone)
			}
			return samePlan(s, c)
		},
	}
}

func move(pod *corev1.Pod, zone *time.Location) {
	pod.CreationTimestamp.Time = pod.CreationTimestamp.In(zone)
	for i := range pod.Status.Conditions {
		since := &pod.Status.Conditions[i].LastTransitionTime
		since.Time = since.In(zone)
	}
}

func sameAfterJSON() property {
	return property{
		name: "same after JSON",
		why:  "a snapshot as JSON is a complete bug report",
		saw:  []string{"pending writes", "backoff"},
		holds: func(s *subject, saw func(string)) error {
			if s.Snapshot.Pending.Creates > 0 {
				saw("pending writes")
			}
			if len(s.Snapshot.Backoff) > 0 {
				saw("backoff")
			}
			raw, err := json.Marshal(s.Snapshot)
			if err != nil {
				return err
			}
			var read daemonset.Snapshot
			if err := json.Unmarshal(raw, &read); err != nil {
				return err
			}
			return samePlan(s, read)
		},
	}
}
