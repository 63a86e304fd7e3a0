package command_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/daemonplan/daemonplan/examples/controller/command"
)

func TestBadUsage(t *testing.T) {
	tests := []struct {
		name string
		give []string
		want []string // in the message
	}{
		{"unknown flag", []string{"--nope"}, []string{"-nope"}},
		{"no number", []string{"--workers=many"}, []string{"many", "-workers"}},
		{"argument", []string{"now"}, []string{`unexpected argument "now"`}},
		{"all are named", []string{"--workers=0", "--kube-api-burst=0"}, []string{"--workers is 0", "--kube-api-burst is 0"}},
		{"writes", []string{"--concurrent-writes=-1"}, []string{"--concurrent-writes is -1"}},
		{"qps", []string{"--kube-api-qps=0"}, []string{"--kube-api-qps is 0"}},
		{"qps is no number", []string{"--kube-api-qps=NaN"}, []string{"--kube-api-qps is NaN"}},
		{"resync", []string{"--resync=-1s"}, []string{"--resync is -1s"}},
		{"connect timeout", []string{"--connect-timeout=0"}, []string{"--connect-timeout is 0s"}},
		{"class", []string{"--class=A_b"}, []string{`--class is "A_b"`}},
		{"names", []string{"--pod-names=mine"}, []string{`--pod-names is "mine"`, "server or deterministic"}},
		{"log format", []string{"--log-format=xml"}, []string{`--log-format is "xml"`, "text or json"}},
		{"log level", []string{"--log-level=loud"}, []string{`--log-level is "loud"`}},
		{"log levels", []string{"-v", "--log-level=warn"}, []string{"-v and --log-level"}},
		{"listen", []string{"--listen=8080"}, []string{`--listen is "8080"`, "it must be HOST:PORT", "missing port"}},
		{"port", []string{"--listen=:99999"}, []string{`--listen is ":99999"`, "it must be HOST:PORT", "invalid port"}},
		{"dry run with election", []string{"--dry-run", "--leader-elect"}, []string{"--leader-elect and --dry-run exclude each other"}},
		{"events without dry run", []string{"--dry-run-events=false"}, []string{"--dry-run-events is for --dry-run"}},
		{"lease namespace", []string{"--leader-elect-resource-namespace=a.b"}, []string{"--leader-elect-resource-namespace"}},
		{"lease name", []string{"--leader-elect-resource-name=A"}, []string{"--leader-elect-resource-name"}},
		{"lease shorter than renewal", []string{"--leader-elect-lease-duration=5s"}, []string{"--leader-elect-lease-duration is 5s", "10s"}},
		{"lease below a second", []string{"--leader-elect-lease-duration=900ms", "--leader-elect-renew-deadline=500ms", "--leader-elect-retry-period=100ms"}, []string{"at least 1s"}},
		{"renewal shorter than retry", []string{"--leader-elect-renew-deadline=2s"}, []string{"--leader-elect-renew-deadline is 2s"}},
		{"no retry period", []string{"--leader-elect-retry-period=0"}, []string{"--leader-elect-retry-period is 0s"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			assert.Equal(t, 2, command.Run(t.Context(), test.give, &stdout, &stderr))
			assert.Empty(t, stdout.String())
			for _, words := range append(test.want, "daemonplan-controller: ", "see -h for the flags") {
				assert.Contains(t, stderr.String(), words)
			}
		})
	}
}

// A class that cannot be meant is one mistake, not also one of the lease that is named after it.
func TestBadClassIsNamedOnce(t *testing.T) {
	err := command.ParseOptions([]string{"--class=A_b"})
	require.ErrorContains(t, err, "--class")
	assert.NotContains(t, err.Error(), "--leader-elect-resource-name")
}

func TestGoodUsage(t *testing.T) {
	for _, give := range [][]string{
		nil,
		{"--dry-run"},
		{"--dry-run", "--leader-elect=false", "--dry-run-events=false"},
		{"--leader-elect=false", "--leader-elect-resource-namespace=a.b"}, // not looked at
		{"--kube-api-qps=-1", "--resync=0", "--listen="},
		{"--class=blue", "--pod-names=deterministic", "--place-pods", "-v", "--log-format=json", "--listen=:0"},
	} {
		assert.NoError(t, command.ParseOptions(give), "%v", give)
	}
}

func TestHelpAndVersion(t *testing.T) {
	for flag, want := range map[string]string{"-h": "-leader-elect-resource-namespace", "--version": "Kubernetes v1.37.2"} {
		var stdout, stderr bytes.Buffer
		require.Zero(t, command.Run(t.Context(), []string{flag}, &stdout, &stderr), flag)
		assert.Contains(t, stdout.String(), want)
		assert.NotContains(t, stdout.String(), "%!")
		assert.Empty(t, stderr.String())
	}
}
