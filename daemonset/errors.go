package daemonset

// InvalidError reports a part of the snapshot that no plan can be made from. An API
// server would have refused it, or the caller put the snapshot together wrongly.
type InvalidError struct {
	Field string // path in the snapshot, such as "daemonSet.spec.selector" or "nodes[3]"
	Err   error
}

func (e *InvalidError) Error() string { return "daemonset: invalid " + e.Field + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *InvalidError) Unwrap() error { return e.Err }
