package e2e_test

import (
	"regexp"
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	kstatus "sigs.k8s.io/cli-utils/pkg/kstatus/status"
)

func kubectlScenarios() []scenario {
	return []scenario{
		{
			name: "kubectl-rollout", why: "kubectl rollout status, history, undo and restart work", nodes: 3,
			run: func(s *scene) {
				s.create(rolling(intstr.FromInt(1), intstr.FromInt(0)), because("first"))
				s.rollout("status")
				s.rollout("history")
				s.change(func(set *appsv1.DaemonSet) {
					image("v2")(set)
					because("second")(set)
				})
				s.rollout("status")
				s.rollout("history")
				s.rollout("history", "--revision=2")
				s.rollout("undo")
				s.rollout("status")
				s.answer("images %s, revisions %s", s.images(), s.revisions())
				s.rollout("undo", "--to-revision=2")
				s.rollout("status")
				s.answer("images %s, revisions %s", s.images(), s.revisions())
				before := s.uids()
				s.rollout("restart")
				s.rollout("status")
				s.answer("images %s, revisions %s", s.images(), s.revisions())
				assert.Zero(s.t, same(before, s.uids()), "every pod is restarted")
				s.rollout("history")
			},
		},
		{
			name: "kubectl-rollout-stuck", why: "kubectl rollout status and kstatus say how far an update has come that does not go on", nodes: 3,
			run: func(s *scene) {
				s.create(rolling(intstr.FromInt(1), intstr.FromInt(0)))
				s.reaches(settled(3))
				s.kstatus()
				s.change(broken("v2"))
				s.reaches(status{desired: 3, current: 3, ready: 2, updated: 1, available: 2, unavailable: 1})
				s.quiet()
				s.rollout("status", "--watch=false")
				s.kstatus()
				s.rollout("undo")
				s.rollout("status")
				s.reaches(settled(3))
				s.kstatus()
			},
		},
		{
			name: "kubectl-diff", why: "kubectl apply finds nothing to change in what the controller left of a set", nodes: 2,
			run: func(s *scene) {
				manifest := `apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent, namespace: ` + s.ns + `}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec:
      nodeSelector: {` + pool + `: ` + s.ns + `}
      containers: [{name: main, image: "registry.example/agent:v1"}]
`
				s.kubectl(manifest, "apply", "-f", "-")
				s.reaches(settled(2))
				s.kubectl(manifest, "apply", "-f", "-")
				s.kubectl("", "get", "daemonset", setName, "--no-headers", "-o", "custom-columns=D:.status.desiredNumberScheduled,G:.metadata.generation")
			},
		},
	}
}

// because is what kubectl shows as the cause of a change.
func because(cause string) func(*appsv1.DaemonSet) {
	return func(set *appsv1.DaemonSet) {
		set.Annotations = map[string]string{"kubernetes.io/change-cause": cause}
	}
}

// rollout runs a subcommand of kubectl rollout on the scene's set, and answers with what it
// prints.
func (s *scene) rollout(verb string, flags ...string) {
	s.t.Helper()
	s.kubectl("", append([]string{"rollout", verb, "daemonset/" + setName}, flags...)...)
}

// progress are the lines of kubectl rollout status that depend on when it looked.
var progress = regexp.MustCompile(`(?m)^Waiting for daemon set .*\n`)

func (s *scene) kubectl(input string, args ...string) {
	s.t.Helper()
	out, err := s.plane.KubectlWith(s.ctx, input, append([]string{"-n", s.ns}, args...)...)
	require.NoError(s.t, err)
	if strings.Contains(strings.Join(args, " "), "rollout status") && !strings.Contains(strings.Join(args, " "), "--watch=false") {
		out = progress.ReplaceAllString(out, "")
	}
	s.answer("$ kubectl %s\n%s", strings.Join(args, " "), out)
}

// kstatus answers with what kstatus, which GitOps tools wait by, makes of the scene's set.
func (s *scene) kstatus() {
	s.t.Helper()
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(s.get())
	require.NoError(s.t, err)
	set := &unstructured.Unstructured{Object: object}
	set.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind("DaemonSet"))
	result, err := kstatus.Compute(set)
	require.NoError(s.t, err)
	s.answer("kstatus %s: %s", result.Status, result.Message)
}
