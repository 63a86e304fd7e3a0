package placement_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemonplan/daemonplan/placement"
)

func using(name string, volumes ...corev1.Volume) *corev1.Pod {
	p := container(name)
	p.Spec.Volumes = volumes
	return p
}

func TestFitVolumeConflict(t *testing.T) {
	gce := func(name string, ro bool) corev1.Volume {
		return volume(corev1.VolumeSource{GCEPersistentDisk: &corev1.GCEPersistentDiskVolumeSource{PDName: name, ReadOnly: ro}})
	}
	ebs := func(name string, ro bool) corev1.Volume {
		return volume(corev1.VolumeSource{AWSElasticBlockStore: &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: name, ReadOnly: ro}})
	}
	iqn := func(name string, ro bool) corev1.Volume {
		return volume(corev1.VolumeSource{ISCSI: &corev1.ISCSIVolumeSource{IQN: name, ReadOnly: ro}})
	}
	image := func(pool string, ro bool, monitors ...string) corev1.Volume {
		return volume(corev1.VolumeSource{RBD: &corev1.RBDVolumeSource{RBDPool: pool, RBDImage: "i", CephMonitors: monitors, ReadOnly: ro}})
	}
	row := func(name, why string, ours, theirs corev1.Volume, subject string) fitRow {
		r := fitRow{name: name, why: why, spec: using("", ours).Spec, pods: []*corev1.Pod{using("a", theirs)}, want: placement.Run}
		if subject != "" {
			r.want = placement.Suspend
			r.findings = []string{"VolumeConflict: " + subject + " is asked for and in use by ns/a"}
		}
		return r
	}
	rows := []fitRow{
		row("gce both read", "", gce("d", true), gce("d", true), ""),
		row("gce one writes", "", gce("d", true), gce("d", false), "gce-pd d"),
		row("gce other disk", "", gce("d", false), gce("e", false), ""),
		row("ebs both read", "EBS attaches a disk for one pod only", ebs("d", true), ebs("d", true), "aws-ebs d"),
		row("iscsi both read", "", iqn("d", true), iqn("d", true), ""),
		row("iscsi one writes", "", iqn("d", false), iqn("d", true), "iscsi d"),
		row("rbd shared monitor", "the pool is rbd by default", image("", false, "m1", "m2"), image("rbd", false, "m3", "m2"), "rbd rbd/i"),
		row("rbd both read", "", image("", true, "m1"), image("rbd", true, "m1"), ""),
		row("rbd other cluster", "", image("", false, "m1"), image("rbd", false, "m2"), ""),
		row("rbd other pool", "", image("fast", false, "m1"), image("rbd", false, "m1"), ""),
		row("other kind", "", gce("d", false), ebs("d", false), ""),
		row("claim", "without its volume nothing is known of a claim", claimed("c"), claimed("c"), ""),
	}
	exclusive := row("claim for one pod", "ReadWriteOncePod", claimed("c"), claimed("c"), "claim ns/c")
	pv := boundTo("c", "csi.example.com", "h")
	pv.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod}
	exclusive.opts = placement.FitOptions{Namespace: "ns", PersistentVolumes: []*corev1.PersistentVolume{nil, {}, pv}}
	elsewhere := exclusive
	elsewhere.name, elsewhere.why = "claim of another namespace", "a claim belongs to its namespace"
	elsewhere.pods = []*corev1.Pod{using("a", claimed("c"))}
	elsewhere.pods[0].Namespace = "other"
	elsewhere.want, elsewhere.findings = placement.Run, nil
	own := rows[1]
	own.name, own.why, own.own, own.want, own.findings = "own", "the set's own pod is left out", rows[1].pods, placement.Run, nil
	runRows(t, append(rows, exclusive, elsewhere, own))
}

func TestFitVolumeZone(t *testing.T) {
	spec := using("", claimed("c")).Spec
	zoned := func(key, zones string) placement.FitOptions {
		pv := boundTo("c", "csi.example.com", "h")
		pv.Labels = set{key: zones}
		return placement.FitOptions{Namespace: "ns", PersistentVolumes: []*corev1.PersistentVolume{pv}}
	}
	in := func(labels set) func(*corev1.Node) { return func(n *corev1.Node) { n.Labels = labels } }
	const zone, beta = corev1.LabelTopologyZone, corev1.LabelFailureDomainBetaZone
	bound := boundTo("c", "csi.example.com", "h")
	bound.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{
		expressions(req("zone", corev1.NodeSelectorOpIn, "b")),
	}}}
	local := placement.FitOptions{Namespace: "ns", PersistentVolumes: []*corev1.PersistentVolume{bound}}
	released := zoned(zone, "z1")
	released.PersistentVolumes[0].Status.Phase = corev1.VolumeReleased
	runRows(t, []fitRow{
		{name: "same", why: "", spec: spec, opts: zoned(zone, "z1"), node: in(set{zone: "z1"}), want: placement.Run},
		{name: "one of several", why: "a regional disk is in more than one", spec: spec, opts: zoned(zone, "z1__z2"), node: in(set{zone: "z2"}), want: placement.Run},
		{
			name: "another", why: "the disk cannot be attached", spec: spec, opts: zoned(zone, "z1__z2"), node: in(set{zone: "z3"}), want: placement.Suspend,
			findings: []string{`VolumeZoneMismatch: volume pv-c of claim ns/c is in topology.kubernetes.io/zone "z1" or "z2", the node has "z3"`},
		},
		{
			name: "other label", why: "a node with some topology label must have this one", spec: spec, opts: zoned(zone, "z1"), node: in(set{corev1.LabelTopologyRegion: "r"}), want: placement.Suspend,
			findings: []string{`VolumeZoneMismatch: volume pv-c of claim ns/c is in topology.kubernetes.io/zone "z1", the node has no such label`},
		},
		{name: "no topology", why: "a cluster of one zone labels no nodes", spec: spec, opts: zoned(zone, "z1"), node: in(nil), want: placement.Run},
		{name: "beta on the volume", why: "the node has the later name", spec: spec, opts: zoned(beta, "z1"), node: in(set{zone: "z1"}), want: placement.Run},
		{name: "unreadable", why: "a list with a hole says nothing", spec: spec, opts: zoned(zone, "z1__"), node: in(set{zone: "z3"}), want: placement.Run},
		{name: "not given", why: "what is not known is not judged", spec: spec, node: in(set{zone: "z3"}), want: placement.Run},
		{name: "released", why: "the claim it was bound to is gone", spec: spec, opts: released, node: in(set{zone: "z3"}), want: placement.Run},
		{
			name: "node affinity", why: "local and CSI volumes say by it where they are", spec: spec, opts: local, want: placement.Suspend,
			findings: []string{"VolumeZoneMismatch: volume pv-c of claim ns/c cannot be reached from the node: its node affinity does not match"},
		},
		{name: "node affinity matches", why: "", spec: spec, opts: local, node: in(set{"zone": "b"}), want: placement.Run},
	})
}

func TestFitVolumeCount(t *testing.T) {
	azure := func(name string) corev1.Volume {
		return volume(corev1.VolumeSource{AzureDisk: &corev1.AzureDiskVolumeSource{DiskName: name}})
	}
	limit := func(key, n string) func(*corev1.Node) {
		return func(node *corev1.Node) { node.Status.Allocatable[corev1.ResourceName(key)] = *quantity(n) }
	}
	const azureLimit, csiLimit = "attachable-volumes-azure-disk", "attachable-volumes-csi-csi.example.com"
	others := []*corev1.Pod{using("a", azure("1"), azure("2")), using("b", azure("2"))}
	volumes := []*corev1.PersistentVolume{
		boundTo("c", "csi.example.com", "h1"), boundTo("d", "csi.example.com", "h2"),
		boundTo("d2", "csi.example.com", "h2"), boundTo("e", "else.example.com", "h3"),
	}
	csi := placement.FitOptions{Namespace: "ns", PersistentVolumes: volumes}
	limited := csi
	limited.CSINodes = []*storagev1.CSINode{nil, {ObjectMeta: metav1.ObjectMeta{Name: "n"}, Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{
		{Name: "else.example.com"}, {Name: "csi.example.com", Allocatable: &storagev1.VolumeNodeResources{Count: new(int32(1))}},
	}}}}
	claims := []*corev1.Pod{using("a", claimed("d"), claimed("e"), claimed("unknown")), using("b", claimed("d2"))}
	runRows(t, []fitRow{
		{name: "no limit", why: "a node that names none has none", spec: using("", azure("3")).Spec, pods: others, want: placement.Run},
		{name: "room", why: "a disk that two pods use is attached once", spec: using("", azure("3")).Spec, pods: others, node: limit(azureLimit, "3"), want: placement.Run},
		{
			name: "full", why: "", spec: using("", azure("3")).Spec, pods: others, node: limit(azureLimit, "2"), want: placement.Suspend,
			findings: []string{"VolumeCountExceeded: attachable-volumes-azure-disk: 1 more to attach, 2 attached of 2; held by ns/a 2, ns/b 1"},
		},
		{name: "attached already", why: "it adds none", spec: using("", azure("2")).Spec, pods: others, node: limit(azureLimit, "1"), want: placement.Run},
		{name: "own", why: "what only the set's own pods use comes free", spec: using("", azure("3")).Spec, pods: others, own: others[:1], node: limit(azureLimit, "2"), want: placement.Run},
		{name: "csi, room", why: "two claims on one volume count once", spec: using("", claimed("c")).Spec, pods: claims, opts: csi, node: limit(csiLimit, "2"), want: placement.Run},
		{
			name: "csi, full", why: "the node's own limit", spec: using("", claimed("c"), claimed("c")).Spec, pods: claims, opts: csi, node: limit(csiLimit, "1"), want: placement.Suspend,
			findings: []string{"VolumeCountExceeded: attachable-volumes-csi-csi.example.com: 1 more to attach, 1 attached of 1; held by ns/a 1, ns/b 1"},
		},
		{
			name: "csi node", why: "what the driver says goes first", spec: using("", claimed("c")).Spec, pods: claims, opts: limited, node: limit(csiLimit, "5"), want: placement.Suspend,
			findings: []string{"VolumeCountExceeded: attachable-volumes-csi-csi.example.com: 1 more to attach, 1 attached of 1; held by ns/a 1, ns/b 1"},
		},
	})
}
