package explain

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/placement"
)

// Story is what there is to say about one node. Its facts are those of the plan: each create
// and delete on the node is one of Actions, and Reason and Until are the report's.
type Story struct {
	Node         string             `json:"node"`
	Hypothetical bool               `json:"hypothetical,omitempty"` // the node is not in the cluster
	Decision     placement.Decision `json:"decision"`
	Means        string             `json:"means"`               // the decision in words
	Obstacles    []Obstacle         `json:"obstacles,omitempty"` // in the order of the verdict's findings
	Pods         []Pod              `json:"pods,omitempty"`      // the one that counts in status first
	Actions      []Action           `json:"actions,omitempty"`   // creates, then deletes, in plan order
	Reason       daemonset.Reason   `json:"reason,omitempty"`    // of what happens there, else of the wait
	Why          Meaning            `json:"why,omitzero"`        // what Reason means
	Until        time.Time          `json:"until,omitzero"`      // when the reason lapses by itself, if it does
}

// Waits reports whether nothing happens on the node in this plan and something is to come.
func (s Story) Waits() bool { return len(s.Actions) == 0 && s.Reason != "" }

// Verb is what an action does.
type Verb string

// The verbs.
const (
	CreatePod Verb = "create"
	DeletePod Verb = "delete"
)

// Action is one create or delete of the plan.
type Action struct {
	Verb   Verb             `json:"verb"`
	Pod    string           `json:"pod,omitempty"` // the name; empty for a create
	Reason daemonset.Reason `json:"reason"`
	Why    Meaning          `json:"why"`
}

// Nodes tells the story of every node of the plan, sorted by name. P must be the plan for s;
// what s does not hold of it costs detail only. The result shares no memory with either.
//
// The cost is linear in nodes and pods.
func Nodes(s daemonset.Snapshot, p daemonset.Plan) []Story {
	t := newTeller(s, p)
	stories := make([]Story, 0, len(p.Nodes))
	for i := range p.Nodes {
		stories = append(stories, t.story(&p.Nodes[i]))
	}
	return stories
}

// Node tells the story of one node. Ok is false if the plan has no such node.
func Node(s daemonset.Snapshot, p daemonset.Plan, name string) (story Story, ok bool) {
	report, ok := p.Node(name)
	if !ok {
		return Story{}, false
	}
	return newTeller(s, p).story(&report), true
}

// Hypothetical tells the story that node would have if it were in the cluster of s, in the
// place of a node of its name if there is one. The error is that of [daemonset.Compute], which
// no plan can be made then; a nil node is one without a name.
func Hypothetical(s daemonset.Snapshot, o daemonset.Options, node *corev1.Node) (Story, error) {
	if node == nil {
		node = &corev1.Node{}
	}
	nodes := make([]*corev1.Node, 0, len(s.Objects.Nodes)+1)
	for _, other := range s.Objects.Nodes {
		if other == nil || other.Name != node.Name {
			nodes = append(nodes, other)
		}
	}
	nodes = append(nodes, node)
	s.Objects.Nodes = nodes
	plan, err := daemonset.Compute(s, o)
	if err != nil {
		return Story{}, err
	}
	story, _ := Node(s, plan, node.Name)
	story.Hypothetical = true
	return story, nil
}

// teller holds what the stories of one plan are told from.
type teller struct {
	words   dictionary
	spec    *corev1.PodSpec // of the template; nil without a set
	nodes   map[string]*corev1.Node
	pods    map[daemonset.Ref]*corev1.Pod
	actions map[string][]Action
	now     time.Time
}

func newTeller(s daemonset.Snapshot, p daemonset.Plan) *teller {
	t := &teller{
		words:   newDictionary(),
		nodes:   make(map[string]*corev1.Node, len(s.Objects.Nodes)),
		pods:    make(map[daemonset.Ref]*corev1.Pod, len(s.Objects.Pods)),
		actions: make(map[string][]Action, len(p.Creates)+len(p.Deletes)),
		now:     s.Now,
	}
	if set := s.Objects.DaemonSet; set != nil {
		t.spec = &set.Spec.Template.Spec
	}
	for _, node := range s.Objects.Nodes {
		if node != nil {
			t.nodes[node.Name] = node
		}
	}
	for _, pod := range s.Objects.Pods {
		if pod != nil {
			t.pods[daemonset.Ref{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID}] = pod
		}
	}
	for _, c := range p.Creates {
		t.actions[c.Node] = append(t.actions[c.Node], Action{Verb: CreatePod, Reason: c.Reason})
	}
	for _, d := range p.Deletes {
		t.actions[d.Node] = append(t.actions[d.Node], Action{Verb: DeletePod, Pod: d.Pod.Name, Reason: d.Reason})
	}
	return t
}

func (t *teller) story(report *daemonset.NodeReport) Story {
	story := Story{
		Node:     report.Name,
		Decision: report.Verdict.Decision,
		Means:    decisionMeans(report.Verdict.Decision),
		Actions:  t.actions[report.Name],
		Reason:   report.Reason,
		Until:    report.Until,
	}
	for i := range story.Actions {
		a := &story.Actions[i]
		a.Why = t.words.reason(a.Reason)
		a.Why.Next = a.follows(report.Verdict.Decision)
	}
	switch {
	case len(story.Actions) > 0 && story.Actions[0].Reason == report.Reason:
		story.Why = story.Actions[0].Why
	case report.Reason != "":
		story.Why = t.words.reason(report.Reason)
	}
	for _, f := range report.Verdict.Findings {
		story.Obstacles = append(story.Obstacles, OfFinding(f, t.spec, t.nodes[report.Name]))
	}
	for i := range report.Pods {
		story.Pods = append(story.Pods, t.pod(report, i))
	}
	return story
}

// follows says what comes of an action, which with some reasons depends on whether the node
// takes another pod.
func (a *Action) follows(d placement.Decision) string {
	switch {
	case a.Verb == CreatePod && a.Reason == daemonset.OutdatedUnavailable:
		return "A current pod is created beside it now."
	case a.Verb == CreatePod || d.Wants():
		return a.Why.Next
	}
	switch a.Reason {
	case daemonset.Outdated, daemonset.OutdatedUnavailable, daemonset.FailedPod, daemonset.SucceededPod:
		return "It is deleted now, and no other takes its place there while the obstacles last."
	}
	return a.Why.Next
}

// decisionMeans is a decision in words.
func decisionMeans(d placement.Decision) string {
	switch d {
	case placement.Run:
		return "takes a pod"
	case placement.Keep:
		return "takes no new pod, and keeps one that is there"
	case placement.Evict:
		return "takes no pod, and keeps none"
	case placement.Suspend:
		return "should run a pod and cannot take one now; keeps one that is there"
	case placement.Undecided:
	}
	return "is not judged"
}
