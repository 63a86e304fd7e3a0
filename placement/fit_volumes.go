package placement

import (
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

const volumesField = "spec.volumes"

// volumeRules are what a template's volumes ask of a node.
type volumeRules struct {
	disks []disk     // that conflict with the like of other pods
	zones []zoneRule // where the template's volumes can be reached
	count attachments
}

func compileVolumes(spec *corev1.PodSpec, opts FitOptions) volumeRules {
	bound := boundVolumes(opts.PersistentVolumes)
	rules := volumeRules{disks: disksOf(spec.Volumes, opts.Namespace, "")}
	for i := range rules.disks {
		d := &rules.disks[i]
		volume := bound[d.id]
		if d.kind != claim || volume == nil {
			continue
		}
		d.exclusive = slices.Contains(volume.Spec.AccessModes, corev1.ReadWriteOncePod)
		rules.zones = appendZoneRules(rules.zones, d, volume)
	}
	rules.count = compileAttachments(rules.disks, bound, opts)
	return rules
}

// boundVolumes returns volumes by the claim that each is bound to.
func boundVolumes(volumes []*corev1.PersistentVolume) map[string]*corev1.PersistentVolume {
	bound := make(map[string]*corev1.PersistentVolume, len(volumes))
	for _, volume := range volumes {
		if volume == nil || volume.Spec.ClaimRef == nil ||
			volume.Status.Phase == corev1.VolumeReleased || volume.Status.Phase == corev1.VolumeFailed {
			continue
		}
		key := volume.Spec.ClaimRef.Namespace + "/" + volume.Spec.ClaimRef.Name
		if bound[key] == nil {
			bound[key] = volume
		}
	}
	return bound
}

func (r *volumeRules) fit(node *corev1.Node, rest others) bool {
	if len(r.disks) == 0 {
		return true
	}
	for i := range r.zones {
		if !r.zones[i].admits(node) {
			return false
		}
	}
	return r.disksFree(rest) && r.count.fit(node, rest)
}

// disksFree reports whether no other pod uses a disk that cannot be shared.
func (r *volumeRules) disksFree(rest others) bool {
	for i := range rest.heldDisks() {
		held := &rest.disks[i]
		for j := range r.disks {
			if r.disks[j].excludes(&held.disk) && rest.has(held.pod) {
				return false
			}
		}
	}
	return true
}

func (r *volumeRules) explain(found []Finding, node *corev1.Node, rest others) []Finding {
	for i := range r.disks {
		found = r.disks[i].explain(found, rest)
	}
	for i := range r.zones {
		if rule := &r.zones[i]; !rule.admits(node) {
			found = append(found, Finding{Code: VolumeZoneMismatch, Field: volumesField, Detail: rule.text(node)})
		}
	}
	return r.count.explain(found, node, rest)
}

// explain adds that other pods use the disk and do not share it.
func (d *disk) explain(found []Finding, rest others) []Finding {
	excluded := func(other disk) bool { return d.excludes(&other) }
	holders := rest.sharers(func(h *holding) bool { return slices.ContainsFunc(h.disks, excluded) })
	if len(holders) == 0 {
		return found
	}
	c := taken(d.text(), holders)
	return append(found, Finding{
		Code:       VolumeConflict,
		Field:      volumesField,
		Contention: c,
		Detail:     c.Subject + " is asked for and in use by " + c.holdersText(),
	})
}

// zoneRule is one condition of a persistent volume on the node it is used from: a topology
// label, or, with key "", its required node affinity.
type zoneRule struct {
	claim, volume string
	key           string
	values        []string
	affinity      nodeAffinity
}

// appendZoneRules adds what the labels and the node affinity of a volume say.
func appendZoneRules(rules []zoneRule, d *disk, volume *corev1.PersistentVolume) []zoneRule {
	for _, key := range topologyLabels() {
		value, labelled := volume.Labels[key]
		if zones, ok := splitZones(value); labelled && ok {
			rules = append(rules, zoneRule{claim: d.id, volume: volume.Name, key: key, values: zones})
		}
	}
	if affinity := volume.Spec.NodeAffinity; affinity != nil && affinity.Required != nil {
		compiled := compileAffinity(&corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: affinity.Required,
		}})
		rules = append(rules, zoneRule{claim: d.id, volume: volume.Name, affinity: compiled})
	}
	return rules
}

func topologyLabels() []string {
	return []string{
		corev1.LabelFailureDomainBetaZone, corev1.LabelFailureDomainBetaRegion,
		corev1.LabelTopologyZone, corev1.LabelTopologyRegion,
	}
}

// splitZones reads a list of zones, joined by two underscores. A list with an empty element
// says nothing, as in Kubernetes.
func splitZones(value string) ([]string, bool) {
	zones := strings.Split(value, "__")
	for i := range zones {
		zones[i] = strings.TrimSpace(zones[i])
		if zones[i] == "" {
			return nil, false
		}
	}
	return zones, true
}

// admits lets a node pass that has no topology label at all: its cluster has but one zone.
func (r *zoneRule) admits(node *corev1.Node) bool {
	if r.key == "" {
		return r.affinity.matches(node)
	}
	value, labelled := zoneOf(node, r.key)
	if labelled {
		return slices.Contains(r.values, value)
	}
	return !hasTopology(node)
}

// zoneOf returns a topology label, for one of the beta names also by its later name.
func zoneOf(node *corev1.Node, key string) (string, bool) {
	if value, labelled := node.Labels[key]; labelled {
		return value, true
	}
	switch key {
	case corev1.LabelFailureDomainBetaZone:
		key = corev1.LabelTopologyZone
	case corev1.LabelFailureDomainBetaRegion:
		key = corev1.LabelTopologyRegion
	}
	value, labelled := node.Labels[key]
	return value, labelled
}

func hasTopology(node *corev1.Node) bool {
	for _, key := range [...]string{
		corev1.LabelFailureDomainBetaZone, corev1.LabelFailureDomainBetaRegion,
		corev1.LabelTopologyZone, corev1.LabelTopologyRegion,
	} {
		if _, labelled := node.Labels[key]; labelled {
			return true
		}
	}
	return false
}

func (r *zoneRule) text(node *corev1.Node) string {
	subject := "volume " + clip(r.volume) + " of claim " + clip(r.claim)
	if r.key == "" {
		return subject + " cannot be reached from the node: its node affinity does not match"
	}
	has := "no such label"
	if value, labelled := zoneOf(node, r.key); labelled {
		has = quote(value)
	}
	return subject + " is in " + r.key + " " + zonesText(r.values) + ", the node has " + has
}

func zonesText(zones []string) string {
	shown := make([]string, 0, maxValues)
	for _, zone := range zones[:min(len(zones), maxValues)] {
		shown = append(shown, quote(zone))
	}
	text := strings.Join(shown, " or ")
	if more := len(zones) - maxValues; more > 0 {
		text += ", and " + strconv.Itoa(more) + " more"
	}
	return text
}
