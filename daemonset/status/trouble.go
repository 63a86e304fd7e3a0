package status

import (
	"cmp"
	"iter"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/daemonplan/daemonplan/backoff"
	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/daemonset/internal/plain"
	"github.com/daemonplan/daemonplan/rollout"
)

// examine finds what keeps a node from being done, and whether it moves by itself: something
// happens there, or time brings it on. A pod that is replaced is a way out of trouble, unless
// pods there have failed again and again for too long.
func (j *judge) examine(report *daemonset.NodeReport) {
	hopeless := false
	for i := range report.Pods {
		if trouble, ok := j.trouble(report, &report.Pods[i]); ok {
			trouble = j.add(trouble)
			hopeless = hopeless || trouble.Cause == Failing && trouble.Over && j.backsOff(report.Name)
		}
	}
	if report.Reason == daemonset.Suspended {
		j.report.Troubles = append(j.report.Troubles, noRoom(report))
	}
	if !hopeless && (j.acted[report.Name] || !report.Until.IsZero() || report.Reason == daemonset.BurstExceeded) {
		j.moving = true
	}
}

// noRoom is a node that cannot take a pod until something else changes there. Since when is not
// known, and time does not end it.
func noRoom(report *daemonset.NodeReport) Trouble {
	t := Trouble{Node: report.Name, Cause: NoRoom, Over: true}
	if findings := report.Verdict.Findings; len(findings) > 0 {
		t.Text = strings.Join(plain.NonEmpty(string(findings[0].Code), plain.Clip(findings[0].Detail)), ": ")
	}
	return t
}

// add notes a trouble. One that still has time moves by itself.
func (j *judge) add(t Trouble) Trouble {
	t = j.timed(t)
	j.moving = j.moving || !t.Over
	j.report.Troubles = append(j.report.Troubles, t)
	return t
}

// timed says of a trouble how long it has.
func (j *judge) timed(t Trouble) Trouble {
	switch {
	case t.Cause == NeverMature:
		t.Over = true
		return t
	case t.Since.IsZero():
		// The objects do not say since when: the youngest that it can be is now.
		t.Until = j.snapshot.Now.Add(j.options.deadline())
	default:
		t.Until = t.Since.Add(j.options.deadline())
		t.Over = !t.Until.After(j.snapshot.Now)
	}
	t.Since, t.Until = written(t.Since), written(t.Until)
	return t
}

// written brings an instant into a form that JSON can write: in UTC, and zero when its year has
// not four digits.
func written(t time.Time) time.Time {
	t = t.UTC()
	if year := t.Year(); year < 0 || year > 9999 {
		return time.Time{}
	}
	return t
}

// trouble says what is wrong with a pod; ok is false if nothing is, or only that it has to be
// ready for longer.
func (j *judge) trouble(report *daemonset.NodeReport, on *daemonset.PodReport) (t Trouble, ok bool) {
	obj := j.pods[on.Ref]
	if obj == nil {
		return Trouble{}, false
	}
	t = Trouble{Node: report.Name, Pod: on.Ref.Name}
	switch {
	case on.State == daemonset.Terminating:
		t.Cause, t.Since = Undeleted, obj.DeletionTimestamp.Time
	case on.State != daemonset.Live:
		t.Cause, t.Since = Failing, j.failingSince(report.Name, obj)
		t.Text = strings.Join(plain.NonEmpty(obj.Status.Reason, plain.Clip(obj.Status.Message)), ": ")
	case on.Health == rollout.Available:
		return Trouble{}, false
	case on.Health == rollout.Ready:
		if c := condition(obj, corev1.PodReady); c == nil || !c.LastTransitionTime.IsZero() {
			return Trouble{}, false
		}
		t.Cause, t.Text = NeverMature, "its condition Ready has no lastTransitionTime"
	default:
		t.Cause, t.Text = unready(obj)
		t.Since = latest(obj.CreationTimestamp.Time, readySince(obj))
		t.Again = wasReady(obj)
	}
	if down := nodeDown(j.nodes[report.Name]); down != nil && t.Cause != NeverMature {
		t.Cause = NodeDown
		t.Text = strings.Join(plain.NonEmpty("the node's condition Ready is "+string(down.Status), down.Reason), ", ")
	}
	return t, true
}

// failingSince is since when pods fail on a node, as far as the backoff tells: its delay
// doubles with each failure, so that the delays before the last one add up to it, less the
// first.
func (j *judge) failingSince(node string, obj *corev1.Pod) time.Time {
	entry, known := j.entry(node)
	if !known {
		return latest(obj.CreationTimestamp.Time, endedAt(obj))
	}
	initial := j.options.Plan.Backoff.Initial
	if initial <= 0 {
		initial = backoff.DefaultInitial
	}
	return entry.Since.Add(-max(0, entry.Delay-initial))
}

// backsOff reports whether pods have failed on the node before.
func (j *judge) backsOff(node string) bool {
	_, known := j.entry(node)
	return known
}

// entry is the backoff of a node, if it has any that still counts.
func (j *judge) entry(node string) (backoff.Entry, bool) {
	key := backoff.Key{Owner: j.set.UID, Generation: j.set.Status.ObservedGeneration, Node: node}
	entry, known := j.backoff.Get(key)
	return entry, known && entry.Delay > 0 && !j.options.Plan.Backoff.Decayed(entry, j.snapshot.Now)
}

// endedAt is when the last container of a pod ended, as far as it says.
func endedAt(obj *corev1.Pod) time.Time {
	var last time.Time
	for i := range obj.Status.ContainerStatuses {
		if ended := obj.Status.ContainerStatuses[i].State.Terminated; ended != nil {
			last = latest(last, ended.FinishedAt.Time)
		}
	}
	return last
}

// lost counts a node whose pod is gone, ended or no longer ready for a reason other than an
// update.
func (j *judge) lost(report *daemonset.NodeReport) {
	if !report.Verdict.Decision.Wants() || available(report) || j.byUpdate(report) {
		return
	}
	for i := range report.Pods {
		on := &report.Pods[i]
		obj := j.pods[on.Ref]
		if on.State != daemonset.Live || obj != nil && wasReady(obj) {
			j.report.Counts.Lost++
			return
		}
	}
	if len(report.Pods) == 0 && !j.young(report.Name) && !j.rolling {
		j.report.Counts.Lost++
	}
}

// young reports whether a node came within the deadline.
func (j *judge) young(name string) bool {
	node := j.nodes[name]
	return node != nil && j.recent(node.CreationTimestamp.Time)
}

func (j *judge) recent(t time.Time) bool {
	return t.Add(j.options.deadline()).After(j.snapshot.Now)
}

// unready says why a live pod is not ready.
func unready(obj *corev1.Pod) (Cause, string) {
	if obj.Spec.NodeName == "" {
		text := ""
		if c := condition(obj, corev1.PodScheduled); c != nil {
			text = strings.Join(plain.NonEmpty(c.Reason, plain.Clip(c.Message)), ": ")
		}
		return Unscheduled, text
	}
	if cause, text := containerTrouble(obj); cause != "" {
		return cause, text
	}
	if obj.Status.Phase != corev1.PodRunning {
		text := strings.Join(plain.NonEmpty(obj.Status.Reason, plain.Clip(obj.Status.Message)), ": ")
		return NotStarted, cmp.Or(text, firstWait(obj))
	}
	text := ""
	if c := condition(obj, corev1.PodReady); c != nil {
		text = strings.Join(plain.NonEmpty(c.Reason, plain.Clip(c.Message)), ": ")
	}
	return NotReady, text
}

// firstWait is what the first container that waits says of itself, such as ContainerCreating.
func firstWait(obj *corev1.Pod) string {
	for status := range containerStatuses(obj) {
		if status.State.Waiting != nil {
			return waitText(status)
		}
	}
	return ""
}

// containerStatuses yields what the kubelet says of the containers, of those first that run
// first.
func containerStatuses(obj *corev1.Pod) iter.Seq[*corev1.ContainerStatus] {
	return func(yield func(*corev1.ContainerStatus) bool) {
		for _, statuses := range [...][]corev1.ContainerStatus{obj.Status.InitContainerStatuses, obj.Status.ContainerStatuses} {
			for i := range statuses {
				if !yield(&statuses[i]) {
					return
				}
			}
		}
	}
}

func waitText(status *corev1.ContainerStatus) string {
	waiting := status.State.Waiting
	return strings.Join(plain.NonEmpty("container "+status.Name+": "+waiting.Reason, plain.Clip(waiting.Message)), ": ")
}

// containerTrouble is the first thing that keeps a container of a pod from running, by the
// reasons that the kubelet of Kubernetes v1.37.2 gives; empty if there is none. One that is
// just being created is no trouble.
func containerTrouble(obj *corev1.Pod) (Cause, string) {
	for status := range containerStatuses(obj) {
		if waiting := status.State.Waiting; waiting != nil {
			if cause := causeOf(waiting.Reason); cause != "" {
				return cause, waitText(status)
			}
		}
	}
	return "", ""
}

func causeOf(waiting string) Cause {
	switch waiting {
	case "ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "ImageInspectError", "RegistryUnavailable", "SignatureValidationFailed":
		return ImagePull
	case "CrashLoopBackOff":
		return CrashLoop
	case "CreateContainerConfigError", "CreateContainerError", "RunContainerError", "PreStartHookError", "PostStartHookError":
		return BadConfig
	}
	return ""
}

// wasReady reports whether a pod that is not ready had been: its condition changed after the
// kubelet took it over, when it was first written, give or take a second.
func wasReady(obj *corev1.Pod) bool {
	c, start := condition(obj, corev1.PodReady), obj.Status.StartTime
	return c != nil && c.Status != corev1.ConditionTrue && start != nil && c.LastTransitionTime.After(start.Add(time.Second))
}

func readySince(obj *corev1.Pod) time.Time {
	if c := condition(obj, corev1.PodReady); c != nil {
		return c.LastTransitionTime.Time
	}
	return time.Time{}
}

// nodeDown is the node's condition Ready if it is there and not true.
func nodeDown(node *corev1.Node) *corev1.NodeCondition {
	if node == nil {
		return nil
	}
	for i := range node.Status.Conditions {
		if c := &node.Status.Conditions[i]; c.Type == corev1.NodeReady && c.Status != corev1.ConditionTrue {
			return c
		}
	}
	return nil
}

func condition(obj *corev1.Pod, kind corev1.PodConditionType) *corev1.PodCondition {
	for i := range obj.Status.Conditions {
		if c := &obj.Status.Conditions[i]; c.Type == kind {
			return c
		}
	}
	return nil
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
