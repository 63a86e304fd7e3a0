package controlplane

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/daemonplan/daemonplan/examples/e2e/components"
)

// managed are the controllers that a set's life needs around it, all of
// kube-controller-manager's own but for the one that is tested.
func managed() []string {
	return []string{
		"node-lifecycle-controller",        // takes the taint off that every new node gets
		"taint-eviction-controller",        // ends pods that do not tolerate NoExecute
		"pod-garbage-collector-controller", // ends pods of nodes that are gone
		"garbage-collector-controller",     // carries out propagation policies
		"namespace-controller",
		"resourcequota-controller",
		"serviceaccount-controller", // pods are admitted only once there is an account
	}
}

func (p *Plane) startEtcd() error {
	client, err := p.ports.free()
	if err != nil {
		return err
	}
	peer, err := p.ports.free()
	if err != nil {
		return err
	}
	p.etcd = fmt.Sprintf("http://127.0.0.1:%d", client)
	p.Etcd = p.Component(components.Etcd, components.Etcd,
		"--data-dir="+filepath.Join(p.folder, "etcd"),
		"--listen-client-url="+p.etcd,
		fmt.Sprintf("--listen-peer-url=http://127.0.0.1:%d", peer))
	if p.EtcdProxy, err = p.proxy(fmt.Sprintf("127.0.0.1:%d", client)); err != nil {
		return err
	}
	return p.Etcd.Start()
}

func (p *Plane) startAPIServer(counted []User) error {
	port, err := p.ports.free()
	if err != nil {
		return err
	}
	p.server = fmt.Sprintf("https://127.0.0.1:%d", port)
	policy, err := p.write("audit-policy.yaml", auditPolicy(counted))
	if err != nil {
		return err
	}
	p.APIServer = p.Component(components.APIServer, components.APIServer,
		"--etcd-servers=http://"+p.EtcdProxy.Address(),
		"--bind-address=127.0.0.1", "--advertise-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", port),
		"--endpoint-reconciler-type=none", // a loopback address is no endpoint
		"--tls-cert-file="+p.secrets.file("apiserver.crt"),
		"--tls-private-key-file="+p.secrets.file("apiserver.key"),
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-signing-key-file="+p.secrets.file("sa.key"),
		"--service-account-key-file="+p.secrets.file("sa.key"),
		"--service-cluster-ip-range=10.96.0.0/16",
		"--token-auth-file="+p.secrets.file("tokens.csv"),
		"--authorization-mode=RBAC",
		"--audit-policy-file="+policy,
		"--audit-log-path="+p.AuditLog(),
		"--audit-log-mode=blocking", // a request that was answered is in the log
		"--cert-dir="+p.folder)
	return p.APIServer.Start()
}

// startRest starts what needs the API server.
func (p *Plane) startRest(opts Options) error {
	if !opts.NoScheduler {
		if err := p.startScheduler(); err != nil {
			return err
		}
	}
	stages, err := stages()
	if err != nil {
		return err
	}
	stageFile, err := p.write("stages.yaml", stages)
	if err != nil {
		return err
	}
	p.ControllerManager = p.Component(components.ControllerManager, components.ControllerManager,
		"--kubeconfig="+p.kubectl, "--controllers="+strings.Join(managed(), ","),
		"--leader-elect=false", "--secure-port=0", "--kube-api-qps=500", "--kube-api-burst=1000",
		"--use-service-account-credentials=false",
		"--concurrent-gc-syncs=20", "--concurrent-namespace-syncs=10",
		"--namespace-sync-period=1m")
	p.Kwok = p.Component(components.Kwok, components.Kwok,
		"--kubeconfig="+p.kubectl, "--manage-all-nodes=true", "--config="+stageFile,
		"--node-lease-duration-seconds=40")
	return errors.Join(p.ControllerManager.Start(), p.Kwok.Start())
}

func (p *Plane) startScheduler() error {
	config, err := p.write("scheduler.yaml", schedulerConfig(p.kubectl))
	if err != nil {
		return err
	}
	p.Scheduler = p.Component(components.Scheduler, components.Scheduler, "--config="+config, "--secure-port=0")
	return p.Scheduler.Start()
}

// AuditLog is the file that has a line for every request of the counted users.
func (p *Plane) AuditLog() string { return filepath.Join(p.folder, "audit.log") }
