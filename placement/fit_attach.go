package placement

import (
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// attachments count a template's volumes, with those of other pods, against what a node can
// attach of their kind.
type attachments struct {
	kinds  []attachKind
	claims map[string]attachable       // of all claims with a volume
	limits map[string]map[string]int64 // by node and CSI driver
}

// attachable is a volume that is attached to the node once, however many pods use it.
type attachable struct {
	resource corev1.ResourceName // of the node's allocatable, what limits the kind
	driver   string              // of a CSI volume
	handle   string
}

// attachKind is a kind of volume that the template uses.
type attachKind struct {
	resource corev1.ResourceName
	driver   string
	handles  []string // each once
}

func compileAttachments(disks []disk, bound map[string]*corev1.PersistentVolume, opts FitOptions) attachments {
	compiled := attachments{claims: map[string]attachable{}, limits: map[string]map[string]int64{}}
	for _, key := range slices.Sorted(maps.Keys(bound)) {
		if a, counted := attachableVolume(&bound[key].Spec.PersistentVolumeSource); counted {
			compiled.claims[key] = a
		}
	}
	for i := range disks {
		if a, counted := compiled.resolve(&disks[i]); counted {
			compiled.want(a)
		}
	}
	for _, node := range opts.CSINodes {
		if node != nil {
			compiled.limits[node.Name] = driverLimits(node)
		}
	}
	return compiled
}

func driverLimits(node *storagev1.CSINode) map[string]int64 {
	limits := map[string]int64{}
	for i := range node.Spec.Drivers {
		driver := &node.Spec.Drivers[i]
		if driver.Allocatable != nil && driver.Allocatable.Count != nil {
			limits[driver.Name] = int64(*driver.Allocatable.Count)
		}
	}
	return limits
}

// attachableVolume returns how a persistent volume is attached. Kinds that no node limits
// are not counted.
func attachableVolume(source *corev1.PersistentVolumeSource) (attachable, bool) {
	switch s := source; {
	case s.CSI != nil:
		name := corev1.ResourceAttachableVolumesPrefix + "csi-" + s.CSI.Driver
		return attachable{resource: corev1.ResourceName(name), driver: s.CSI.Driver, handle: s.CSI.VolumeHandle}, true
	case s.GCEPersistentDisk != nil:
		return inTree(gcePD, s.GCEPersistentDisk.PDName), true
	case s.AWSElasticBlockStore != nil:
		return inTree(awsEBS, s.AWSElasticBlockStore.VolumeID), true
	case s.AzureDisk != nil:
		return inTree(azureDisk, s.AzureDisk.DiskName), true
	case s.Cinder != nil:
		return inTree(cinder, s.Cinder.VolumeID), true
	}
	return attachable{}, false
}

func inTree(kind diskKind, handle string) attachable {
	return attachable{resource: inTreeLimit(kind), handle: handle}
}

// inTreeLimit is a constant for each kind, so that resolving a disk costs no allocation.
func inTreeLimit(kind diskKind) corev1.ResourceName {
	switch kind {
	case gcePD:
		return corev1.ResourceAttachableVolumesPrefix + corev1.ResourceName(gcePD)
	case awsEBS:
		return corev1.ResourceAttachableVolumesPrefix + corev1.ResourceName(awsEBS)
	case azureDisk:
		return corev1.ResourceAttachableVolumesPrefix + corev1.ResourceName(azureDisk)
	case cinder:
		return corev1.ResourceAttachableVolumesPrefix + corev1.ResourceName(cinder)
	case iscsi, rbd, claim:
	}
	return ""
}

// resolve returns the volume behind a disk, if it is known and counted.
func (r *attachments) resolve(d *disk) (attachable, bool) {
	if d.kind == claim {
		a, known := r.claims[d.id]
		return a, known
	}
	a := inTree(d.kind, d.id)
	return a, a.resource != ""
}

func (r *attachments) want(a attachable) {
	at := slices.IndexFunc(r.kinds, func(k attachKind) bool { return k.resource == a.resource })
	if at < 0 {
		at = len(r.kinds)
		r.kinds = append(r.kinds, attachKind{resource: a.resource, driver: a.driver})
	}
	if kind := &r.kinds[at]; !slices.Contains(kind.handles, a.handle) {
		kind.handles = append(kind.handles, a.handle)
	}
}

// limit returns how many volumes of the kind the node can attach; without a limit the
// scheduler of Kubernetes sees none either.
func (r *attachments) limit(kind *attachKind, node *corev1.Node) (int64, bool) {
	if limit, limited := r.limits[node.Name][kind.driver]; limited && kind.driver != "" {
		return limit, true
	}
	list := node.Status.Allocatable
	if list == nil {
		list = node.Status.Capacity
	}
	q, limited := list[kind.resource]
	return countable(kind.resource, q), limited
}

// count returns how many volumes of the kind other pods have on the node, and how many the
// template would add.
func (r *attachments) count(kind *attachKind, rest others) (attached, added int) {
	var space [64]string
	handles := space[:0]
	for i := range rest.heldDisks() {
		held := &rest.disks[i]
		a, counted := r.resolve(&held.disk)
		if counted && a.resource == kind.resource && rest.has(held.pod) && !slices.Contains(handles, a.handle) {
			handles = append(handles, a.handle)
		}
	}
	for _, handle := range kind.handles {
		if !slices.Contains(handles, handle) {
			added++
		}
	}
	return len(handles), added
}

// exceeded returns the limit of a kind, and how many volumes more than that there would be:
// none or less is fine, and so is a template that adds none to a node over its limit.
func (r *attachments) exceeded(kind *attachKind, node *corev1.Node, rest others) (limit, over int64) {
	limit, limited := r.limit(kind, node)
	if !limited {
		return 0, 0
	}
	attached, added := r.count(kind, rest)
	if added == 0 {
		return limit, 0
	}
	return limit, sumOf(int64(attached + added)).minus(sumOf(limit)).int64()
}

func (r *attachments) fit(node *corev1.Node, rest others) bool {
	for i := range r.kinds {
		if _, over := r.exceeded(&r.kinds[i], node, rest); over > 0 {
			return false
		}
	}
	return true
}

func (r *attachments) explain(found []Finding, node *corev1.Node, rest others) []Finding {
	for i := range r.kinds {
		kind := &r.kinds[i]
		limit, over := r.exceeded(kind, node, rest)
		if over <= 0 {
			continue
		}
		attached, added := r.count(kind, rest)
		count := quantityOf(kind.resource)
		c := &Contention{
			Subject:     string(kind.resource),
			Asked:       count(int64(added)),
			Free:        count(sumOf(limit).minus(sumOf(int64(attached))).int64()),
			Allocatable: count(limit),
		}
		c.hold(r.users(kind, rest), count)
		found = append(found, Finding{
			Code:       VolumeCountExceeded,
			Field:      volumesField,
			Contention: c,
			Detail: clip(c.Subject) + ": " + strconv.Itoa(added) + " more to attach, " + strconv.Itoa(attached) +
				" attached of " + strconv.FormatInt(limit, 10) + holderList(c),
		})
	}
	return found
}

func holderList(c *Contention) string {
	if len(c.Holders) == 0 {
		return ""
	}
	return "; held by " + c.holdersText()
}

// users returns the pods with volumes of the kind.
func (r *attachments) users(kind *attachKind, rest others) []share {
	var shares []share
	for i := range rest.Len() {
		pod, used := &rest.pods[i], int64(0)
		for j := range pod.disks {
			if a, counted := r.resolve(&pod.disks[j]); counted && a.resource == kind.resource {
				used++
			}
		}
		if used > 0 && rest.has(int32(i)) {
			shares = append(shares, share{pod: pod, amount: used})
		}
	}
	return shares
}
