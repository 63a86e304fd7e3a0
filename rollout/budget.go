package rollout

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Budget is an update strategy resolved against a number of nodes. The zero value permits
// no step by choice; steps that cost no availability are taken all the same.
type Budget struct {
	// MaxUnavailable is how many nodes may be without an available pod before [Decide]
	// stops taking available ones away. It matters only while MaxSurge is 0.
	MaxUnavailable int
	// MaxSurge is how many nodes may carry a current pod beside an available outdated one.
	// Above 0 it turns surge on.
	MaxSurge int
}

// FieldError says which field of an update strategy cannot be used.
type FieldError struct {
	// Field is the path within the update strategy, such as "rollingUpdate.maxSurge".
	Field string
	// Err is what is wrong with the value.
	Err error
}

// Error returns the field and what is wrong with it.
func (e *FieldError) Error() string { return fmt.Sprintf("%s: %v", e.Field, e.Err) }

// Unwrap returns Err.
func (e *FieldError) Unwrap() error { return e.Err }

// BudgetFor returns the budget of a strategy for the given number of nodes that should run
// a pod. Percentages are of that number and round up. A negative number of nodes is read
// as 0.
//
// What is absent takes the API default: an empty type is RollingUpdate, and without
// rollingUpdate, or without one of its fields, maxUnavailable is 1 and maxSurge 0. If both
// come to 0 and there are nodes, MaxUnavailable is 1, as in Kubernetes v1.37.2: an update
// could not move otherwise. OnDelete has no budget: the result is zero and rollingUpdate
// is not read.
//
// Whether a set surges at all does not depend on its size: it does when maxSurge scaled
// over one node is above 0, that is when BudgetFor(s, 1).MaxSurge > 0. With no nodes a
// percentage of them is 0, and so is MaxSurge.
//
// An error is always a [*FieldError]: for an unknown type, a negative value, and text that
// is not a whole number followed by "%". Percentages above 100 are scaled like any other,
// because only API validation refuses them; a result too large for an int is the largest
// int.
func BudgetFor(s appsv1.DaemonSetUpdateStrategy, desired int) (Budget, error) {
	switch s.Type {
	case appsv1.OnDeleteDaemonSetStrategyType:
		return Budget{}, nil
	case appsv1.RollingUpdateDaemonSetStrategyType, "":
	default:
		return Budget{}, &FieldError{Field: "type", Err: fmt.Errorf("%q is not an update strategy", s.Type)}
	}
	var given appsv1.RollingUpdateDaemonSet
	if s.RollingUpdate != nil {
		given = *s.RollingUpdate
	}
	desired = max(desired, 0)
	unavailable, err := scale(given.MaxUnavailable, 1, desired)
	if err != nil {
		return Budget{}, &FieldError{Field: "rollingUpdate.maxUnavailable", Err: err}
	}
	surge, err := scale(given.MaxSurge, 0, desired)
	if err != nil {
		return Budget{}, &FieldError{Field: "rollingUpdate.maxSurge", Err: err}
	}
	if unavailable == 0 && surge == 0 && desired > 0 {
		unavailable = 1
	}
	return Budget{MaxUnavailable: unavailable, MaxSurge: surge}, nil
}

// scale resolves one limit. The arithmetic is that of intstr, which goes through floating
// point and an int of the platform's width; this one stays exact and stops at the largest
// int.
func scale(limit *intstr.IntOrString, absent, total int) (int, error) {
	if limit == nil {
		return absent, nil
	}
	switch limit.Type {
	case intstr.Int:
		if limit.IntVal < 0 {
			return 0, fmt.Errorf("%d is negative", limit.IntVal)
		}
		return int(limit.IntVal), nil
	case intstr.String:
		percent, err := parsePercent(limit.StrVal)
		if err != nil {
			return 0, err
		}
		return share(percent, uint64(total)), nil
	}
	return 0, errors.New("is neither a number nor a percentage")
}

// parsePercent reads a whole number followed by "%".
func parsePercent(text string) (uint64, error) {
	digits, ok := strings.CutSuffix(text, "%")
	if !ok {
		return 0, fmt.Errorf("%q is not a percentage", text)
	}
	percent, err := strconv.ParseInt(digits, 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, fmt.Errorf("%q is out of range", text)
	case err != nil:
		return 0, fmt.Errorf("%q is not a whole percentage", text)
	case percent < 0:
		return 0, fmt.Errorf("%q is negative", text)
	}
	return uint64(percent), nil
}

// share is percent hundredths of total, rounded up.
func share(percent, total uint64) int {
	high, low := bits.Mul64(percent, total)
	low, carry := bits.Add64(low, 99, 0)
	high += carry
	if high >= 100 { // the quotient does not even fit 64 bits
		return math.MaxInt
	}
	quotient, _ := bits.Div64(high, low, 100)
	return int(min(quotient, math.MaxInt))
}
