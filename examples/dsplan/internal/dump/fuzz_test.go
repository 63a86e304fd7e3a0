package dump_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/daemonplan/daemonplan/examples/dsplan/internal/dump"
)

// FuzzRead reads arbitrary bytes in both forms. Whatever they are, nothing panics, the same
// bytes give the same sets, every set has an identity or an error, and reading a file twice
// is as reading it once.
func FuzzRead(f *testing.F) {
	cases, err := filepath.Glob("../../testdata/cases/*.yaml")
	require.NoError(f, err)
	require.NotEmpty(f, cases)
	for _, name := range cases[:3] {
		text, err := os.ReadFile(name)
		require.NoError(f, err)
		f.Add(string(text))
	}
	for _, seed := range []string{
		"", all, setJSON + nodeJSON, "\ufeff" + podJSON, "\xff\xfea\x00", "{a: &a [*a]}", "---\n{\n  kind: \"Pod\",\n}\n", "%YAML 1.1\n--- # x\n...\n",
		`{"apiVersion":"v1","kind":"List","items":[null,7,` + setJSON + `]}`, "apiVersion: v1\nkind: List\nitems:\n" + items(setYAML, podYAML) + "metadata: {}\n",
		"items:\n- a\n- b\nitems:\n- c\n", "a: \"x\nitems:\n- b\"\n", "|\nitems:\n- a\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<16 {
			t.Skip("what is long only takes longer")
		}
		once, again := &dump.World{}, &dump.World{}
		errOnce, errAgain := once.Read("f", strings.NewReader(text)), again.Read("f", strings.NewReader(text))
		require.Equal(t, errOnce, errAgain)
		require.Equal(t, summarize(once.Sets()), summarize(again.Sets()))
		for _, set := range once.Sets() {
			if set.Err == nil {
				require.NotNil(t, set.Objects.DaemonSet)
				require.NotEmpty(t, set.Name)
			}
		}
		if errOnce == nil && once.Err() == nil {
			require.NoError(t, again.Read("f", strings.NewReader(text)))
			require.NoError(t, again.Err())
			require.Equal(t, summarize(once.Sets()), summarize(again.Sets()))
		}
		for snapshot, err := range dump.Lines("f", strings.NewReader(text)) {
			require.Equal(t, err == nil, snapshot.World != nil)
		}
	})
}
