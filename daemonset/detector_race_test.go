//go:build race

package daemonset_test

// detecting says that this is a build with the race detector, which lets a sync.Pool forget
// what it has at random: what such a build allocates says nothing.
const detecting = true
