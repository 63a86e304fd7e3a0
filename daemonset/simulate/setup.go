package simulate

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/daemonplan/daemonplan/backoff"
	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/placement"
)

// run is one simulation.
type run struct {
	options  Options
	model    Model
	seed     uint64
	start    time.Time
	now      time.Duration // since start
	last     time.Duration // when something last happened
	grid     time.Duration
	minReady time.Duration

	set       *appsv1.DaemonSet // replaced as its status is written
	revisions []*appsv1.ControllerRevision
	backoff   backoff.Entries
	others    []*corev1.Pod
	suspended []daemonset.Suspension
	nodes     []node // by name
	pods      []*pod // by name
	removed   int    // of them, gone and not yet left out
	created   int    // pods so far, which makes their names
	lost      int    // pods that are on no node, or on none that exists
	zones     []Zone

	agenda agenda
	seq    int
	wake   time.Duration // when a plan wants to be made again; 0 if never

	planner *daemonset.Planner // nil: every plan is made from scratch
	edited  []*pod             // since the planner was told

	closing  bool // the last pass is being made
	calm     bool // history is written, and who is current is known
	passes   int
	revision daemonset.Revision
	writes   map[Write]int
	proof    Proof
	peak     int
	worst    Low
	curve    []Point
	counted  count
}

// count is numbers that change as nodes do.
type count struct {
	desired, settled int
	available        []int // by zone, nodes that should run a pod and have an available live one
	serving          int   // the same over all zones, with pods that ended and are still called available
	doubled          int   // nodes on which a surge is under way
	behind           int   // nodes with a live outdated pod
}

// generationLabel marks pods with the generation of their template, before revisions did.
const generationLabel = "pod-template-generation"

// newRun reads a snapshot for which plan was made.
func newRun(s daemonset.Snapshot, o Options, plan daemonset.Plan) *run {
	set := *s.Objects.DaemonSet
	r := &run{
		options:   o,
		model:     o.Model,
		seed:      o.Seed,
		start:     s.Now,
		grid:      o.Model.resolution(),
		minReady:  time.Duration(set.Spec.MinReadySeconds) * time.Second,
		set:       &set,
		revisions: slices.Clone(s.Objects.Revisions),
		backoff:   slices.Clone(s.Backoff.Sorted()),
		others:    s.Objects.Others,
		suspended: s.Suspended,
		writes:    map[Write]int{},
	}
	r.readNodes(s.Objects.Nodes, plan)
	r.readPods(s.Objects.Pods)
	r.tellCurrent(plan.Revision)
	r.counted.available = make([]int, len(r.zones))
	for i := range r.nodes {
		n := &r.nodes[i]
		n.known = n.study(r.clock(), r.minReady)
		n.out.Spans = []Stretch{{State: n.state}}
		r.reckon(n, 1)
	}
	for _, p := range r.pods {
		r.enlist(p)
	}
	return r
}

// wants says of every node whether it should run a pod. Where the controller is the
// scheduler too, that is the plan's to say.
func (r *run) wants(plan daemonset.Plan) func(*corev1.Node) bool {
	if r.options.Plan.Fit != nil {
		return func(obj *corev1.Node) bool {
			report, _ := plan.Node(obj.Name)
			return report.Verdict.Decision.Wants()
		}
	}
	matcher := placement.NewMatcher(&r.set.Spec.Template.Spec, r.options.Plan.Placement)
	return func(obj *corev1.Node) bool { return matcher.Decide(obj).Wants() }
}

func (r *run) readNodes(objects []*corev1.Node, plan daemonset.Plan) {
	wants := r.wants(plan)
	sorted := slices.Clone(objects)
	slices.SortFunc(sorted, func(a, b *corev1.Node) int { return strings.Compare(a.Name, b.Name) })
	byName := map[string]int{}
	for _, obj := range sorted {
		byName[obj.Labels[corev1.LabelTopologyZone]] = 0
	}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		byName[name] = len(r.zones)
		r.zones = append(r.zones, Zone{Name: name})
	}
	r.nodes = make([]node, len(sorted))
	for i, obj := range sorted {
		name := obj.Labels[corev1.LabelTopologyZone]
		ready := conditionReady(obj)
		eligible := wants(obj)
		slow := r.model.SlowFactor > 1 && ask(r.seed, whetherItIsSlow, obj.Name, 0).happens(r.model.SlowRate)
		r.nodes[i] = node{
			obj:      obj,
			zone:     byName[name],
			eligible: eligible,
			runs:     ready != corev1.ConditionUnknown,
			ready:    ready == corev1.ConditionTrue,
			slow:     slow,
			stuck:    ask(r.seed, whetherItIsStuck, obj.Name, 0).happens(r.model.StuckRate),
			out:      Node{Name: obj.Name, Zone: name, Eligible: eligible, Slow: slow},
		}
		zone := &r.zones[byName[name]]
		zone.Nodes++
		if eligible {
			zone.Desired++
			r.counted.desired++
		}
	}
}

// readPods keeps the pods that are the set's or may become so. One that the selector does not
// match any more is about to be released: a plan has to see it, but it counts on no node.
func (r *run) readPods(objects []*corev1.Pod) {
	selector, err := metav1.LabelSelectorAsSelector(r.set.Spec.Selector)
	if err != nil {
		return // a plan was made, so it cannot be
	}
	for _, obj := range objects {
		matches := selector.Matches(labels.Set(obj.Labels))
		if !r.mayBeOurs(obj, matches) {
			continue
		}
		p := &pod{obj: obj, node: nowhere, shared: true, original: true, leaving: !matches}
		r.pods = append(r.pods, p)
		if matches {
			p.node = r.nodeOf(obj)
		}
		if p.node == nowhere {
			r.lost++
			continue
		}
		r.nodes[p.node].pods = append(r.nodes[p.node].pods, p)
	}
	slices.SortFunc(r.pods, func(a, b *pod) int { return strings.Compare(a.obj.Name, b.obj.Name) })
}

func (r *run) mayBeOurs(obj *corev1.Pod, matches bool) bool {
	if obj.Namespace != r.set.Namespace {
		return false
	}
	if controller := metav1.GetControllerOfNoCopy(obj); controller != nil {
		return r.set.UID != "" && controller.UID == r.set.UID && controller.Name == r.set.Name &&
			controller.Kind == string(daemonset.DaemonSetKind)
	}
	return matches && obj.DeletionTimestamp == nil
}

func (r *run) nodeOf(obj *corev1.Pod) int {
	if obj.DeletionTimestamp != nil && (obj.Status.Phase == corev1.PodFailed || obj.Status.Phase == corev1.PodSucceeded) {
		return nowhere // it holds no node any more
	}
	name, ok := placement.TargetNode(obj)
	if !ok {
		return nowhere
	}
	return r.nodeNamed(name)
}

func (r *run) nodeNamed(name string) int {
	i, ok := slices.BinarySearchFunc(r.nodes, name, func(n node, name string) int {
		return strings.Compare(n.obj.Name, name)
	})
	if !ok {
		return nowhere
	}
	return i
}

// tellCurrent says which pods are of the revision: by its hash, or by the generation that
// the set carries on from extensions/v1beta1.
func (r *run) tellCurrent(revision daemonset.Revision) {
	legacy, err := strconv.ParseInt(r.set.Annotations[appsv1.DeprecatedTemplateGeneration], 10, 64)
	generation := strconv.FormatInt(legacy, 10)
	for _, p := range r.pods {
		hashed := revision.Hash != "" && p.obj.Labels[appsv1.ControllerRevisionHashLabelKey] == revision.Hash
		p.current = hashed || err == nil && p.obj.Labels[generationLabel] == generation
	}
}

// search finds a pod by name, gone or not.
func (r *run) search(name string) (at int, found bool) {
	return slices.BinarySearchFunc(r.pods, name, func(p *pod, name string) int { return strings.Compare(p.obj.Name, name) })
}

// podNamed finds a pod that is not gone; nil for none.
func (r *run) podNamed(name string) *pod {
	i, ok := r.search(name)
	if !ok || r.pods[i].gone {
		return nil
	}
	return r.pods[i]
}

func (r *run) clock() time.Time { return r.start.Add(r.now) }
