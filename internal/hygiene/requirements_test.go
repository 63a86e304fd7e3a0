package hygiene_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/daemonplan/daemonplan/internal/hygiene"
)

func TestRequirementsOfThisModule(t *testing.T) {
	problems, err := hygiene.Requirements(root, []string{
		"github.com/google/go-cmp",
		"github.com/stretchr/testify",
		"k8s.io/api",
		"k8s.io/apimachinery",
	})
	require.NoError(t, err)
	noticeChanges(t)
	report(t, problems)
}

func TestRequirements(t *testing.T) {
	tests := []struct {
		name, why string
		give      string
		want      []string
	}{
		{
			name: "exact",
			why:  "indirect requirements are the business of the direct ones",
			give: "require example.com/a v1.0.0\n\nrequire example.com/b v1.0.0 // indirect\n",
		},
		{
			name: "one too many",
			why:  "each direct requirement reaches every user",
			give: "require (\n\texample.com/a v1.0.0\n\texample.com/b v1.0.0\n)\n",
			want: []string{"requires example.com/b directly"},
		},
		{
			name: "one missing",
			why:  "a list that nobody shortens stops being the list",
			give: "require example.com/a v1.0.0 // indirect\n",
			want: []string{"does not require example.com/a directly"},
		},
		{
			name: "replaced",
			why:  "a replacement holds for this module's tests only",
			give: "require example.com/a v1.0.0\n\nreplace example.com/a => ./a\n",
			want: []string{"replaces example.com/a"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := sample(t, map[string]string{"go.mod": "module example.com/m\n\ngo 1.26\n\n" + tt.give})
			problems, err := hygiene.Requirements(dir, []string{"example.com/a"})
			require.NoError(t, err)
			requireProblems(t, problems, tt.want)
		})
	}
}

func TestRequirementsNeedsAModule(t *testing.T) {
	_, err := hygiene.Requirements(t.TempDir(), nil)
	require.Error(t, err, "no go.mod is not the same as a good one")
}
