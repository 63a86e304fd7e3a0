package controlplane

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// auditPolicy records one line for every request of the users that are counted, when its
// response starts or ends, and nothing else.
func auditPolicy(counted []User) string {
	var text strings.Builder
	text.WriteString("apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules:\n")
	if len(counted) > 0 {
		text.WriteString("- level: Metadata\n  users:\n")
		for _, user := range counted {
			fmt.Fprintf(&text, "  - %q\n", user.Name)
		}
	}
	text.WriteString("- level: None\n")
	return text.String()
}

// schedulerConfig lets the scheduler write as fast as it decides: it is not what is tested.
func schedulerConfig(kubeconfig string) string {
	return fmt.Sprintf(`apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection: {leaderElect: false}
clientConnection: {kubeconfig: %q, qps: 1000, burst: 1000}
`, kubeconfig)
}

func (p *Plane) write(name, text string) (string, error) {
	path := filepath.Join(p.folder, name)
	return path, os.WriteFile(path, []byte(text), 0o600)
}
