package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestVersion says what all other tests were run against.
func TestVersion(t *testing.T) {
	version, err := thePlane(t).Client.Discovery().ServerVersion()
	require.NoError(t, err)
	t.Logf("API server: %+v", *version)
	assert.Equal(t, "v1.37.2", version.GitVersion)
	assert.Equal(t, "1.37", version.Major+"."+version.Minor)
}
