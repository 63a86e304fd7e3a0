package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/daemonplan/daemonplan/examples/e2e/components"
)

// readyWithin is how long the API server may take to be ready. It takes two seconds; the
// rest is for machines that do something else.
const readyWithin = 3 * time.Minute

// Options configure a control plane. The zero value starts one that only Admin can use.
type Options struct {
	// Users are known to the API server beside Admin and StockController.
	Users []User
	// Counted are the users whose requests are in the audit log.
	Counted []User
	// NoScheduler leaves out kube-scheduler: a pod runs only if it is bound when it is created.
	// Scheduler is nil then.
	NoScheduler bool
	// Bare leaves out everything but etcd and the API server, so that nothing happens by
	// itself. Scheduler, ControllerManager and Kwok are nil then.
	Bare bool
}

// Plane is a control plane that runs. Its methods may be called from several goroutines at
// once, but for Stop.
type Plane struct {
	// Etcd, APIServer, Scheduler, ControllerManager and Kwok are its processes.
	Etcd, APIServer, Scheduler, ControllerManager, Kwok *Process
	// EtcdProxy is between the API server and etcd.
	EtcdProxy *Proxy
	// Config is Admin's, without a limit on requests.
	Config *rest.Config
	// Client is made from Config.
	Client kubernetes.Interface

	folder     string
	executable string
	secrets    *secrets
	ports      ports

	mu        sync.Mutex
	server    string
	etcd      string
	processes []*Process
	proxies   []*Proxy
	kubectl   string // Admin's kubeconfig file
}

// Start starts a control plane and returns when its API server is ready. If it fails, all
// that was started is ended, and the error has the ends of the logs.
func Start(ctx context.Context, opts Options) (*Plane, error) {
	executable, err := os.Executable()
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "daemonplan-e2e-")
	if err != nil {
		return nil, err
	}
	p := &Plane{folder: folder, executable: executable}
	if err := p.start(ctx, opts); err != nil {
		return nil, errors.Join(fmt.Errorf("control plane: %w\n%s", err, p.Logs()), p.Stop())
	}
	return p, nil
}

func (p *Plane) start(ctx context.Context, opts Options) error {
	var err error
	users := append([]User{Admin(), StockController()}, opts.Users...)
	if p.secrets, err = newSecrets(p.folder, users); err != nil {
		return err
	}
	if err := p.startEtcd(); err != nil {
		return err
	}
	if err := p.startAPIServer(opts.Counted); err != nil {
		return err
	}
	if p.kubectl, err = p.Kubeconfig(Admin(), p.server); err != nil {
		return err
	}
	if p.Config, err = clientcmd.BuildConfigFromFlags("", p.kubectl); err != nil {
		return err
	}
	p.Config.QPS, p.Config.UserAgent = -1, "daemonplan-e2e"
	if p.Client, err = kubernetes.NewForConfig(p.Config); err != nil {
		return err
	}
	if err := p.WaitReady(ctx); err != nil {
		return err
	}
	if err := p.grantStock(ctx); err != nil {
		return err
	}
	if opts.Bare {
		return nil
	}
	return p.startRest(opts)
}

// Component returns a process, not started, that this executable becomes. It ends with the
// plane.
func (p *Plane) Component(component, name string, args ...string) *Process {
	process := &Process{
		Name: name, Path: p.executable, Args: args,
		Env: []string{components.Variable + "=" + component},
	}
	p.Adopt(process)
	return process
}

// Adopt gives a process a log file and ends it with the plane.
func (p *Plane) Adopt(process *Process) {
	p.mu.Lock()
	defer p.mu.Unlock()
	process.Log = filepath.Join(p.folder, fmt.Sprintf("%02d-%s.log", len(p.processes), process.Name))
	p.processes = append(p.processes, process)
}

// Proxy returns a new proxy to the API server, which ends with the plane. Its address is
// good for Kubeconfig.
func (p *Plane) Proxy() (*Proxy, error) {
	return p.proxy(p.server[len("https://"):])
}

func (p *Plane) proxy(target string) (*Proxy, error) {
	proxy, err := NewProxy(target)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.proxies = append(p.proxies, proxy)
	return proxy, nil
}

// Server is the URL of the API server.
func (p *Plane) Server() string { return p.server }

// EtcdURL is where etcd listens itself, without the proxy.
func (p *Plane) EtcdURL() string { return p.etcd }

// Folder is where everything is that the plane writes. It is removed by Stop.
func (p *Plane) Folder() string { return p.folder }

// FreePort returns a port of 127.0.0.1 that nothing listens on.
func (p *Plane) FreePort() (int, error) { return p.ports.free() }

// Kubeconfig writes the configuration of a client that is this user to a server, which is
// the API server's URL or one with a proxy's address, and returns the file's path.
func (p *Plane) Kubeconfig(user User, server string) (string, error) {
	config, err := p.secrets.kubeconfig(user, server)
	if err != nil {
		return "", err
	}
	file, err := os.CreateTemp(p.folder, "kubeconfig-")
	if err != nil {
		return "", err
	}
	_ = file.Close()
	return file.Name(), clientcmd.WriteToFile(*config, file.Name())
}

// WaitReady returns when the API server answers that it is ready.
func (p *Plane) WaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	var last error
	for {
		if last = p.Client.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error(); last == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the API server is not ready: %w", last)
		case <-p.APIServer.Done():
			return fmt.Errorf("the API server ended: %w", last)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// Lost returns an error if a process that nobody stops on purpose has ended, without which
// nothing is ever going to happen.
func (p *Plane) Lost() error {
	for _, process := range []*Process{p.Scheduler, p.ControllerManager, p.Kwok} {
		if process != nil && !process.Running() {
			return fmt.Errorf("%s has ended with code %d:\n%s", process.Name, process.ExitCode(), process.Tail(3000))
		}
	}
	return nil
}

// Logs returns the ends of all logs, in the order in which the processes were made.
func (p *Plane) Logs() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var text strings.Builder
	for _, process := range p.processes {
		text.WriteString("--- " + process.Name + "\n" + process.Tail(3000))
	}
	return text.String()
}

// Stop ends all processes, those that were started last first, and removes the folder.
func (p *Plane) Stop() error {
	p.mu.Lock()
	processes, proxies := slices.Clone(p.processes), slices.Clone(p.proxies)
	p.mu.Unlock()
	var errs []error
	for _, process := range slices.Backward(processes) {
		// What it would tidy up is thrown away with its data.
		errs = append(errs, process.Kill())
	}
	for _, proxy := range proxies {
		proxy.Close()
	}
	errs = append(errs, os.RemoveAll(p.folder))
	return errors.Join(errs...)
}
