package fake

import (
	"testing"
	"time"
)

// CheckClusterAPIWithin is TestClusterAPI with another deadline for each call.
func CheckClusterAPIWithin(t *testing.T, deadline time.Duration, newHarness func(t *testing.T) Harness) {
	t.Helper()
	testClusterAPI(t, newHarness, limits{deadline: deadline, patience: deadline})
}
