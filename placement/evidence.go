package placement

import (
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

const (
	// maxText is the length of the longest valid label key, 253 + 1 + 63 bytes: nothing that
	// an API server would store in a label or taint is cut.
	maxText   = 317
	maxValues = 8
)

// clip bounds text, so that a huge value does not turn up once a node in a plan.
func clip(text string) string {
	if len(text) <= maxText {
		return text
	}
	return strings.ToValidUTF8(text[:maxText], "") + cutMark(len(text))
}

func quote(text string) string {
	if len(text) <= maxText {
		return strconv.Quote(text)
	}
	return strconv.Quote(strings.ToValidUTF8(text[:maxText], "")) + cutMark(len(text))
}

func cutMark(length int) string { return "... (" + strconv.Itoa(length) + " bytes)" }

// wantText writes a requirement in words, values in the order of the template.
func wantText(r *corev1.NodeSelectorRequirement) string {
	var b strings.Builder
	b.WriteString(clip(r.Key) + " " + string(r.Operator))
	if len(r.Values) == 0 {
		return b.String()
	}
	b.WriteString(" [")
	for i, value := range r.Values[:min(len(r.Values), maxValues)] {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(quote(value))
	}
	if more := len(r.Values) - maxValues; more > 0 {
		b.WriteString(", and " + strconv.Itoa(more) + " more")
	}
	b.WriteString("]")
	return b.String()
}

// taintText writes a taint as kubectl does: key=value:effect, or key:effect without a value.
func taintText(taint *corev1.Taint) string {
	text := clip(taint.Key)
	if taint.Value != "" {
		text += "=" + clip(taint.Value)
	}
	return text + ":" + string(taint.Effect)
}
