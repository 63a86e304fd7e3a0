package expectations_test

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/expectations"
)

// A create and a delete, from before the calls until a cache has shown both.
func ExampleTracker() {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	const set, old, created = types.UID("set-1"), types.UID("pod-1"), types.UID("pod-2")

	var tracker expectations.Tracker
	tracker.Expect(set, 1, []types.UID{old}, now) // before the first call
	tracker.Created(set, created)                 // the create has returned; the delete succeeded
	tracker.Sent(set, now)
	fmt.Println(tracker.Pending(set).Settled(now))

	tracker.SawDelete(set, old) // events, in any order, and as often as they come
	tracker.SawDelete(set, old)
	tracker.SawCreate(set, created)
	fmt.Println(tracker.Pending(set).Settled(now))
	// Output:
	// false
	// true
}
