package simulate

import "github.com/daemonplan/daemonplan/daemonset"

// touch brings up to date what is known of a node, after one of its pods changed.
func (r *run) touch(i int) {
	if i == nowhere {
		return
	}
	n := &r.nodes[i]
	k := n.study(r.clock(), r.minReady)
	if k == n.known {
		return
	}
	r.reckon(n, -1)
	moved := k.state != n.state
	n.known = k
	r.reckon(n, 1)
	if moved {
		r.extend(n)
	}
}

// extend notes a new state. One that lasted no time is left out.
func (r *run) extend(n *node) {
	spans := n.out.Spans
	if last := len(spans) - 1; spans[last].From == r.now {
		spans = spans[:last]
	}
	if len(spans) == 0 || spans[len(spans)-1].State != n.state {
		spans = append(spans, Stretch{From: r.now, State: n.state})
	}
	n.out.Spans = spans
}

// reckon takes a node into the counts, or with -1 out of them.
func (r *run) reckon(n *node, sign int) {
	c := &r.counted
	if n.class == settled {
		c.settled += sign
	}
	if n.eligible && n.state.Available() {
		c.available[n.zone] += sign
	}
	if n.eligible && n.serves {
		c.serving += sign
	}
	if n.doubled {
		c.doubled += sign
	}
	if n.behind {
		c.behind += sign
	}
}

// tell adds an event to the story of a pod's node.
func (r *run) tell(p *pod, what What, reason daemonset.Reason) {
	if p.node == nowhere {
		return
	}
	out := &r.nodes[p.node].out
	out.Story = append(out.Story, Event{At: r.now, What: what, Pod: p.obj.Name, Reason: reason})
}

// observe notes the numbers of an instant, after all that was done at it.
func (r *run) observe() {
	available := 0
	for i := range r.zones {
		zone := &r.zones[i]
		available += r.counted.available[i]
		zone.Worst = zone.Worst.or(Low{At: r.now, Unavailable: zone.Desired - r.counted.available[i]})
	}
	r.worst = r.worst.or(Low{At: r.now, Unavailable: r.counted.desired - available})
	point := Point{At: r.now, Available: available, Settled: r.counted.settled, Pods: len(r.pods) - r.removed}
	r.peak = max(r.peak, point.Pods)
	last := point
	if len(r.curve) > 0 {
		last = r.curve[len(r.curve)-1]
		last.At = point.At
	}
	if len(r.curve) == 0 || last != point {
		r.curve = append(r.curve, point)
	}
}

// or is the lower of two moments, the first if they are equal.
func (l Low) or(other Low) Low {
	if other.Unavailable > l.Unavailable {
		return other
	}
	return l
}
