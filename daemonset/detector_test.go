//go:build !race

package daemonset_test

// detecting says that this is a build with the race detector.
const detecting = false
