package clusterapi

import "github.com/daemonplan/daemonplan/daemonset"

// Settle takes note of what an event showed: pods that came or went, and sets that are gone.
// It must happen before the passes that the event asks for; a Runner sees to that. Repeats
// are harmless.
func (d *Driver) Settle(w daemonset.Wakes) {
	for _, owner := range w.Forget {
		d.forget(owner)
	}
	for _, s := range w.Seen {
		switch s.What {
		case daemonset.SawCreate:
			d.cfg.Expectations.SawCreate(s.Owner, s.Pod)
		case daemonset.SawDelete:
			d.cfg.Expectations.SawDelete(s.Owner, s.Pod)
		}
	}
}
