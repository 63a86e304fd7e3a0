// Package components runs the programs of a Kubernetes control plane inside the calling
// process. One executable that imports it can be all of them: it re-executes itself, and
// Dispatch turns the new process into the program that was asked for.
//
// Each program is the one that its project ships, started by the function that its own main
// calls. Nothing is downloaded: all of them are compiled from Go modules.
package components
