package placement_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemonplan/daemonplan/placement"
)

func TestDecisionText(t *testing.T) {
	tests := []struct {
		give placement.Decision
		want string
	}{
		{placement.Undecided, "Undecided"},
		{placement.Run, "Run"},
		{placement.Keep, "Keep"},
		{placement.Evict, "Evict"},
		{placement.Suspend, "Suspend"},
	}
	for _, tt := range tests {
		t.Run(tt.want, func(t *testing.T) {
			assert.Equal(t, tt.want, tt.give.String())
			text, err := tt.give.MarshalText()
			require.NoError(t, err)
			assert.Equal(t, tt.want, string(text))
			got := placement.Decision(200)
			require.NoError(t, got.UnmarshalText(text))
			assert.Equal(t, tt.give, got)
		})
	}
}

func TestDecisionTextErrors(t *testing.T) {
	unknown := placement.Suspend + 1
	assert.Equal(t, "Decision(5)", unknown.String())
	_, err := unknown.MarshalText()
	require.EqualError(t, err, "placement: Decision(5) has no text form")

	got := placement.Keep
	for _, text := range []string{"", "run", "Decision(5)"} {
		require.ErrorContains(t, got.UnmarshalText([]byte(text)), "placement: unknown decision")
		assert.Equal(t, placement.Keep, got, "left as it was")
	}
}

func TestVerdictJSON(t *testing.T) {
	run, err := json.Marshal(placement.Verdict{Decision: placement.Run})
	require.NoError(t, err)
	assert.JSONEq(t, `{"decision":"Run"}`, string(run))

	n := node("n", nil, "dedicated=db:NoSchedule")
	when := metav1.Unix(1_700_000_000, 0).Rfc3339Copy()
	n.Spec.Taints[0].TimeAdded = &when
	spec := requiring()
	verdict := placement.NewMatcher(&spec, placement.Options{}).Evaluate(n)
	data, err := json.Marshal(verdict)
	require.NoError(t, err)
	assert.JSONEq(t, `{
		"decision": "Evict",
		"findings": [
			{"code": "NodeAffinityMismatch", "field": "`+terms+`", "detail": "there are no terms, which matches no node"},
			{"code": "UntoleratedNoScheduleTaint", "field": "spec.tolerations",
			 "taint": {"key": "dedicated", "value": "db", "effect": "NoSchedule", "timeAdded": "2023-11-14T22:13:20Z"},
			 "detail": "taint dedicated=db:NoSchedule is not tolerated"}
		]
	}`, string(data))

	var back placement.Verdict
	require.NoError(t, json.Unmarshal(data, &back))
	assert.Equal(t, verdict.Decision, back.Decision)
	assert.Equal(t, lines(verdict.Findings), lines(back.Findings))
}
