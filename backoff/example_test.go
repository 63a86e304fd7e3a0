package backoff_test

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/daemonplan/daemonplan/backoff"
)

// A table that outlives its process.
func ExampleStore_Save() {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	key := backoff.Key{Owner: "set-1", Generation: 3, Node: "a"}

	var before backoff.Store
	before.Record(key, now)
	before.Record(key, now.Add(time.Second))
	saved, err := json.Marshal(before.Save())
	if err != nil {
		panic(err)
	}

	var entries backoff.Entries
	if err := json.Unmarshal(saved, &entries); err != nil {
		panic(err)
	}
	var after backoff.Store
	after.Restore(entries)
	entry, _ := after.View("set-1").Get(key)
	fmt.Println(entry.Delay, after.Policy.Wait(entry, now.Add(2*time.Second)))
	// Output: 2s 1s
}
