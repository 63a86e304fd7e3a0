package command

import (
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/daemonplan/daemonplan/daemonset/diff"
	"github.com/daemonplan/daemonplan/examples/dsplan/internal/dump"
)

// change is what happens to DaemonSets before they are simulated.
type change struct {
	file   string // of DaemonSets; empty for none
	images []containerImage
}

type containerImage struct{ container, image string }

// apply changes sets, in copies, as an API server would that was given the manifests. What the
// file or an image does not fit is an error: the simulation would be of something else than
// was meant.
func (c change) apply(sets, manifests []dump.Set) error {
	fits := make([]bool, len(c.images))
	used := 0
	for i := range sets {
		if sets[i].Err != nil || sets[i].Objects.DaemonSet == nil {
			continue
		}
		manifest := sets[i].Objects.DaemonSet.DeepCopy()
		for _, m := range manifests {
			if setName(m) == setName(sets[i]) {
				manifest = m.Objects.DaemonSet.DeepCopy()
				used++
			}
		}
		for j, image := range c.images {
			fits[j] = setImage(manifest, image) || fits[j]
		}
		changed, err := diff.Apply(sets[i].Objects.DaemonSet, manifest)
		if err != nil {
			return err
		}
		sets[i].Objects.DaemonSet = changed
	}
	if used < len(manifests) {
		return fmt.Errorf("-with %s: has a DaemonSet that is not simulated", c.file)
	}
	if j := slices.Index(fits, false); j >= 0 {
		image := c.images[j]
		return fmt.Errorf("-image %s=%s: no container is named %q; there is %s", image.container, image.image, image.container, containers(sets))
	}
	return nil
}

// containers lists the names of those that could be meant.
func containers(sets []dump.Set) string {
	var names []string
	for i := range sets {
		if set := sets[i].Objects.DaemonSet; set != nil {
			spec := &set.Spec.Template.Spec
			for j := range spec.Containers {
				names = append(names, spec.Containers[j].Name)
			}
			for j := range spec.InitContainers {
				names = append(names, spec.InitContainers[j].Name)
			}
		}
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ", ")
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
