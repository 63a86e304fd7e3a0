package diff

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

func defaultVolume(volume *corev1.Volume) {
	s := &volume.VolumeSource
	if *s == (corev1.VolumeSource{}) {
		s.EmptyDir = &corev1.EmptyDirVolumeSource{}
	}
	if s.HostPath != nil {
		orDefault(&s.HostPath.Type, corev1.HostPathUnset)
	}
	if s.Image != nil {
		fill(&s.Image.PullPolicy, pullPolicy(s.Image.Reference))
	}
	if s.Ephemeral != nil && s.Ephemeral.VolumeClaimTemplate != nil {
		claim := &s.Ephemeral.VolumeClaimTemplate.Spec
		orDefault(&claim.VolumeMode, corev1.PersistentVolumeFilesystem)
		roundUp(claim.Resources.Limits)
		roundUp(claim.Resources.Requests)
	}
	defaultFiles(s)
	defaultDisk(s)
}

// defaultFiles is for volumes that are made of API objects.
func defaultFiles(s *corev1.VolumeSource) {
	if s.Secret != nil {
		orDefault(&s.Secret.DefaultMode, corev1.SecretVolumeSourceDefaultMode)
	}
	if s.ConfigMap != nil {
		orDefault(&s.ConfigMap.DefaultMode, corev1.ConfigMapVolumeSourceDefaultMode)
	}
	if s.DownwardAPI != nil {
		orDefault(&s.DownwardAPI.DefaultMode, corev1.DownwardAPIVolumeSourceDefaultMode)
		defaultItems(s.DownwardAPI.Items)
	}
	if s.Projected == nil {
		return
	}
	orDefault(&s.Projected.DefaultMode, corev1.ProjectedVolumeSourceDefaultMode)
	for i := range s.Projected.Sources {
		source := &s.Projected.Sources[i]
		if source.DownwardAPI != nil {
			defaultItems(source.DownwardAPI.Items)
		}
		if source.ServiceAccountToken != nil {
			orDefault(&source.ServiceAccountToken.ExpirationSeconds, 60*60)
		}
	}
}

func defaultItems(items []corev1.DownwardAPIVolumeFile) {
	for i := range items {
		defaultFieldRef(items[i].FieldRef)
	}
}

// defaultDisk is for disks that are attached.
func defaultDisk(s *corev1.VolumeSource) {
	if s.ISCSI != nil {
		fill(&s.ISCSI.ISCSIInterface, "default")
	}
	if s.RBD != nil {
		fill(&s.RBD.RBDPool, "rbd")
		fill(&s.RBD.RadosUser, "admin")
		fill(&s.RBD.Keyring, "/etc/ceph/keyring")
	}
	if s.ScaleIO != nil {
		fill(&s.ScaleIO.StorageMode, "ThinProvisioned")
		fill(&s.ScaleIO.FSType, "xfs")
	}
	if s.AzureDisk != nil {
		orDefault(&s.AzureDisk.CachingMode, corev1.AzureDataDiskCachingReadWrite)
		orDefault(&s.AzureDisk.Kind, corev1.AzureSharedBlobDisk)
		orDefault(&s.AzureDisk.FSType, "ext4")
		orDefault(&s.AzureDisk.ReadOnly, false)
	}
}

func sortedNames(list corev1.ResourceList) []corev1.ResourceName {
	return slices.Sorted(maps.Keys(list))
}
