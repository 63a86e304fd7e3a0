package rollout

import (
	"fmt"
	"strconv"
)

// Health is what a pod contributes to availability. The zero value is [Unhealthy], the
// cautious reading. A value that is not declared here counts as not available.
type Health uint8

// The healths, worst first.
const (
	// Unhealthy is a pod that is not ready.
	Unhealthy Health = iota
	// Ready is a pod that is ready, but not yet for minReadySeconds.
	Ready
	// Available is a pod that has been ready for minReadySeconds.
	Available
)

// String returns the name of the constant, and for a value without one "Health(n)".
func (h Health) String() string {
	switch h {
	case Unhealthy:
		return "Unhealthy"
	case Ready:
		return "Ready"
	case Available:
		return "Available"
	}
	return "Health(" + strconv.Itoa(int(h)) + ")"
}

// MarshalText returns the name of the constant. A value without one is an error, because
// it could not be read back.
func (h Health) MarshalText() ([]byte, error) {
	if h > Available {
		return nil, fmt.Errorf("%s is not a health", h)
	}
	return []byte(h.String()), nil
}

// UnmarshalText sets h to the constant that text names, in the spelling of
// [Health.String]. Any other text, the empty one too, is an error and leaves h as it was.
func (h *Health) UnmarshalText(text []byte) error {
	for known := Unhealthy; known <= Available; known++ {
		if string(text) == known.String() {
			*h = known
			return nil
		}
	}
	return fmt.Errorf("%q is not a health", text)
}
