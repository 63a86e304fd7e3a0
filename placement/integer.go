package placement

import (
	"math"
	"strings"
)

// parseInt accepts what strconv.ParseInt accepts in base 10 and 64 bits. It differs in what
// a refusal costs: nothing, where strconv builds an error holding a copy of the text.
// Labels that are no integers are common, and an eligible node may have some.
func parseInt(text string) (int64, bool) {
	digits, negative := strings.CutPrefix(text, "-")
	if !negative {
		digits = strings.TrimPrefix(text, "+")
	}
	if digits == "" {
		return 0, false
	}
	const limit = uint64(math.MaxInt64) + 1 // the magnitude of the smallest integer
	magnitude := uint64(0)
	for i := range len(digits) {
		digit := uint64(digits[i]) - '0'
		if digit > 9 || magnitude > limit/10 {
			return 0, false
		}
		magnitude = magnitude*10 + digit
	}
	switch {
	case negative && magnitude <= limit:
		return int64(-magnitude), true
	case !negative && magnitude < limit:
		return int64(magnitude), true
	}
	return 0, false
}

// parseCanonicalInt accepts an integer only as it would be printed: no plus sign, no leading
// zeros, no negative zero. Kubernetes v1.37.2 compares taints and tolerations so, while it is
// lenient with labels.
func parseCanonicalInt(text string) (int64, bool) {
	digits := strings.TrimPrefix(text, "-")
	if text != "0" && (digits == "" || digits[0] < '1' || digits[0] > '9') {
		return 0, false
	}
	return parseInt(text)
}
