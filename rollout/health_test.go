package rollout_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/daemonplan/daemonplan/rollout"
)

func TestHealthText(t *testing.T) {
	tests := []struct {
		name string
		why  string
		give rollout.Health
		want string
	}{
		{name: "zero value", why: "what nobody set is the cautious reading", give: 0, want: "Unhealthy"},
		{name: "ready", why: "the name of the constant", give: rollout.Ready, want: "Ready"},
		{name: "available", why: "the name of the constant", give: rollout.Available, want: "Available"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text, err := tt.give.MarshalText()
			require.NoError(t, err)
			require.Equal(t, tt.want, string(text), tt.why)
			require.Equal(t, tt.want, tt.give.String(), tt.why)

			back := rollout.Available - tt.give
			require.NoError(t, back.UnmarshalText(text))
			require.Equal(t, tt.give, back, "text reads back as what it was")
		})
	}
}

func TestHealthOrder(t *testing.T) {
	assert.Less(t, rollout.Unhealthy, rollout.Ready, "worst first")
	assert.Less(t, rollout.Ready, rollout.Available, "worst first")
}

func TestHealthUndeclared(t *testing.T) {
	undeclared := rollout.Available + 1
	assert.Equal(t, "Health(3)", undeclared.String())
	_, err := undeclared.MarshalText()
	require.ErrorContains(t, err, "Health(3) is not a health")
}

func TestHealthUnmarshalBadText(t *testing.T) {
	for _, text := range []string{`""`, `"available"`, `"Health(3)"`, `"Available "`} {
		h := rollout.Ready
		require.ErrorContains(t, json.Unmarshal([]byte(text), &h), "is not a health", text)
		assert.Equal(t, rollout.Ready, h, "a failed read changes nothing: %s", text)
	}
}
