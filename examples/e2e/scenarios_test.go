package e2e_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
)

// scenario is something that users do with a set, and what has to come of it. It runs with
// every controller in turn, in a scene of its own, beside other scenarios.
type scenario struct {
	name  string // of the namespace too
	why   string
	nodes int
	run   func(s *scene)
}

func scenarios() []scenario {
	return slices.Concat(
		placementScenarios(), nodeScenarios(), updateScenarios(), historyScenarios(),
		deletionScenarios(), adoptionScenarios(), refusalScenarios(), kubectlScenarios(),
	)
}

func TestScenarios(t *testing.T) {
	plane := thePlane(t)
	var mu sync.Mutex
	answers := map[string]map[string]string{} // by scenario and controller
	eachSubject(t, func(t *testing.T, subject subject) {
		t.Helper()
		process := subject.run(t, plane, launch{})
		for _, sc := range scenarios() {
			t.Run(sc.name, func(t *testing.T) {
				t.Parallel()
				s := newScene(t, plane, sc.name+"-"+subject.name, sc.nodes)
				s.subject = process
				sc.run(s)
				mu.Lock()
				defer mu.Unlock()
				if answers[sc.name] == nil {
					answers[sc.name] = map[string]string{}
				}
				answers[sc.name][subject.name] = s.answers.String()
			})
		}
	})
	for _, sc := range scenarios() {
		by := answers[sc.name]
		own, ok := by["daemonplan"]
		stock, both := by["stock"]
		if ok && both { // or one of them was not asked for
			assert.Equal(t, stock, own, "scenario %s: the answers of stock (expected) and daemonplan (actual)", sc.name)
		}
	}
}
