// Package hygiene holds checks on the module's own source that no compiler makes: which
// modules it requires, which package imports which, that no output depends on the order of
// a map, that every package and reason is documented, and that Describe forgets no field.
//
// The checks report problems as sentences, in the order of the source; no problems is nil.
// An error says that the source could not be read, which is no verdict on it.
package hygiene
