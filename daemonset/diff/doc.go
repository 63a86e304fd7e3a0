// Package diff says what a change does to the pods of a DaemonSet before it is made: which nodes
// gain, lose or restart a pod, when, and whether a change of the template restarts anything at
// all.
//
// [Snapshots] compares what is planned for two snapshots: of one cluster at two times, or with
// another spec. [Apply] makes the second one from a manifest as it is written by hand.
package diff
