package placement

import (
	"math"
	"math/bits"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
)

// amount is so much of a resource: thousandths of cpu, whole units of all others, as the
// Kubernetes scheduler counts.
type amount struct {
	name  corev1.ResourceName
	value int64
}

// countable returns q in the unit of the resource, rounded up as in Kubernetes. What is
// beyond an int64 is counted as the largest or smallest, where Kubernetes v1.37.2 counts
// zero or the low bits.
func countable(name corev1.ResourceName, q resource.Quantity) int64 {
	limit, scale := int64(math.MaxInt64), resource.Scale(0)
	if name == corev1.ResourceCPU {
		limit, scale = math.MaxInt64/1000, resource.Milli
	}
	switch {
	case q.CmpInt64(limit) > 0:
		return math.MaxInt64
	case q.CmpInt64(-limit) < 0:
		return math.MinInt64
	}
	return q.ScaledValue(scale)
}

// quantityOf is the way back, in the notation that is usual for the resource.
func quantityOf(name corev1.ResourceName) func(int64) resource.Quantity {
	if name == corev1.ResourceCPU {
		return func(value int64) resource.Quantity { return *resource.NewMilliQuantity(value, resource.DecimalSI) }
	}
	format := resource.DecimalSI
	if name == corev1.ResourceMemory || name == corev1.ResourceEphemeralStorage || isHugePages(name) {
		format = resource.BinarySI
	}
	return func(value int64) resource.Quantity { return *resource.NewQuantity(value, format) }
}

func isHugePages(name corev1.ResourceName) bool {
	return strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}

// isScheduled reports whether the Kubernetes v1.37.2 scheduler counts requests of the name.
// It passes over all other names, and pods, of which each pod takes one.
func isScheduled(name corev1.ResourceName) bool {
	if name == corev1.ResourceCPU || name == corev1.ResourceMemory || name == corev1.ResourceEphemeralStorage {
		return true
	}
	if isHugePages(name) || strings.HasPrefix(string(name), corev1.ResourceAttachableVolumesPrefix) {
		return true
	}
	return strings.Contains(string(name), corev1.ResourceDefaultNamespacePrefix) || isExtended(name)
}

// isExtended reports whether the name is one that a device plugin may advertise: with a
// domain, and short enough that a quota can name it.
func isExtended(name corev1.ResourceName) bool {
	return strings.Contains(string(name), "/") &&
		!strings.HasPrefix(string(name), corev1.DefaultResourceRequestsPrefix) &&
		len(validation.IsQualifiedName(corev1.DefaultResourceRequestsPrefix+string(name))) == 0
}

// sum adds up what many pods hold. It has 128 bits, in two's complement: pods come and go,
// and a sum that had been cut could not be taken apart again.
type sum struct {
	high int64
	low  uint64
}

func sumOf(value int64) sum { return sum{high: value >> 63, low: uint64(value)} }

func (s sum) plus(t sum) sum {
	low, carry := bits.Add64(s.low, t.low, 0)
	return sum{high: s.high + t.high + int64(carry), low: low}
}

func (s sum) minus(t sum) sum {
	low, borrow := bits.Sub64(s.low, t.low, 0)
	return sum{high: s.high - t.high - int64(borrow), low: low}
}

// int64 returns the sum, or the largest or smallest integer if it is beyond.
func (s sum) int64() int64 {
	switch {
	case s.high == int64(s.low)>>63:
		return int64(s.low)
	case s.high < 0:
		return math.MinInt64
	}
	return math.MaxInt64
}

// tally is the sum of a resource over pods.
type tally struct {
	name corev1.ResourceName
	sum  sum
}

// holds returns how much of the resource is in list.
func holds(list []amount, name corev1.ResourceName) int64 {
	for i := range list {
		if list[i].name == name {
			return list[i].value
		}
	}
	return 0
}
