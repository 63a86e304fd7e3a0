package components

import (
	"fmt"
	_ "unsafe" // for go:linkname

	"k8s.io/component-base/version"
)

// kubernetesVersion is that of the module k8s.io/kubernetes.
const kubernetesVersion = "v1.37.2"

// stamped is the version that a build of Kubernetes has written into it by the linker. A
// build from the module alone has none, and its API server says v0.0.0 to clients that ask.
//
//go:linkname stamped k8s.io/component-base/version.gitVersion
var stamped string //nolint:gochecknoglobals // the variable is the other package's

// stamp does what the linker does not.
func stamp() error {
	stamped = kubernetesVersion
	if err := version.SetDynamicVersion(kubernetesVersion); err != nil {
		return fmt.Errorf("version of Kubernetes: %w", err)
	}
	return nil
}
