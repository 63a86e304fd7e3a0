package controlplane

import (
	"fmt"
	"strings"

	"sigs.k8s.io/kwok/kustomize/stage/node/fast"
	heartbeat "sigs.k8s.io/kwok/kustomize/stage/node/heartbeat-with-lease"
	pod "sigs.k8s.io/kwok/kustomize/stage/pod/fast"
	"sigs.k8s.io/yaml"
)

// NeverReady is an annotation. A pod that has it, with any value, stays Pending, as one does
// whose image cannot be pulled.
const NeverReady = "e2e.daemonplan.dev/never-ready"

// stages says how kwok's nodes and pods live: the stages that its module comes with, for
// nodes that are ready with their first heartbeat and keep a lease, and for pods that are
// ready as soon as they are bound and gone as soon as they are deleted.
func stages() (string, error) {
	ready, err := exceptFor(pod.DefaultPodReady, NeverReady)
	if err != nil {
		return "", err
	}
	parts := []string{
		fast.DefaultNodeInit, heartbeat.DefaultNodeHeartbeatWithLease,
		ready, pod.DefaultPodComplete, pod.DefaultPodDelete,
	}
	return strings.Join(parts, "\n---\n"), nil
}

// exceptFor takes objects with an annotation out of a stage.
func exceptFor(stage, annotation string) (string, error) {
	var object map[string]any
	if err := yaml.Unmarshal([]byte(stage), &object); err != nil {
		return "", err
	}
	spec, _ := object["spec"].(map[string]any)
	selector, _ := spec["selector"].(map[string]any)
	expressions, ok := selector["matchExpressions"].([]any)
	if !ok {
		return "", fmt.Errorf("this kwok stage has no spec.selector.matchExpressions: %s", stage)
	}
	selector["matchExpressions"] = append(expressions, map[string]any{
		"key":      fmt.Sprintf(".metadata.annotations[%q]", annotation),
		"operator": "DoesNotExist",
	})
	text, err := yaml.Marshal(object)
	return string(text), err
}
