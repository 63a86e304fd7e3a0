package script

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/daemonplan/daemonplan/rollout"
)

// options says what to do with each key of "key=value" words; a flag is a key without "=",
// and comes with an empty value.
type options map[string]func(value string) error

// read applies the words in order. A word that o does not know is an error.
func (o options) read(words []string) error {
	for _, word := range words {
		key, value, _ := strings.Cut(word, "=")
		set, ok := o[key]
		if !ok {
			return fmt.Errorf("unknown option %q", key)
		}
		if err := set(value); err != nil {
			return fmt.Errorf("option %q: %w", key, err)
		}
	}
	return nil
}

// text stores the value as it is.
func text[T ~string](to *T) func(string) error {
	return func(value string) error { *to = T(value); return nil }
}

// flag notes that the key was there.
func flag(to *bool) func(string) error {
	return func(string) error { *to = true; return nil }
}

// integer reads a number.
func integer[T ~int | ~int32 | ~int64](to *T) func(string) error {
	return func(value string) error {
		number, err := strconv.ParseInt(value, 10, 64)
		*to = T(number)
		return err
	}
}

// pointer reads a value that may be absent: "none" stands for nil.
func pointer[T any](to **T, read func(*T) func(string) error) func(string) error {
	return func(value string) error {
		if value == "none" {
			*to = nil
			return nil
		}
		*to = new(T)
		return read(*to)(value)
	}
}

// intOrPercent reads "2", "10%", or text that is neither.
func intOrPercent(to *intstr.IntOrString) func(string) error {
	return func(value string) error { *to = intstr.Parse(value); return nil }
}

// duration reads a span of time, such as 90s.
func duration(to *time.Duration) func(string) error {
	return func(value string) error {
		span, err := time.ParseDuration(value)
		*to = span
		return err
	}
}

// pairs reads "key=value,key=value" into a map.
func pairs(value string) map[string]string {
	result := map[string]string{}
	for pair := range strings.SplitSeq(value, ",") {
		if key, v, _ := strings.Cut(pair, "="); key != "" {
			result[key] = v
		}
	}
	return result
}

// oneWord checks that a command has one word after its name.
func oneWord(words []string) error {
	if len(words) != 1 {
		return fmt.Errorf("takes one word, not %d", len(words))
	}
	return nil
}

// someWords checks that a command has at least one word after its name.
func someWords(words []string) error {
	if len(words) == 0 {
		return errors.New("takes at least one word")
	}
	return nil
}

// profile reads the name of a rollout.Profile.
func profile(to *rollout.Profile) func(string) error {
	return func(value string) error {
		for _, p := range []rollout.Profile{rollout.Kubernetes137, rollout.Kubernetes127, rollout.Kubernetes112} {
			if p.String() == value {
				*to = p
				return nil
			}
		}
		return fmt.Errorf("%q is not a profile", value)
	}
}
