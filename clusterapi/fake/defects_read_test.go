package fake_test

import (
	"context"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/clusterapi"
	"github.com/daemonplan/daemonplan/clusterapi/fake"
	"github.com/daemonplan/daemonplan/daemonset"
)

// defect is something that an adapter may do wrong.
type defect struct {
	bend     func(c *fake.Cluster, d *defective)
	found    string   // the part of the contract that has to find it, with _ for spaces
	says     []string // what has to be in the output
	harmless bool     // it is no defect: the contract is met
	plain    bool     // the harness has only what every harness has
	hangs    bool     // the suite waits for a call, so give it little time
}

func defects() map[string]defect {
	all := readDefects()
	maps.Copy(all, harmless())
	maps.Copy(all, asOfDefects())
	maps.Copy(all, podDefects())
	maps.Copy(all, otherWriteDefects())
	maps.Copy(all, callDefects())
	maps.Copy(all, seenDefects())
	maps.Copy(all, lossyDefects())
	maps.Copy(all, strategicDefects())
	maps.Copy(all, successorDefects())
	return all
}

// harmless are adapters that the contract allows.
func harmless() map[string]defect {
	return map[string]defect{
		"none": {harmless: true, bend: func(*fake.Cluster, *defective) {}},
		"shows what belongs to others": {harmless: true, bend: func(c *fake.Cluster, d *defective) {
			d.seeing(func(o *clusterapi.Observation) {
				o.Objects.Pods = append(o.Objects.Pods, others(c, o.Objects.Pods)...)
				o.Objects.Revisions = append(o.Objects.Revisions, others(c, o.Objects.Revisions)...)
			})
		}},
		"shows only orphans that match": {harmless: true, bend: func(_ *fake.Cluster, d *defective) {
			d.seeing(func(o *clusterapi.Observation) {
				o.Objects.Pods = without(o.Objects.Pods, func(p *corev1.Pod) bool {
					return metav1.GetControllerOf(p) == nil && p.Labels["app"] != "agent"
				})
			})
		}},
		"observes what planning reads": {harmless: true, bend: func(_ *fake.Cluster, d *defective) { d.seeing(diet) }},
		"does not know how far it is": {harmless: true, bend: func(_ *fake.Cluster, d *defective) {
			d.seeing(func(o *clusterapi.Observation) { o.AsOf = clusterapi.Versions{} })
		}},
		"a harness without means": {
			harmless: true, plain: true, bend: func(*fake.Cluster, *defective) {},
			says: []string{
				"--- SKIP: TestContractOnADefect/Observe/AsOf_never_runs_ahead",
				"--- SKIP: TestContractOnADefect/Live/never_from_a_cache",
				"--- SKIP: TestContractOnADefect/Revision/never_from_a_cache",
				"--- SKIP: TestContractOnADefect/RecordEvent/publishes",
				"--- SKIP: TestContractOnADefect/Observe/shows_pods_that_have_finished",
				"--- SKIP: TestContractOnADefect/every_call/ends_with_its_context",
				"the harness is no Holder", "the harness is no Recorder", "the harness is no StatusWriter", "the harness is no Staller",
			},
		},
	}
}

// others are the objects of the cluster that are not among some.
func others[T fake.Object](c *fake.Cluster, some []T) []T {
	return without(fake.List[T](c, ""), func(obj T) bool {
		return slices.ContainsFunc(some, func(other T) bool { return other.GetUID() == obj.GetUID() })
	})
}

func without[T any](list []T, left func(T) bool) []T {
	return slices.DeleteFunc(slices.Clone(list), left)
}

func readDefects() map[string]defect {
	const all, gone = "Observe/returns_the_set_with_all", "Observe/no_longer_shows_what_is_gone"
	pods := func(found string, left func(*corev1.Pod) bool) defect {
		return defect{found: found, bend: func(_ *fake.Cluster, d *defective) {
			d.seeing(func(o *clusterapi.Observation) { o.Objects.Pods = without(o.Objects.Pods, left) })
		}}
	}
	nodes := func(found string, left func(*corev1.Node) bool) defect {
		return defect{found: found, bend: func(_ *fake.Cluster, d *defective) {
			d.seeing(func(o *clusterapi.Observation) { o.Objects.Nodes = without(o.Objects.Nodes, left) })
		}}
	}
	revisions := func(left func(*appsv1.ControllerRevision) bool) defect {
		return defect{found: all, bend: func(_ *fake.Cluster, d *defective) {
			d.seeing(func(o *clusterapi.Observation) { o.Objects.Revisions = without(o.Objects.Revisions, left) })
		}}
	}
	return map[string]defect{
		"observes no orphans": pods(all, func(p *corev1.Pod) bool { return metav1.GetControllerOf(p) == nil }),
		"observes no owned":   pods(all, func(p *corev1.Pod) bool { return metav1.GetControllerOf(p) != nil }),
		"lists pods by the selector": pods("Observe/shows_owned_pods_that_the_selector",
			func(p *corev1.Pod) bool { return p.Labels["app"] != "agent" }),
		"hides pods that are being deleted": pods("Observe/shows_pods_that_are_being_deleted",
			func(p *corev1.Pod) bool { return p.DeletionTimestamp != nil }),
		"hides pods that failed": pods("Observe/shows_pods_that_have_finished",
			func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodFailed }),
		"hides pods that succeeded": pods("Observe/shows_pods_that_have_finished",
			func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodSucceeded }),
		"observes no nodes":               nodes(all, func(*corev1.Node) bool { return true }),
		"hides cordoned nodes":            nodes(all, func(n *corev1.Node) bool { return n.Spec.Unschedulable }),
		"hides tainted nodes":             nodes(all, func(n *corev1.Node) bool { return len(n.Spec.Taints) > 0 }),
		"hides unready nodes":             nodes("Observe/shows_pods_that_have_finished_and_nodes_that_are_not_ready", unready),
		"observes no revisions":           revisions(func(*appsv1.ControllerRevision) bool { return true }),
		"lists revisions by the selector": revisions(func(r *appsv1.ControllerRevision) bool { return r.Labels["app"] != "agent" }),
		"observes only owned revisions": revisions(func(r *appsv1.ControllerRevision) bool {
			owner := metav1.GetControllerOf(r)
			return owner == nil || owner.Name != "agent"
		}),
		"lists the first page of nodes": {found: all, bend: func(_ *fake.Cluster, d *defective) {
			d.seeing(func(o *clusterapi.Observation) { o.Objects.Nodes = o.Objects.Nodes[:min(4, len(o.Objects.Nodes))] })
		}},
		"forgets no pod": {found: gone, bend: func(_ *fake.Cluster, d *defective) {
			remember(d, func(o *daemonset.Objects) *[]*corev1.Pod { return &o.Pods })
		}},
		"forgets no node": {found: gone, bend: func(_ *fake.Cluster, d *defective) {
			remember(d, func(o *daemonset.Objects) *[]*corev1.Node { return &o.Nodes })
		}},
		"forgets no revision": {found: gone, bend: func(_ *fake.Cluster, d *defective) {
			remember(d, func(o *daemonset.Objects) *[]*appsv1.ControllerRevision { return &o.Revisions })
		}},
		"no error for a set that is gone": {
			found: "Observe/a_set_that_is_not_there", says: []string{"Observe returned neither a DaemonSet nor an error"},
			bend: func(_ *fake.Cluster, d *defective) {
				d.observe = func(ctx context.Context, key types.NamespacedName) (clusterapi.Observation, error) {
					o, _ := d.Client.Observe(ctx, key)
					return o, nil
				}
			},
		},
		"live from the cache": {found: "Live/never_from_a_cache", bend: func(_ *fake.Cluster, d *defective) {
			d.live = func(ctx context.Context, key types.NamespacedName) (*appsv1.DaemonSet, error) {
				o, err := d.Client.Observe(ctx, key)
				return o.Objects.DaemonSet.DeepCopy(), err
			}
		}},
	}
}

func unready(node *corev1.Node) bool {
	return slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status != corev1.ConditionTrue
	})
}

// remember makes Observe show all objects of a kind that it ever showed.
func remember[T fake.Object](d *defective, list func(o *daemonset.Objects) *[]T) {
	known := map[types.UID]T{}
	d.seeing(func(o *clusterapi.Observation) {
		seen := list(&o.Objects)
		for _, obj := range *seen {
			delete(known, obj.GetUID())
		}
		now := slices.Clone(*seen)
		*seen = append(*seen, slices.Collect(maps.Values(known))...)
		for _, obj := range now {
			known[obj.GetUID()] = obj
		}
	})
}

func asOfDefects() map[string]defect {
	const ahead, behind = "Observe/AsOf_never_runs_ahead", "Observe/AsOf_covers"
	asOf := func(found, says string, change func(c *fake.Cluster, v *clusterapi.Versions)) defect {
		return defect{found: found, says: []string{says}, bend: func(c *fake.Cluster, d *defective) {
			d.seeing(func(o *clusterapi.Observation) { change(c, &o.AsOf) })
		}}
	}
	return map[string]defect{
		"claims newer sets": asOf(ahead, "DaemonSet: AsOf says", func(c *fake.Cluster, v *clusterapi.Versions) { v.DaemonSets = c.Version() }),
		"claims newer pods": asOf(ahead, "Pod: AsOf says", func(c *fake.Cluster, v *clusterapi.Versions) { v.Pods = c.Version() }),
		"claims newer revisions": asOf(ahead, "ControllerRevision: AsOf says",
			func(c *fake.Cluster, v *clusterapi.Versions) { v.Revisions = c.Version() }),
		"claims older sets":      asOf(behind, "DaemonSets: AsOf says", func(_ *fake.Cluster, v *clusterapi.Versions) { v.DaemonSets = "1" }),
		"claims older pods":      asOf(behind, "Pods: AsOf says", func(_ *fake.Cluster, v *clusterapi.Versions) { v.Pods = "1" }),
		"claims older revisions": asOf(behind, "Revisions: AsOf says", func(_ *fake.Cluster, v *clusterapi.Versions) { v.Revisions = "1" }),
	}
}
