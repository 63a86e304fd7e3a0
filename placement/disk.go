package placement

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// diskKind tells apart what disks are named by.
type diskKind string

const (
	gcePD     diskKind = "gce-pd"
	awsEBS    diskKind = "aws-ebs"
	iscsi     diskKind = "iscsi"
	rbd       diskKind = "rbd"
	azureDisk diskKind = "azure-disk"
	cinder    diskKind = "cinder"
	claim     diskKind = "claim"
)

// disk is a volume of a pod that other pods may use too.
type disk struct {
	kind      diskKind
	id        string
	monitors  []string // for rbd: the same image only if one of them is shared
	readOnly  bool
	exclusive bool // for claim, of the template: no second pod may use it
}

func (d *disk) text() string { return string(d.kind) + " " + clip(d.id) }

// excludes reports whether a pod with d cannot run beside one with other: never for an EBS
// disk, else unless both only read. Azure and Cinder disks are counted, not compared.
func (d *disk) excludes(other *disk) bool {
	if d.kind != other.kind || d.id != other.id {
		return false
	}
	switch d.kind {
	case awsEBS:
		return true
	case gcePD, iscsi:
		return !d.readOnly || !other.readOnly
	case rbd:
		shared := slices.ContainsFunc(d.monitors, func(m string) bool { return slices.Contains(other.monitors, m) })
		return shared && (!d.readOnly || !other.readOnly)
	case claim:
		return d.exclusive
	case azureDisk, cinder:
	}
	return false
}

// diskOf returns the disk behind a volume. Volumes that are the pod's own are none. The
// claim of an ephemeral volume is named after its pod.
func diskOf(volume *corev1.Volume, namespace, pod string) (disk, bool) {
	switch s := &volume.VolumeSource; {
	case s.GCEPersistentDisk != nil:
		return disk{kind: gcePD, id: s.GCEPersistentDisk.PDName, readOnly: s.GCEPersistentDisk.ReadOnly}, true
	case s.AWSElasticBlockStore != nil:
		return disk{kind: awsEBS, id: s.AWSElasticBlockStore.VolumeID, readOnly: s.AWSElasticBlockStore.ReadOnly}, true
	case s.ISCSI != nil:
		return disk{kind: iscsi, id: s.ISCSI.IQN, readOnly: s.ISCSI.ReadOnly}, true
	case s.RBD != nil:
		pool := s.RBD.RBDPool
		if pool == "" {
			pool = "rbd"
		}
		return disk{kind: rbd, id: pool + "/" + s.RBD.RBDImage, monitors: slices.Clone(s.RBD.CephMonitors), readOnly: s.RBD.ReadOnly}, true
	case s.AzureDisk != nil:
		return disk{kind: azureDisk, id: s.AzureDisk.DiskName}, true
	case s.Cinder != nil:
		return disk{kind: cinder, id: s.Cinder.VolumeID}, true
	case s.PersistentVolumeClaim != nil:
		return disk{kind: claim, id: namespace + "/" + s.PersistentVolumeClaim.ClaimName}, true
	case s.Ephemeral != nil && pod != "":
		return disk{kind: claim, id: namespace + "/" + pod + "-" + volume.Name}, true
	}
	return disk{}, false
}

// disksOf returns the disks behind volumes, in their order.
func disksOf(volumes []corev1.Volume, namespace, pod string) []disk {
	var disks []disk
	for i := range volumes {
		if d, shared := diskOf(&volumes[i], namespace, pod); shared {
			disks = append(disks, d)
		}
	}
	return disks
}
