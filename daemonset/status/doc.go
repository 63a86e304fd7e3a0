// Package status judges how far a DaemonSet is: complete, progressing, waiting, stuck, or
// paused by its OnDelete strategy; what it waits for and until when; and which pods and nodes
// are in trouble, why and since when.
//
// [Of] is one pure function from a snapshot to a [Report], [Assess] the same for a plan that is
// there already. Only facts of the snapshot count. What is remembered between snapshots is not
// needed: how long something lasts is told by the times in the objects.
//
// # What is stuck
//
// A node is done when it has an available pod of the current revision and nothing else of the
// set. A pod that keeps its node from being done is in trouble from [Options.Deadline] on, by
// default ten minutes as for Deployments, counted from the last thing that is known to have
// happened to it: it was created, or lost its readiness. A pod that is being deleted is in
// trouble when it is still there [Options.Deadline] after the end of its grace period. Pods
// that fail and are replaced again and again are in trouble when their backoff shows that it
// has gone on for as long.
//
// A set is stuck when it is not complete and nothing moves by itself any more: the plan changes
// nothing but what is in trouble, and no node waits for a pod that still has time. As long as
// the update goes on elsewhere the set is progressing, with troubles.
package status
