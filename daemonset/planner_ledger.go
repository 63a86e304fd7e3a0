package daemonset

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/daemonplan/daemonplan/daemonset/internal/roster"
	"github.com/daemonplan/daemonplan/placement"
	"github.com/daemonplan/daemonplan/rollout"
)

// ledger is what the nodes and pods add up to.
type ledger struct {
	claims  []Claim        // of pods, by name
	lost    []*corev1.Pod  // pods that are on no node that could be told, by name
	carried map[string]int // pods by revision hash
	hashes  interned       // those of carried
	unnamed int            // pods without a name

	totals share
	tally  rollout.Tally
	waits  delays // of the nodes with a failed pod that has to wait
	agenda agenda // when time changes what a node adds

	budget    rollout.Budget
	room      [rollout.BySurplus + 1]int     // how many nodes under a limit may take their step
	preferred [rollout.BySurplus + 1][]int32 // which ones, with Options.Prefer
	acting    bool                           // the last plan is one of the node step
	updating  bool                           // the last plan is one of the update step as well
	noted     []int32                        // nodes to which the last plan has given a reason

	steps   actions      // of the plan
	actions actions      // of one walk
	reduced rollout.Node // the node that is looked at
}

// The marks of posts: in which part of a plan they have a part.
const (
	creating  = iota // the node step creates a pod
	deleting         // the node step deletes pods
	telling          // the node step has events
	failing          // a failed pod is there
	stranding        // the node does not exist, and has pods
	dueDelete        // the update step deletes a pod whatever the budget
	dueSurge         // the update step creates a pod whatever the budget
	inBudget         // the update step acts if there is room in the budget
	inSurplus        // the update step deletes a pod if enough others are available
)

// share is what one node adds to the totals.
type share struct {
	counts
	creates int32
	deletes int32
	behind  int32           // 1: a pod that stays is outdated
	marks   roster.Marks    // of one node
	verdict rollout.Verdict // of one node, without reason and pod
	wait    time.Duration   // of one node: how long its last failed pod has to wait in all; 0 if not
}

func (s *share) mark(kind int) { s.marks = s.marks.With(kind) }

// add adds the numbers of a node, and takes them back for by = -1.
func (s *share) add(t *share, by int32) {
	s.counts.add(t.counts, by)
	s.creates += by * t.creates
	s.deletes += by * t.deletes
	s.behind += by * t.behind
}

// enter enters what a node adds in place of what it did.
func (l *ledger) enter(old, cur *share) {
	l.totals.add(old, -1)
	l.totals.add(cur, 1)
	l.tally.Remove(old.verdict)
	l.tally.Add(cur.verdict)
	l.waits.remove(old.wait)
	l.waits.add(cur.wait)
}

// file puts a pod where it belongs.
func (p *Planner) file(k *keptPod) {
	meta := &k.obj.ObjectMeta
	*k = keptPod{obj: k.obj, number: nowhere, standing: p.pass.set.ownershipOf(meta)}
	if k.standing == foreign {
		return
	}
	if meta.Name == "" {
		p.unnamed++
	}
	if claim, ok := k.standing.claim(PodKind, meta); ok {
		at, _ := p.findClaim(meta.Name)
		p.claims = slices.Insert(p.claims, at, claim)
	}
	if k.standing.counts() {
		p.place(k)
	}
}

// place puts a pod of the set on its node.
func (p *Planner) place(k *keptPod) {
	node, ok := placement.TargetNode(k.obj)
	if k.lost = !ok; k.lost {
		at, _ := p.findLost(k.obj.Name)
		p.lost = slices.Insert(p.lost, at, k.obj)
		return
	}
	k.hash = p.hashes.same(hashOf(k.obj.Labels))
	if p.carried == nil {
		p.carried = map[string]int{}
	}
	p.carried[k.hash]++
	if over(k.obj) {
		return
	}
	k.number = p.posts.numberOf(node)
	on := &p.posts.all[k.number]
	on.pods = append(on.pods, pod{obj: k.obj})
	p.posts.touch(k.number)
}

// unfile takes a pod of a name out from where file has put it.
func (p *Planner) unfile(k *keptPod, name string) {
	if k.standing != foreign && name == "" {
		p.unnamed--
	}
	if k.standing == orphaned || k.standing == released {
		at, _ := p.findClaim(name)
		p.claims = slices.Delete(p.claims, at, at+1)
	}
	switch {
	case !k.standing.counts():
		return
	case k.lost:
		at, _ := p.findLost(name)
		p.lost = slices.Delete(p.lost, at, at+1)
		return
	}
	if p.carried[k.hash]--; p.carried[k.hash] == 0 {
		delete(p.carried, k.hash)
		p.hashes.forget(k.hash)
	}
	if k.number == nowhere {
		return
	}
	on := &p.posts.all[k.number]
	on.pods = slices.DeleteFunc(on.pods, func(at pod) bool { return at.obj == k.obj })
	p.posts.touch(k.number)
}

// interned is a few texts. Of equal ones all but one are somewhere else in memory, and are
// not to be looked at again.
type interned []string

// same returns the one that is equal to text, which may be text.
func (t *interned) same(text string) string {
	if i := slices.Index(*t, text); i >= 0 {
		return (*t)[i]
	}
	*t = append(*t, text)
	return text
}

func (t *interned) forget(text string) {
	*t = slices.DeleteFunc(*t, func(other string) bool { return other == text })
}

func (l *ledger) findClaim(name string) (at int, found bool) {
	return slices.BinarySearchFunc(l.claims, name, func(c Claim, name string) int { return strings.Compare(c.Ref.Name, name) })
}

func (l *ledger) findLost(name string) (at int, found bool) {
	return slices.BinarySearchFunc(l.lost, name, func(p *corev1.Pod, name string) int { return strings.Compare(p.Name, name) })
}
