package simulate

// State is what a node looks like from the set's point of view.
type State string

// The states, from the end of a rollout to its beginning and beyond.
const (
	Updated  State = "Updated"  // an available pod of the current revision
	Starting State = "Starting" // a pod of the current revision that is not available yet
	Surging  State = "Surging"  // an available outdated pod, and a current one beside it
	Outdated State = "Outdated" // an available outdated pod
	Unready  State = "Unready"  // an outdated pod that is not available
	Stopping State = "Stopping" // only terminating pods
	Broken   State = "Broken"   // only pods that failed or ended
	Missing  State = "Missing"  // no pod, and there should be one
	Idle     State = "Idle"     // no pod, and there should be none
)

// States returns all states in the order of their declaration.
func States() []State {
	return []State{Updated, Starting, Surging, Outdated, Unready, Stopping, Broken, Missing, Idle}
}

// Available reports whether a node in this state has an available pod.
func (s State) Available() bool { return s == Updated || s == Surging || s == Outdated }
