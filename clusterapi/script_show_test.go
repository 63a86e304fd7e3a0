package clusterapi_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/clusterapi"
	"github.com/daemonplan/daemonplan/clusterapi/fake"
	"github.com/daemonplan/daemonplan/placement"
)

// cast gives pods names that do not depend on chance: the first one of node a is a1.
type cast map[types.UID]string

// meet names the pods that there are, in the order in which they were stored.
func (c cast) meet(pods []*corev1.Pod) {
	slices.SortFunc(pods, func(a, b *corev1.Pod) int {
		return strings.Compare(fmt.Sprintf("%20s", a.ResourceVersion), fmt.Sprintf("%20s", b.ResourceVersion))
	})
	for _, pod := range pods {
		if _, known := c[pod.UID]; known {
			continue
		}
		node := nodeOf(pod)
		n := 1
		for _, name := range c {
			if strings.TrimRight(name, "0123456789") == node {
				n++
			}
		}
		c[pod.UID] = fmt.Sprintf("%s%d", node, n)
	}
}

// showSync makes a pass and shows what it wrote, in the order of the plan, what it waits for,
// and when the next one is due.
func (s *stage) showSync() string {
	s.pods.meet(s.world.pods())
	result, err := s.sync()
	s.pods.meet(s.world.pods())
	var text strings.Builder
	for _, w := range result.Writes {
		fmt.Fprintln(&text, strings.Join(s.words(w), " "))
	}
	if result.Gone {
		fmt.Fprintln(&text, "gone")
	}
	if result.Stale != nil {
		fmt.Fprintln(&text, "refused: the cache of", result.Stale.Kind, "is older than our writes")
	}
	if result.Plan.Reason != "" {
		fmt.Fprintln(&text, "no node is acted on:", result.Plan.Reason)
	}
	if set, gone := fake.Get[*appsv1.DaemonSet](s.cluster, agent); gone == nil {
		s.showWaits(&text, set.UID)
	}
	if wait := (clusterapi.Pass{Result: result, Err: err}).ServerDelay(); wait > 0 {
		fmt.Fprintln(&text, "the server asks for", wait)
	}
	if result.Requeue > 0 {
		fmt.Fprintln(&text, "again in", result.Requeue)
	}
	var failed *clusterapi.ApplyError
	if err != nil && !errors.As(err, &failed) {
		fmt.Fprintln(&text, "error:", err)
	}
	if text.Len() == 0 {
		return "nothing to do\n"
	}
	return text.String()
}

// words say what became of a write.
func (s *stage) words(w clusterapi.Write) []string {
	words := []string{string(w.Verb)}
	switch {
	case w.Node != "" && s.pods[w.Ref.UID] == "":
		words = append(words, "on", w.Node)
	case s.pods[w.Ref.UID] != "":
		words = append(words, s.pods[w.Ref.UID])
	}
	words[len(words)-1] += ":"
	words = append(words, string(w.Outcome))
	if reason := apierrors.ReasonForError(w.Err); reason != "" {
		words = append(words, fmt.Sprintf("(%s)", reason))
	} else if w.Err != nil {
		words = append(words, fmt.Sprintf("(%v)", w.Err))
	}
	return words
}

func (s *stage) showWaits(text *strings.Builder, owner types.UID) {
	pending := s.driver.Expectations().Pending(owner)
	if pending.Empty() {
		return
	}
	var waits []string
	if pending.Creates > 0 {
		waits = append(waits, fmt.Sprintf("%d new pods", pending.Creates))
	}
	var ending []string
	for _, uid := range pending.Deletes {
		ending = append(ending, s.pods[uid])
	}
	slices.Sort(ending)
	for _, name := range ending {
		waits = append(waits, "the end of "+name)
	}
	fmt.Fprintln(text, "waits to see", strings.Join(waits, ", "))
}

func nodeOf(pod *corev1.Pod) string {
	node, _ := placement.TargetNode(pod)
	return node
}
