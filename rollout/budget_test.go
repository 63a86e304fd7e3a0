package rollout_test

import (
	"errors"
	"math"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/daemonplan/daemonplan/rollout"
)

func TestBudgetFor(t *testing.T) {
	tests := []struct {
		name        string
		why         string
		give        appsv1.DaemonSetUpdateStrategy
		giveDesired int
		want        rollout.Budget
	}{
		{
			name: "zero strategy", why: "everything takes the API default",
			giveDesired: 10, want: rollout.Budget{MaxUnavailable: 1},
		},
		{
			name: "no rollingUpdate", why: "its fields take the API defaults",
			give:        appsv1.DaemonSetUpdateStrategy{Type: appsv1.RollingUpdateDaemonSetStrategyType},
			giveDesired: 10, want: rollout.Budget{MaxUnavailable: 1},
		},
		{
			name: "no maxUnavailable", why: "the API default is 1, with surge too",
			give: strategy("", "30%"), giveDesired: 10, want: rollout.Budget{MaxUnavailable: 1, MaxSurge: 3},
		},
		{
			name: "no maxSurge", why: "the API default is 0",
			give: strategy("30%", ""), giveDesired: 10, want: rollout.Budget{MaxUnavailable: 3},
		},
		{
			name: "numbers", why: "they do not depend on the nodes",
			give: strategy("7", "5"), giveDesired: 2, want: rollout.Budget{MaxUnavailable: 7, MaxSurge: 5},
		},
		{
			name: "percentages", why: "they are of the desired nodes, rounded up",
			give: strategy("10%", "1%"), giveDesired: 101, want: rollout.Budget{MaxUnavailable: 11, MaxSurge: 2},
		},
		{
			name: "whole percentages", why: "what comes out even is not rounded",
			give: strategy("7%", "29%"), giveDesired: 100, want: rollout.Budget{MaxUnavailable: 7, MaxSurge: 29},
		},
		{
			name: "above one hundred percent", why: "only validation refuses it",
			give: strategy("150%", "201%"), giveDesired: 3, want: rollout.Budget{MaxUnavailable: 5, MaxSurge: 7},
		},
		{
			name: "both zero", why: "an update could not move, so one may be unavailable",
			give: strategy("0", "0"), giveDesired: 1, want: rollout.Budget{MaxUnavailable: 1},
		},
		{
			name: "both zero percent", why: "zero is zero however it is written",
			give: strategy("0%", "0%"), giveDesired: 50, want: rollout.Budget{MaxUnavailable: 1},
		},
		{
			name: "both zero without nodes", why: "there is nothing to move",
			give: strategy("0", "0"), giveDesired: 0, want: rollout.Budget{},
		},
		{
			name: "zero and surge", why: "surge moves the update, so zero stays",
			give: strategy("0", "1"), giveDesired: 10, want: rollout.Budget{MaxSurge: 1},
		},
		{
			name: "a percentage without nodes", why: "a part of nothing is nothing",
			give: strategy("50%", "50%"), giveDesired: 0, want: rollout.Budget{},
		},
		{
			name: "a number without nodes", why: "numbers do not depend on the nodes",
			give: strategy("2", "3"), giveDesired: 0, want: rollout.Budget{MaxUnavailable: 2, MaxSurge: 3},
		},
		{
			name: "negative desired", why: "it is read as zero",
			give: strategy("50%", "0"), giveDesired: math.MinInt, want: rollout.Budget{},
		},
		{
			name: "one percent of one node", why: "so surge is on whenever maxSurge is above zero percent",
			give: strategy("0", "1%"), giveDesired: 1, want: rollout.Budget{MaxSurge: 1},
		},
		{
			name: "largest number", why: "it is a number like any other",
			give: strategy("2147483647", ""), giveDesired: 1, want: rollout.Budget{MaxUnavailable: math.MaxInt32},
		},
		{
			name: "a product beyond 32 bits", why: "the result fits, so the way there must too",
			give: strategy("100%", "100%"), giveDesired: math.MaxInt32,
			want: rollout.Budget{MaxUnavailable: math.MaxInt32, MaxSurge: math.MaxInt32},
		},
		{
			name: "a product beyond 64 bits", why: "a hundred percent of any number is that number",
			give: strategy("100%", "50%"), giveDesired: math.MaxInt,
			want: rollout.Budget{MaxUnavailable: math.MaxInt, MaxSurge: math.MaxInt/2 + 1},
		},
		{
			name: "a result beyond an int", why: "the largest int is more nodes than there are",
			give: strategy("101%", "9223372036854775807%"), giveDesired: math.MaxInt,
			want: rollout.Budget{MaxUnavailable: math.MaxInt, MaxSurge: math.MaxInt},
		},
		{
			name: "on delete", why: "there is no budget, and rollingUpdate is not read",
			give: appsv1.DaemonSetUpdateStrategy{
				Type: appsv1.OnDeleteDaemonSetStrategyType, RollingUpdate: strategy("abc%", "-1").RollingUpdate,
			},
			giveDesired: 10, want: rollout.Budget{},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := rollout.BudgetFor(tt.give, tt.giveDesired)
			require.NoError(t, err)
			require.Equal(t, tt.want, got, tt.why)
		})
	}
}

func TestBudgetForBadInput(t *testing.T) {
	unknownKind := intstr.IntOrString{Type: 7, IntVal: 1, StrVal: "1%"}
	tests := []struct {
		name      string
		why       string
		give      appsv1.DaemonSetUpdateStrategy
		wantField string
		wantText  string
	}{
		{
			name: "unknown type", why: "its rules are not known",
			give: appsv1.DaemonSetUpdateStrategy{Type: "Recreate"}, wantField: "type", wantText: `"Recreate"`,
		},
		{
			name: "not a number", why: "no number can be read",
			give: strategy("abc%", ""), wantField: "rollingUpdate.maxUnavailable", wantText: `"abc%" is not a whole percentage`,
		},
		{
			name: "a fraction", why: "percentages are whole",
			give: strategy("0", "1.5%"), wantField: "rollingUpdate.maxSurge", wantText: `"1.5%" is not a whole percentage`,
		},
		{
			name: "nothing before the sign", why: "no number can be read",
			give: strategy("%", ""), wantField: "rollingUpdate.maxUnavailable", wantText: "is not a whole percentage",
		},
		{
			name: "text without the sign", why: "a number as text is neither of the two forms",
			give:      appsv1.DaemonSetUpdateStrategy{RollingUpdate: &appsv1.RollingUpdateDaemonSet{MaxSurge: text("5")}},
			wantField: "rollingUpdate.maxSurge", wantText: `"5" is not a percentage`,
		},
		{
			name: "empty text", why: "it is neither of the two forms",
			give:      appsv1.DaemonSetUpdateStrategy{RollingUpdate: &appsv1.RollingUpdateDaemonSet{MaxUnavailable: text("")}},
			wantField: "rollingUpdate.maxUnavailable", wantText: `"" is not a percentage`,
		},
		{
			name: "negative number", why: "less than nothing cannot be spent",
			give: strategy("-1", ""), wantField: "rollingUpdate.maxUnavailable", wantText: "-1 is negative",
		},
		{
			name: "negative percentage", why: "less than nothing cannot be spent",
			give: strategy("", "-10%"), wantField: "rollingUpdate.maxSurge", wantText: `"-10%" is negative`,
		},
		{
			name: "percentage beyond 64 bits", why: "it cannot be read exactly",
			give: strategy("", "9223372036854775808%"), wantField: "rollingUpdate.maxSurge", wantText: "is out of range",
		},
		{
			name: "unknown kind of value", why: "a value built by hand may be neither",
			give:      appsv1.DaemonSetUpdateStrategy{RollingUpdate: &appsv1.RollingUpdateDaemonSet{MaxUnavailable: &unknownKind}},
			wantField: "rollingUpdate.maxUnavailable", wantText: "neither a number nor a percentage",
		},
		{
			name: "both bad", why: "the first field is named",
			give: strategy("-1", "-1"), wantField: "rollingUpdate.maxUnavailable", wantText: "-1 is negative",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := rollout.BudgetFor(tt.give, 10)
			fieldErr, ok := errors.AsType[*rollout.FieldError](err)
			require.True(t, ok, "%T: %s", err, tt.why)
			require.Equal(t, tt.wantField, fieldErr.Field)
			require.ErrorContains(t, fieldErr.Err, tt.wantText, tt.why)
			require.ErrorIs(t, err, fieldErr.Err, "the cause can be reached")
			require.EqualError(t, err, tt.wantField+": "+fieldErr.Err.Error())
			require.Zero(t, got, "there is no budget beside an error")
		})
	}
}

// The API machinery has the same rule in floating point, which is exact for these sizes.
func TestBudgetForScalesAsTheAPIMachinery(t *testing.T) {
	rounded := 0
	for percent := range 131 {
		for _, desired := range []int{1, 2, 3, 7, 99, 100, 101, 5_000, 99_999, math.MaxInt32} {
			value := text(strconv.Itoa(percent) + "%")
			want, err := intstr.GetScaledValueFromIntOrPercent(value, desired, true)
			require.NoError(t, err)
			if int64(want) < int64(percent)*int64(desired)/100 {
				continue // wider than an int of this platform, where intstr wraps
			}
			got, err := rollout.BudgetFor(appsv1.DaemonSetUpdateStrategy{
				RollingUpdate: &appsv1.RollingUpdateDaemonSet{MaxUnavailable: text("0%"), MaxSurge: value},
			}, desired)
			require.NoError(t, err)
			require.Equal(t, want, got.MaxSurge, "%d%% of %d", percent, desired)
			if int64(percent)*int64(desired)%100 != 0 {
				rounded++
			}
		}
	}
	assert.Positive(t, rounded, "no case was rounded")
}

// strategy is a rolling update; an empty limit is absent.
func strategy(maxUnavailable, maxSurge string) appsv1.DaemonSetUpdateStrategy {
	update := &appsv1.RollingUpdateDaemonSet{}
	if maxUnavailable != "" {
		v := intstr.Parse(maxUnavailable)
		update.MaxUnavailable = &v
	}
	if maxSurge != "" {
		v := intstr.Parse(maxSurge)
		update.MaxSurge = &v
	}
	return appsv1.DaemonSetUpdateStrategy{Type: appsv1.RollingUpdateDaemonSetStrategyType, RollingUpdate: update}
}

func text(s string) *intstr.IntOrString {
	v := intstr.FromString(s)
	return &v
}
