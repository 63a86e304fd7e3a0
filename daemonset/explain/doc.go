// Package explain says in an administrator's words what a plan holds: for each node whether it
// takes a pod of the set, what keeps pods away and what would lift that, what the pods there
// count as, what happens next and when.
//
// [Nodes] tells the story of every node, [Grouped] puts equal stories together for large
// fleets, and [Hypothetical] asks about a node that does not exist yet. [OfReason] and
// [OfCode] look up what a word of the vocabulary means.
//
// Explanations are for people; programs read the fields of the plan itself, which say the
// same. Everything here is a pure function: no clock, no I/O, and no memory shared with its
// input.
package explain
