package fake

import (
	"errors"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// ErrCrashed is what every call of a client returns once the client crashed or was closed.
// A harness takes it as the death of the process that made the call.
var ErrCrashed = errors.New("fake: the process is dead")

// Call names a method of clusterapi.ClusterAPI.
type Call string

// The calls. AnyCall and AnyWrite stand for several in a Fault.
const (
	AnyCall  Call = ""
	AnyWrite Call = "write"

	Observe         Call = "Observe"
	Live            Call = "Live"
	Revision        Call = "Revision"
	CreatePod       Call = "CreatePod"
	PatchPod        Call = "PatchPod"
	DeletePod       Call = "DeletePod"
	CreateRevision  Call = "CreateRevision"
	UpdateRevision  Call = "UpdateRevision"
	PatchRevision   Call = "PatchRevision"
	DeleteRevision  Call = "DeleteRevision"
	UpdateSetStatus Call = "UpdateStatus"
	RecordEvent     Call = "RecordEvent"
)

// reads tells the calls that change nothing. An event changes nothing that anybody plans by,
// and its loss is not noticed.
func (c Call) reads() bool {
	return c == Observe || c == Live || c == Revision || c == RecordEvent
}

func (c Call) covers(made Call) bool {
	return c == AnyCall || c == made || c == AnyWrite && !made.reads()
}

// When says whether a fault strikes before or after a call took effect.
type When uint8

// The moments. A call that fails Before has no effect; one that fails After has taken
// effect, and its caller cannot know.
const (
	Before When = iota
	After
)

// Fault is something that goes wrong with certain calls of one client.
type Fault struct {
	Call  Call                 // which calls; the zero value is all
	About types.NamespacedName // only those about the object of this name; a create may be meant by its generateName. Zero is all
	Node  string               // only creates of pods for this node; empty is all
	Skip  int                  // so many of those calls pass first
	Times int                  // then it strikes so often; zero means once, less than zero always
	When  When                 // before or after the effect
	Wait  time.Duration        // the call hangs until the cluster's clock has moved on so far, or its context is done
	Err   error                // then it fails with this; nil lets it succeed
	Crash bool                 // the process dies: this call and all later ones fail with ErrCrashed
}

// Inject adds a fault to a client. Of several that cover a call, the one that was added
// first strikes; the others do not count the call.
func (cl *Client) Inject(f Fault) {
	cl.locked(func() { cl.faults = append(cl.faults, &f) })
}

// ClearFaults takes away the faults that have not struck yet, and the chaos.
func (cl *Client) ClearFaults() {
	cl.locked(func() { cl.faults, cl.chaos = nil, Chaos{} })
}

// Crashed reports whether the client is dead.
func (cl *Client) Crashed() bool {
	cl.cluster.mu.Lock()
	defer cl.cluster.mu.Unlock()
	return cl.crashed
}

// Writes counts the calls of the client that write, also those that failed. A test that
// kills a process at every write of a run reads here how many there are.
func (cl *Client) Writes() int {
	cl.cluster.mu.Lock()
	defer cl.cluster.mu.Unlock()
	return cl.writes
}

// Chaos is what goes wrong by chance, from 0 to 1 for each call.
type Chaos struct {
	Refuse float64 // the call fails without effect: InternalError, TooManyRequests or ServerTimeout
	Lose   float64 // a write takes effect, and its caller gets a Timeout
}

// SetChaos lets calls of the client fail by chance from now on; the zero value stops it.
// Which calls fail follows from the seed and from what they are about.
func (cl *Client) SetChaos(chaos Chaos) {
	cl.locked(func() { cl.chaos = chaos })
}

// request is what a call is about.
type request struct {
	call Call
	key  types.NamespacedName
	node string
}

// strike decides what goes wrong with a call: a fault that covers it, else chaos. Nil is
// nothing.
func (cl *Client) strike(r request) *Fault {
	for i, f := range cl.faults {
		if !f.covers(r) {
			continue
		}
		if f.Skip > 0 {
			f.Skip--
			return nil
		}
		struck := *f
		switch {
		case f.Times == 0 || f.Times == 1:
			cl.faults = append(cl.faults[:i:i], cl.faults[i+1:]...)
		case f.Times > 1:
			f.Times--
		}
		return &struck
	}
	return cl.strikeByChance(r)
}

func (f *Fault) covers(r request) bool {
	return f.Call.covers(r.call) &&
		(f.About == types.NamespacedName{} || f.About == r.key) &&
		(f.Node == "" || f.Node == r.node)
}

// strikeByChance depends on when a call is made, on what it is about, and on how many such
// calls there were at that moment.
func (cl *Client) strikeByChance(r request) *Fault {
	if cl.chaos == (Chaos{}) {
		return nil
	}
	now := cl.cluster.now
	if !now.Equal(cl.askedAt) {
		clear(cl.asked)
		cl.askedAt = now
	}
	cl.asked[r]++
	source := cl.cluster.chance.source("chaos", strconv.Itoa(cl.number), string(r.call),
		r.key.Namespace, r.key.Name, r.node, now.String(), strconv.Itoa(cl.asked[r]))
	roll, kind := source.Float64(), source.IntN(3)
	resource := schema.GroupResource{Resource: string(r.call)}
	switch {
	case roll < cl.chaos.Refuse && kind == 0:
		return &Fault{Err: apierrors.NewInternalError(errors.New("chaos"))}
	case roll < cl.chaos.Refuse && kind == 1:
		return &Fault{Err: apierrors.NewTooManyRequests("chaos", 1)}
	case roll < cl.chaos.Refuse:
		return &Fault{Err: apierrors.NewServerTimeout(resource, string(r.call), 1)}
	case roll < cl.chaos.Refuse+cl.chaos.Lose && !r.call.reads():
		return &Fault{When: After, Err: apierrors.NewTimeoutError("chaos", 1)}
	}
	return nil
}
