package controlplane

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// grace is how long a process has to end by itself before it is killed.
const grace = 20 * time.Second

// Process is a child process that can be ended and started again with the same arguments.
// Its output goes to one file, over all its lives. The methods may be called from several
// goroutines at once.
type Process struct {
	Name string
	Path string   // the program; the arguments do not include it
	Args []string // may be changed between two lives
	Env  []string // added to the environment of this process
	Log  string   // the file that takes standard output and error

	mu   sync.Mutex
	life *life // nil if it was never started
}

// life is one run of a process.
type life struct {
	cmd   *exec.Cmd
	input io.Closer // the child ends with it
	done  chan struct{}
	err   error // after done
}

// Start starts the process. One that runs is an error.
func (p *Process) Start() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.life != nil && !p.life.over() {
		return fmt.Errorf("%s runs already", p.Name)
	}
	out, err := os.OpenFile(p.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer out.Close() // the child has its own
	cmd := exec.Command(p.Path, p.Args...)
	cmd.Env = append(os.Environ(), p.Env...)
	cmd.Stdout, cmd.Stderr = out, out
	endWithParent(cmd)
	input, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("%s: %w", p.Name, err)
	}
	l := &life{cmd: cmd, input: input, done: make(chan struct{})}
	go func() {
		l.err = cmd.Wait()
		close(l.done)
	}()
	p.life = l
	return nil
}

func (l *life) over() bool {
	select {
	case <-l.done:
		return true
	default:
		return false
	}
}

func (p *Process) current() *life {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.life
}

// Running reports whether the process was started and has not ended.
func (p *Process) Running() bool {
	l := p.current()
	return l != nil && !l.over()
}

// Done is closed when the present run ends; nil before the first Start.
func (p *Process) Done() <-chan struct{} {
	if l := p.current(); l != nil {
		return l.done
	}
	return nil
}

// ExitCode returns the code with which the last run ended, and -1 for one that a signal
// ended or that has not ended.
func (p *Process) ExitCode() int {
	l := p.current()
	if l == nil || !l.over() {
		return -1
	}
	return l.cmd.ProcessState.ExitCode()
}

// PID returns the id of the process of the last run, and 0 before the first.
func (p *Process) PID() int {
	if l := p.current(); l != nil {
		return l.cmd.Process.Pid
	}
	return 0
}

// Signal sends a signal. A process that has ended is no error.
func (p *Process) Signal(s os.Signal) error {
	l := p.current()
	if l == nil {
		return nil
	}
	if err := l.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("%s: %w", p.Name, err)
	}
	return nil
}

// Kill ends the process the way a crash does, and returns when it is gone.
func (p *Process) Kill() error {
	if err := p.Signal(syscall.SIGKILL); err != nil {
		return err
	}
	if l := p.current(); l != nil {
		<-l.done
	}
	return nil
}

// Stop asks the process to end and returns when it is gone. One that does not end in time
// is killed, which is an error.
func (p *Process) Stop() error {
	l := p.current()
	if l == nil {
		return nil
	}
	if err := p.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-l.done:
		return nil
	case <-time.After(grace):
		return errors.Join(fmt.Errorf("%s did not end within %v of being asked to", p.Name, grace), p.Kill())
	}
}

// Tail returns the last lines of the log, at most n bytes.
func (p *Process) Tail(n int) string {
	data, err := os.ReadFile(p.Log)
	if err != nil {
		return err.Error()
	}
	if len(data) <= n {
		return string(data)
	}
	data = data[len(data)-n:]
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		data = data[i+1:]
	}
	return string(data)
}
