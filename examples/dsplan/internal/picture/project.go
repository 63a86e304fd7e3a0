package picture

import (
	"slices"
	"strings"
	"time"

	"github.com/daemonplan/daemonplan/daemonset/simulate"
)

// set is a result as the page reads it: times are seconds, and what would be repeated for each
// of thousands of nodes is a place in a list.
type set struct {
	Name     string   `json:"name"`
	Outcome  string   `json:"outcome"`
	Summary  string   `json:"summary"`
	Duration float64  `json:"duration"`
	Start    string   `json:"start"`
	Desired  int      `json:"desired"`
	Settled  int      `json:"settled"`
	Peak     int      `json:"peak"`
	Passes   int      `json:"passes"`
	Writes   int      `json:"writes"`
	Held     bool     `json:"held"`
	Budget   budget   `json:"budget"`
	Worst    low      `json:"worst"`
	States   []string `json:"states"` // for people, in the order of simulate.States
	Whats    []string `json:"whats"`
	Reasons  []string `json:"reasons"`
	Zones    []zone   `json:"zones"` // with those that have nodes in the picture
	Apart    int      `json:"apart"` // nodes that have and get no pod, which are not in the picture
	Waits    []string `json:"waits"` // reasons and nodes

	Curve [][4]float64 `json:"curve"` // time, available, settled, pods
}

type budget struct {
	Unavailable int `json:"unavailable"`
	Surge       int `json:"surge"`
}

type low struct {
	At          float64 `json:"at"`
	Unavailable int     `json:"unavailable"`
}

type zone struct {
	Name    string `json:"name"`
	Desired int    `json:"desired"`
	Worst   low    `json:"worst"`
	Nodes   []node `json:"nodes"`
}

type node struct {
	Name     string       `json:"n"`
	Eligible bool         `json:"e,omitempty"`
	Slow     bool         `json:"w,omitempty"`
	Spans    [][2]float64 `json:"s"` // time, place in States
	Story    []event      `json:"t,omitempty"`
}

// event is time, place in Whats, name of the pod, place in Reasons.
type event [4]any

func project(r *simulate.Result) set {
	s := set{
		Name:     r.For.Namespace + "/" + r.For.Name,
		Outcome:  string(r.Outcome),
		Summary:  simulate.Summary(*r),
		Duration: r.Duration.Seconds(),
		Start:    r.Start.Format(time.RFC3339),
		Desired:  r.Desired,
		Settled:  r.Settled,
		Peak:     r.PeakPods,
		Passes:   r.Passes,
		Held:     r.Proof.Held(),
		Budget:   budget{Unavailable: r.Proof.Budget.MaxUnavailable, Surge: r.Proof.Budget.MaxSurge},
		Worst:    lowOf(r.Worst),
		Whats:    []string{},
		Waits:    []string{},
		Reasons:  []string{""},
	}
	for _, w := range r.Waits {
		s.Waits = append(s.Waits, w.String())
	}
	for _, w := range r.Writes {
		s.Writes += w.Count
	}
	for _, state := range simulate.States() {
		s.States = append(s.States, wordsFor(state))
	}
	for _, p := range r.Curve {
		s.Curve = append(s.Curve, [4]float64{p.At.Seconds(), float64(p.Available), float64(p.Settled), float64(p.Pods)})
	}
	s.addZones(r)
	return s
}

func lowOf(l simulate.Low) low { return low{At: l.At.Seconds(), Unavailable: l.Unavailable} }

// addZones sorts the nodes into their zones and leaves out those where nothing is to be seen.
func (s *set) addZones(r *simulate.Result) {
	byZone := map[string][]node{}
	for i := range r.Nodes {
		n := &r.Nodes[i]
		if len(n.Spans) == 1 && n.Spans[0].State == simulate.Idle {
			s.Apart++
			continue
		}
		byZone[n.Zone] = append(byZone[n.Zone], s.node(n))
	}
	s.Zones = []zone{}
	for _, z := range r.Zones {
		if nodes := byZone[z.Name]; len(nodes) > 0 {
			s.Zones = append(s.Zones, zone{Name: z.Name, Desired: z.Desired, Worst: lowOf(z.Worst), Nodes: nodes})
		}
	}
}

func (s *set) node(n *simulate.Node) node {
	out := node{Name: n.Name, Eligible: n.Eligible, Slow: n.Slow}
	for _, stretch := range n.Spans {
		state := slices.Index(simulate.States(), stretch.State)
		out.Spans = append(out.Spans, [2]float64{stretch.From.Seconds(), float64(state)})
	}
	for _, e := range n.Story {
		what := place(&s.Whats, strings.ToLower(string(e.What)))
		out.Story = append(out.Story, event{e.At.Seconds(), what, e.Pod, place(&s.Reasons, string(e.Reason))})
	}
	return out
}

// place is where a word is in a list, to which it is added if it is not there yet.
func place(list *[]string, word string) int {
	i := slices.Index(*list, word)
	if i < 0 {
		i = len(*list)
		*list = append(*list, word)
	}
	return i
}

// wordsFor names a state for people.
func wordsFor(s simulate.State) string {
	switch s {
	case simulate.Updated:
		return "updated, available"
	case simulate.Starting:
		return "new pod starting"
	case simulate.Surging:
		return "old available, new starting"
	case simulate.Outdated:
		return "outdated, available"
	case simulate.Unready:
		return "outdated, not available"
	case simulate.Stopping:
		return "old pod stopping"
	case simulate.Broken:
		return "failed"
	case simulate.Missing:
		return "no pod"
	case simulate.Idle:
	}
	return "no pod, none wanted"
}
