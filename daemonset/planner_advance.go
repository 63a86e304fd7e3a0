package daemonset

import (
	"slices"
	"time"

	"github.com/daemonplan/daemonplan/backoff"
	"github.com/daemonplan/daemonplan/rollout"
)

// advance brings everything up to date for a plan at a moment.
func (p *Planner) advance(m Moment) {
	if p.mode == unread {
		p.read()
	}
	if p.historyStale && p.mode == tracking {
		p.readHistory()
	}
	past := p.moment
	p.moment, p.pass.now = m, wallTime(m.Now)
	if p.mode != tracking {
		p.posts.untouch()
		return
	}
	if p.pass.now.Before(wallTime(past.Now)) {
		p.posts.touchAll()
	}
	p.touchChanged(past.Backoff, m.Backoff)
	for first := p.agenda.first(); !first.at.IsZero() && !first.at.After(p.pass.now); first = p.agenda.first() {
		p.posts.touch(first.number)
		p.agenda.set(first.number, time.Time{})
	}
	p.judge()
}

// touchChanged has the nodes looked at whose backoff has changed. Both lists are in order.
func (p *Planner) touchChanged(old, cur backoff.Entries) {
	for len(old) > 0 || len(cur) > 0 {
		side := firstOf(old, cur)
		switch {
		case side < 0:
			p.touchNamed(old[0].Key.Node)
		case side > 0, old[0].Delay != cur[0].Delay, !old[0].Since.Equal(cur[0].Since):
			p.touchNamed(cur[0].Key.Node)
		}
		if side <= 0 {
			old = old[1:]
		}
		if side >= 0 {
			cur = cur[1:]
		}
	}
}

// firstOf says which of two lists, not both empty, has the earlier key in front.
func firstOf(a, b backoff.Entries) int {
	switch {
	case len(a) == 0:
		return 1
	case len(b) == 0:
		return -1
	}
	return a[0].Key.Compare(b[0].Key)
}

func (p *Planner) touchNamed(node string) {
	if number, known := p.posts.numbers[node]; known {
		p.posts.touch(number)
	}
}

// judge looks at all nodes that were touched.
func (p *Planner) judge() {
	p.forgetReasons()
	p.judgeTouched()
	surged := p.budget.MaxSurge > 0
	p.budget = p.pass.set.budgetFor(int(p.totals.desired))
	if surges := p.budget.MaxSurge > 0; surges != surged { // other rules for all nodes
		p.posts.touchAll()
		p.judgeTouched()
	}
}

func (p *Planner) judgeTouched() {
	for _, number := range p.posts.touched {
		p.judgePost(number)
	}
	p.posts.touched = p.posts.touched[:0]
}

func (p *Planner) judgePost(number int32) {
	t := &p.posts.all[number]
	t.touched = false
	if p.posts.gone(number) && len(t.pods) == 0 {
		p.enter(&t.share, &share{})
		p.agenda.set(number, time.Time{})
		p.posts.drop(number)
		return
	}
	p.posts.judge(number, p.pass.matcher)
	for i := range t.pods {
		t.pods[i] = p.pass.readOn(t.pods[i].obj, number)
	}
	if len(t.pods) > 1 {
		slices.SortFunc(t.pods, keepFirst)
	}
	cur := p.assess(number)
	p.enter(&t.share, &cur)
	if cur.marks != t.share.marks {
		p.posts.order.Mark(number, cur.marks)
	}
	t.share = cur
	p.agenda.set(number, p.turns(number))
	p.posts.fleet.forget(number, 0) // there are no others at the time
}

// assess finds what a node adds to the totals.
func (p *Planner) assess(number int32) share {
	var s share
	p.assessPods(&s, number)
	p.assessStep(&s, number)
	p.assessUpdate(&s, number)
	return s
}

func (p *Planner) assessPods(s *share, number int32) {
	n := p.posts.node(number)
	for i := range n.pods {
		if on := &n.pods[i]; on.staying() && !on.current {
			s.behind = 1
		}
	}
	if p.posts.gone(number) {
		return
	}
	s.count(n)
	if slices.ContainsFunc(n.pods, func(on pod) bool { return on.state == Failed }) {
		s.mark(failing)
	}
}

// assessStep finds what the node step does on a node.
func (p *Planner) assessStep(s *share, number int32) {
	step := p.visit(number)
	s.creates, s.deletes = int32(len(step.creates)), int32(len(step.deletes))
	if !step.next.IsZero() {
		s.wait = step.next.Sub(p.pass.now)
	}
	if p.posts.gone(number) {
		s.mark(stranding)
		return
	}
	if s.creates > 0 {
		s.mark(creating)
	}
	if s.deletes > 0 {
		s.mark(deleting)
	}
	if len(step.events) > 0 {
		s.mark(telling)
	}
}

// assessUpdate finds what a node asks of the update step.
func (p *Planner) assessUpdate(s *share, number int32) {
	v := p.verdict(number)
	s.verdict = rollout.Verdict{Limit: v.Limit, Spends: v.Spends, Available: v.Available}
	switch {
	case v.Limit != rollout.ByNothing:
		s.mark(markUnder(v.Limit))
	case v.Step == rollout.StepDelete:
		s.mark(dueDelete)
	case v.Step == rollout.StepSurge:
		s.mark(dueSurge)
	}
}

// visit runs the node step on one node.
func (p *Planner) visit(number int32) *actions {
	step := nodeStep{pass: &p.pass, backoff: p.moment.Backoff, actions: p.actions.reset(p.options)}
	p.visitWith(&step, number)
	return &p.actions
}

func (p *Planner) visitWith(step *nodeStep, number int32) {
	switch n := p.posts.node(number); {
	case p.posts.gone(number):
		step.visitMissing(n)
	case n.unsettled():
		step.visit(n)
	}
}

// verdict is what a node asks of the update step.
func (p *Planner) verdict(number int32) rollout.Verdict {
	if p.pass.set.onDelete || !p.updatable(number) {
		return rollout.Verdict{}
	}
	p.reduced = p.pass.reduce(p.posts.node(number), p.reduced.Pods[:0])
	in := p.pass.rolloutInput(int(p.totals.desired), p.budget)
	return in.Judge(&p.reduced)
}

func (p *Planner) updatable(number int32) bool {
	n := p.posts.node(number)
	if p.posts.gone(number) {
		return n.updatableThoughGone(p.budget)
	}
	return n.updatable()
}

// turns is when time alone changes what a node adds, or the reason in its report: after the
// visit, whose wait is still noted.
func (p *Planner) turns(number int32) time.Time {
	n := p.posts.node(number)
	at := n.note().until
	for i := range n.pods {
		on := &n.pods[i]
		if on.health != rollout.Ready {
			continue
		}
		if ready, ok := p.pass.availableAt(readyCondition(on.obj)); ok { // also one that no plan can name
			at = earlier(at, ready)
		}
	}
	if p.posts.all[number].share.marks.Has(failing) {
		entry, _ := p.moment.Backoff.Get(p.pass.backoffKey(n))
		at = earlier(at, wallTime(p.options.Backoff.Turns(entry, p.pass.now)))
	}
	return at
}
