package hygiene_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/daemonplan/daemonplan/internal/hygiene"
)

func TestPackageCommentsOfThisModule(t *testing.T) {
	problems, err := hygiene.PackageComments(packages(t))
	require.NoError(t, err)
	report(t, problems)
}

func TestPackageComments(t *testing.T) {
	tests := []struct {
		name, why string
		give      map[string]string
		want      []string
	}{
		{
			name: "one",
			why:  "a comment that a blank line parts from the clause is about the file",
			give: map[string]string{"a.go": "// Package m is a sample.\npackage m\n", "b.go": "// About this file.\n\npackage m\n"},
		},
		{
			name: "none",
			why:  "the package's page would be empty; a test file is not on it",
			give: map[string]string{"a.go": "package m\n", "a_test.go": "// Package m is a sample.\npackage m\n"},
			want: []string{"example.com/m has no package comment"},
		},
		{
			name: "two",
			why:  "nobody knows which one is kept up",
			give: map[string]string{"a.go": "// Package m is a sample.\npackage m\n", "b.go": "// Package m is another.\npackage m\n"},
			want: []string{"example.com/m has several package comments: a.go, b.go"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			list, err := hygiene.List(sample(t, tt.give))
			require.NoError(t, err)
			problems, err := hygiene.PackageComments(list)
			require.NoError(t, err)
			requireProblems(t, problems, tt.want)
		})
	}
}
