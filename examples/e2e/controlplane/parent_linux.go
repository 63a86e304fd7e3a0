package controlplane

import (
	"os/exec"
	"syscall"
)

// endWithParent has the kernel kill the child when the thread that started it is gone. It
// backs up the end of the child's input, which only re-executed components watch.
func endWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
