package upstream

import (
	"context"
	"fmt"
	"slices"

	"github.com/daemonplan/daemonplan/placement"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	fwk "k8s.io/kube-scheduler/framework"
	defaults "k8s.io/kubernetes/pkg/apis/core/v1"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodeports"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/noderesources"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/tainttoleration"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumerestrictions"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumezone"
)

// Filters are those of the stock scheduler that decide whether a pod fits on a node, with
// the features that are on by default.
type Filters struct {
	informers informers.SharedInformerFactory
	plugins   []plugin
	used      *usedClaims
}

type plugin struct {
	name   string
	filter fwk.FilterPlugin
}

// Claims are persistent volumes and the claims that they are bound to.
type Claims struct {
	Volumes []*corev1.PersistentVolume
	Claims  []*corev1.PersistentVolumeClaim
}

// handle is as much of a scheduler as the filters need.
type handle struct {
	fwk.Handle
	informers informers.SharedInformerFactory
	used      *usedClaims
}

func (h handle) SharedInformerFactory() informers.SharedInformerFactory { return h.informers }

func (h handle) SnapshotSharedLister() fwk.SharedLister { return lister{used: h.used} }

type lister struct {
	fwk.SharedLister
	used *usedClaims
}

func (l lister) StorageInfos() fwk.StorageInfoLister { return l.used }

// usedClaims are the claims that pods on the node use.
type usedClaims struct{ counts map[string]int }

func (u *usedClaims) IsPVCUsedByPods(key string) bool { return u.counts[key] > 0 }

// NewFilters builds the filters without a scheduler around them.
func NewFilters(ctx context.Context) (*Filters, error) {
	f := &Filters{informers: informers.NewSharedInformerFactory(fake.NewClientset(), 0), used: &usedClaims{}}
	h := handle{informers: f.informers, used: f.used}
	disks, err := volumerestrictions.New(ctx, nil, h, feature.Features{})
	if err != nil {
		return nil, err
	}
	taints, err := tainttoleration.New(ctx, nil, h, feature.Features{})
	if err != nil {
		return nil, err
	}
	zones, err := volumezone.New(ctx, nil, h, feature.Features{})
	if err != nil {
		return nil, err
	}
	f.plugins = []plugin{
		{"Taint", taints.(fwk.FilterPlugin)},
		{"VolumeConflict", disks.(fwk.FilterPlugin)},
		{"VolumeZone", zones.(fwk.FilterPlugin)},
	}
	return f, nil
}

// Question is whether a pod fits on a node beside its other pods.
type Question struct {
	Pod    *corev1.Pod
	Node   *corev1.Node
	Others []*corev1.Pod
	Claims Claims
}

// Judge returns what keeps the pod from the node, sorted: of a resource its name with what
// is asked for, free and allocatable, else the name of the filter. The pods and the node are
// given the API server's defaults first.
func (f *Filters) Judge(ctx context.Context, q Question) ([]string, error) {
	info := framework.NewNodeInfo()
	for _, other := range q.Others {
		if other.Status.Phase == corev1.PodSucceeded || other.Status.Phase == corev1.PodFailed {
			continue // the scheduler's informer does not deliver them
		}
		info.AddPod(asStored(other))
	}
	stored := q.Node.DeepCopy()
	defaults.SetObjectDefaults_Node(stored)
	info.SetNode(stored)
	f.used.counts = info.GetPVCRefCounts()
	if err := f.fill(q.Claims); err != nil {
		return nil, err
	}
	return f.judge(ctx, asStored(q.Pod), info)
}

// asStored returns pod as an API server keeps it. What the pod asks for as a whole is filled
// in last, from containers that have their defaults, as when a pod is created.
func asStored(pod *corev1.Pod) *corev1.Pod {
	stored := pod.DeepCopy()
	whole := stored.Spec.Resources
	stored.Spec.Resources = nil
	defaults.SetObjectDefaults_Pod(stored)
	stored.Spec.Resources = whole
	defaults.SetObjectDefaults_Pod(stored)
	return stored
}

func (f *Filters) fill(claims Claims) error {
	volumes, bound := make([]any, 0, len(claims.Volumes)), make([]any, 0, len(claims.Claims))
	for _, v := range claims.Volumes {
		volumes = append(volumes, v)
	}
	for _, c := range claims.Claims {
		bound = append(bound, c)
	}
	if err := f.informers.Core().V1().PersistentVolumes().Informer().GetStore().Replace(volumes, ""); err != nil {
		return err
	}
	return f.informers.Core().V1().PersistentVolumeClaims().Informer().GetStore().Replace(bound, "")
}

func (f *Filters) judge(ctx context.Context, pod *corev1.Pod, info *framework.NodeInfo) ([]string, error) {
	var found []string
	for _, r := range noderesources.Fits(pod, info, nil, noderesources.ResourceRequestsOptions{EnablePodLevelResources: true}) {
		found = append(found, resourceLine(string(r.ResourceName), r.Requested, r.Capacity-r.Used, r.Capacity))
	}
	if !nodeports.Fits(pod, info) {
		found = append(found, "HostPort")
	}
	matches, err := nodeaffinity.GetRequiredNodeAffinity(pod).Match(info.Node())
	if err == nil && !matches || err != nil {
		found = append(found, "NodeAffinity")
	}
	for _, p := range f.plugins {
		no, err := refuses(ctx, p.filter, pod, info)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.name, err)
		}
		if no {
			found = append(found, p.name)
		}
	}
	slices.Sort(found)
	return found, nil
}

// refuses runs a filter as the scheduler does: what it prepares first, and may skip, too.
func refuses(ctx context.Context, filter fwk.FilterPlugin, pod *corev1.Pod, info *framework.NodeInfo) (bool, error) {
	state := framework.NewCycleState()
	if first, has := filter.(fwk.PreFilterPlugin); has {
		_, status := first.PreFilter(ctx, state, pod, nil)
		if status.IsSkip() {
			return false, nil
		}
		if !status.IsSuccess() {
			return false, status.AsError()
		}
	}
	status := filter.Filter(ctx, state, pod, info)
	if status.Code() == fwk.Error {
		return false, status.AsError()
	}
	return !status.IsSuccess(), nil
}

func resourceLine(name string, asked, free, all int64) string {
	return fmt.Sprintf("%s %d %d %d", name, asked, free, all)
}

// FilterName brings a finding into the form of [Filters.Judge]. Of what no filter judges it
// returns the code.
func FilterName(f placement.Finding) string {
	switch f.Code {
	case placement.InsufficientResources:
		c := f.Contention
		if c.Subject == string(corev1.ResourceCPU) {
			return resourceLine(c.Subject, c.Asked.MilliValue(), c.Free.MilliValue(), c.Allocatable.MilliValue())
		}
		return resourceLine(c.Subject, c.Asked.Value(), c.Free.Value(), c.Allocatable.Value())
	case placement.HostPortTaken:
		return "HostPort"
	case placement.NodeSelectorMismatch, placement.NodeAffinityMismatch, placement.InvalidNodeAffinity:
		return "NodeAffinity"
	case placement.UntoleratedNoExecuteTaint, placement.UntoleratedNoScheduleTaint:
		return "Taint"
	case placement.VolumeConflict:
		return "VolumeConflict"
	case placement.VolumeZoneMismatch:
		return "VolumeZone"
	}
	return string(f.Code)
}
