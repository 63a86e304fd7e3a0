package clusterapi_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/daemonplan/daemonplan/clusterapi"
	"github.com/daemonplan/daemonplan/clusterapi/fake"
	"github.com/daemonplan/daemonplan/internal/script"
)

// TestScripts runs the specification of the Driver in testdata: one behaviour a file, told
// as what happens in a cluster, one pass after the other.
func TestScripts(t *testing.T) {
	script.Run(t, "testdata/*.txt", func() script.Runner { return newStage(t) })
}

// stage is a world that is told what happens by the lines of a script. At first there are no
// nodes and no DaemonSet, and what is written is seen at once.
type stage struct {
	*world

	pods cast
}

func newStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{world: &world{T: t, cluster: fake.New(1)}, pods: cast{}}
	s.restart()
	return s
}

// Run implements script.Runner.
func (s *stage) Run(command string) (string, error) {
	words := strings.Fields(command)
	name, words := words[0], words[1:]
	if name == "sync" {
		return s.showSync(), nil
	}
	do := map[string]func([]string) error{
		"nodes":     s.addNodes,
		"daemonset": s.changeSet,
		"delete":    s.deleteSet,
		"driver":    s.startDriver,
		"fault":     s.inject,
		"cache":     s.changeCache,
		"events":    s.handOver,
		"kubelets":  s.pass,
		"limit":     s.limit,
		"namespace": s.terminate,
	}[name]
	if do == nil {
		return "", errors.New("unknown command")
	}
	return "", do(words)
}

// addNodes adds nodes of these names.
func (s *stage) addNodes(names []string) error {
	for _, name := range names {
		if _, err := fake.Create(s.cluster, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
			return err
		}
	}
	return nil
}

// changeSet makes the DaemonSet, or edits it: "daemonset image=v2 max-unavailable=2
// max-surge=1". One that is new has image v1 and a budget of one node.
func (s *stage) changeSet(words []string) error {
	edit := func(set *appsv1.DaemonSet) error {
		for _, word := range words {
			key, value, _ := strings.Cut(word, "=")
			amount := intstr.Parse(value)
			switch key {
			case "image":
				set.Spec.Template.Spec.Containers[0].Image = value
			case "max-unavailable":
				set.Spec.UpdateStrategy.RollingUpdate.MaxUnavailable = &amount
			case "max-surge":
				set.Spec.UpdateStrategy.RollingUpdate.MaxSurge = &amount
			default:
				return fmt.Errorf("unknown option %q", word)
			}
		}
		return nil
	}
	_, err := fake.Get[*appsv1.DaemonSet](s.cluster, agent)
	if err != nil {
		set := agentSet()
		if err := edit(set); err != nil {
			return err
		}
		_, err = fake.Create(s.cluster, set)
		return err
	}
	var wrong error
	_, err = fake.Edit(s.cluster, agent, func(set *appsv1.DaemonSet) { wrong = edit(set) })
	return errors.Join(wrong, err)
}

// deleteSet deletes the DaemonSet and leaves its pods.
func (s *stage) deleteSet([]string) error {
	return fake.Delete[*appsv1.DaemonSet](s.cluster, agent, fake.DeleteOptions{Propagation: fake.Orphan})
}

// startDriver ends the process and starts another one: "driver parallelism=2
// names=deterministic". What is left out is parallelism=1 and the server's names.
func (s *stage) startDriver(words []string) error {
	var configs []func(*clusterapi.Config)
	for _, word := range words {
		key, value, _ := strings.Cut(word, "=")
		switch {
		case key == "parallelism":
			n, err := strconv.Atoi(value)
			if err != nil {
				return err
			}
			configs = append(configs, func(c *clusterapi.Config) { c.Parallelism = n })
		case word == "names=deterministic":
			configs = append(configs, func(c *clusterapi.Config) { c.PodNames = clusterapi.DeterministicNames })
		default:
			return fmt.Errorf("unknown option %q", word)
		}
	}
	s.restart(configs...)
	return nil
}

// refusals are what "fault err=" names.
func refusals() map[string]error {
	pods := corev1.Resource("pods")
	terminating := apierrors.NewForbidden(pods, "", errors.New("the namespace is being terminated"))
	terminating.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	return map[string]error{
		"forbidden":   apierrors.NewForbidden(pods, "", errors.New("exceeded quota")),
		"invalid":     apierrors.NewInvalid(corev1.SchemeGroupVersion.WithKind("Pod").GroupKind(), "", nil),
		"conflict":    apierrors.NewConflict(appsv1.Resource("daemonsets"), agent.Name, errors.New("the object has been modified")),
		"not-found":   apierrors.NewNotFound(pods, ""),
		"busy":        apierrors.NewTooManyRequests("busy", 7),
		"timeout":     apierrors.NewServerTimeout(pods, "create", 0),
		"lost":        context.DeadlineExceeded,
		"terminating": terminating,
		"broken":      apierrors.NewGenericServerResponse(http.StatusBadGateway, "create", pods, "", "bad gateway", 0, true),
	}
}

// inject lets calls of the Driver fail: "fault CreatePod err=lost n=2 times=3 node=b after".
// It strikes the n-th call of those, once if times is left out, and before it has an effect
// unless it says after.
func (s *stage) inject(words []string) error {
	if len(words) == 0 {
		return errors.New("takes a call")
	}
	f := fake.Fault{Call: fake.Call(words[0])}
	for _, word := range words[1:] {
		key, value, _ := strings.Cut(word, "=")
		number, notNumber := strconv.Atoi(value)
		switch {
		case key == "err":
			f.Err = refusals()[value]
		case key == "node":
			f.Node = value
		case key == "n" && notNumber == nil:
			f.Skip = number - 1
		case key == "times" && notNumber == nil:
			f.Times = number
		case word == "after":
			f.When = fake.After
		default:
			return fmt.Errorf("unknown option %q", word)
		}
	}
	if f.Err == nil {
		return errors.New("without a known err=")
	}
	s.client.Inject(f)
	return nil
}

// changeCache lets the caches of a kind stay as they are, or catch up: "cache hold Pod".
func (s *stage) changeCache(words []string) error {
	if len(words) != 2 {
		return errors.New("takes hold or sync, and a kind")
	}
	kind := fake.Kind(words[1])
	switch words[0] {
	case "hold":
		s.client.SetLag(fake.Lag{Hold: true}, kind)
	case "sync":
		s.client.SetLag(fake.Lag{}, kind)
		s.client.Sync(kind)
	default:
		return fmt.Errorf("unknown state %q", words[0])
	}
	return nil
}

// handOver hands the events that there are to the Driver, or loses them: "events lost".
func (s *stage) handOver(words []string) error {
	switch {
	case len(words) == 0:
		s.deliver()
	case words[0] == "lost":
		s.watch.Drain()
	default:
		return fmt.Errorf("unknown option %q", words[0])
	}
	return nil
}

// pass lets time pass for scheduler and kubelets: "kubelets 10s".
func (s *stage) pass(words []string) error {
	if len(words) != 1 {
		return errors.New("takes a time")
	}
	d, err := time.ParseDuration(words[0])
	s.cluster.Run(d)
	return err
}

// limit is a quota of pods in the namespace.
func (s *stage) limit(words []string) error {
	n, err := strconv.Atoi(strings.Join(words, " "))
	s.cluster.LimitPods(agent.Namespace, n)
	return err
}

// terminate begins the deletion of the namespace: "namespace terminates".
func (s *stage) terminate([]string) error {
	s.cluster.TerminateNamespace(agent.Namespace)
	return nil
}
