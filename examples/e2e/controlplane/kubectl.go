package controlplane

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/daemonplan/daemonplan/examples/e2e/components"
)

// Kubectl runs kubectl as Admin with these arguments and returns what it prints. An exit
// code other than zero is an error that has the arguments and what was printed as error.
func (p *Plane) Kubectl(ctx context.Context, args ...string) (string, error) {
	return p.KubectlWith(ctx, "", args...)
}

// KubectlWith is Kubectl with something to read from standard input.
func (p *Plane) KubectlWith(ctx context.Context, input string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, p.executable, append([]string{"--kubeconfig=" + p.kubectl}, args...)...)
	endWithParent(cmd)
	// Its cache of what the server offers is in the home folder otherwise.
	cmd.Env = append(os.Environ(), components.Variable+"="+components.Kubectl, "HOME="+p.folder, "KUBERC=off")
	cmd.Stdin = strings.NewReader(input)
	var out, errout bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errout
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("kubectl %s: %w: %s", strings.Join(args, " "), err, errout.String())
	}
	return out.String(), nil
}
