package command

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/daemonplan/daemonplan/clusterapi"
	"github.com/daemonplan/daemonplan/daemonset"
	"k8s.io/apimachinery/pkg/types"
)

// entry is what is known of one DaemonSet: its latest plan, and what became of later passes
// that came to none.
type entry struct {
	key    types.NamespacedName
	plan   daemonset.Plan
	made   time.Time // when the plan was made; zero if there is none
	passed time.Time // when the latest pass ended
	err    error     // of the latest pass
	stale  error     // why the latest pass was refused
}

// plans keeps the latest plan of each DaemonSet. Its zero value keeps none yet.
type plans struct {
	mu      sync.RWMutex
	entries map[types.NamespacedName]entry
}

// note keeps what a pass came to. What is gone is forgotten.
func (p *plans) note(pass clusterapi.Pass, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if pass.Result.Gone {
		delete(p.entries, pass.Key)
		return
	}
	if p.entries == nil {
		p.entries = map[types.NamespacedName]entry{}
	}
	r := p.entries[pass.Key]
	r.key, r.passed, r.err, r.stale = pass.Key, now, pass.Err, nil
	if pass.Result.Stale != nil {
		r.stale = pass.Result.Stale
	}
	if planned(pass) {
		r.plan, r.made = pass.Result.Plan, now
	}
	p.entries[pass.Key] = r
}

// planned reports whether a pass came to a plan.
func planned(pass clusterapi.Pass) bool { return pass.Result.Plan.For.Name != "" }

func (p *plans) get(key types.NamespacedName) (entry, bool) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	r, ok := p.entries[key]
	return r, ok
}

// list returns all, sorted by namespace and name.
func (p *plans) list() []entry {
	p.mu.RLock()
	list := make([]entry, 0, len(p.entries))
	for _, r := range p.entries {
		list = append(list, r)
	}
	p.mu.RUnlock()
	slices.SortFunc(list, func(a, b entry) int { return strings.Compare(a.key.String(), b.key.String()) })
	return list
}
