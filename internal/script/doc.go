// Package script runs golden scripts: text files that build a small cluster with a few
// commands and show what is planned for it. It is test support.
//
// A script is a sequence of blocks. A block is command lines, a line "----", and the lines
// that the commands print, up to an empty line; commands that print nothing give "ok". Lines
// that start with "#" are comments, and are kept when the output is written anew:
//
//	# A node without a pod gets one.
//	daemonset image=v1
//	nodes a
//	plan only=create
//	----
//	create  a  MissingPod
//
// There is no free-form input. What each command means is said where it is handled: those
// that describe a cluster and plan for it are methods of [World]. Another [Runner] can add
// commands of its own and leave the rest to a World.
package script
