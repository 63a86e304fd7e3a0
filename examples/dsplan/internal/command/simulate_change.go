package command

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/daemonplan/daemonplan/examples/dsplan/internal/dump"
)

// change is what happens to DaemonSets before they are simulated.
type change struct {
	file   string // of DaemonSets; empty for none
	images []containerImage
}

type containerImage struct{ container, image string }

// apply changes sets in a copy. What the file or an image does not fit is an error: the
// simulation would be of something else than was meant.
func (c change) apply(sets []dump.Set, with []dump.Set) error {
	fits := make([]bool, len(c.images))
	used := 0
	for i := range sets {
		if sets[i].Err == nil && sets[i].Objects.DaemonSet != nil {
			used += c.applyTo(&sets[i], with, fits)
		}
	}
	if used < len(with) {
		return fmt.Errorf("-with %s: has a DaemonSet that is not simulated", c.file)
	}
	for j, image := range c.images {
		if !fits[j] {
			return fmt.Errorf("-image %s=%s: no container is named %q", image.container, image.image, image.container)
		}
	}
	return nil
}

// applyTo changes one set. It notes which images fit, and returns how many of with did.
func (c change) applyTo(set *dump.Set, with []dump.Set, fits []bool) int {
	changed := set.Objects.DaemonSet.DeepCopy()
	used := 0
	for _, other := range with {
		if other.Namespace == set.Namespace && other.Name == set.Name && other.Objects.DaemonSet != nil {
			replace(changed, other.Objects.DaemonSet)
			used++
		}
	}
	for j, image := range c.images {
		fits[j] = setImage(changed, image) || fits[j]
	}
	if !equality.Semantic.DeepEqual(changed.Spec, set.Objects.DaemonSet.Spec) {
		changed.Generation++
	}
	set.Objects.DaemonSet = changed
	return used
}

// replace does what applying a manifest would: it takes over what users write, and keeps what
// is the API server's.
func replace(set, by *appsv1.DaemonSet) {
	set.Spec = *by.Spec.DeepCopy()
	for key, value := range by.Labels {
		if set.Labels == nil {
			set.Labels = map[string]string{}
		}
		set.Labels[key] = value
	}
}

// setImage changes the image of a container, also of one that only runs first.
func setImage(set *appsv1.DaemonSet, to containerImage) bool {
	spec := &set.Spec.Template.Spec
	for i := range spec.Containers {
		if spec.Containers[i].Name == to.container {
			spec.Containers[i].Image = to.image
			return true
		}
	}
	for i := range spec.InitContainers {
		if spec.InitContainers[i].Name == to.container {
			spec.InitContainers[i].Image = to.image
			return true
		}
	}
	return false
}
