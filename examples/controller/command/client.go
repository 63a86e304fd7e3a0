package command

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// clients are what the program talks to the API server by.
type clients struct {
	server string               // its address, for messages
	work   kubernetes.Interface // under --kube-api-qps
	aside  kubernetes.Interface // for the checks at the start and the lease, which must not wait behind the work
}

// newClients makes clients from the flags and asks no server.
func newClients(o options) (clients, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = o.kubeconfig
	overrides := &clientcmd.ConfigOverrides{}
	overrides.ClusterInfo.Server = o.server
	cfg, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides).ClientConfig()
	switch {
	case clientcmd.IsEmptyConfig(err) && o.kubeconfig != "":
		return clients{}, fmt.Errorf("kubeconfig %s: it has no current context, which would say what server to use: set one with kubectl config use-context", o.kubeconfig)
	case clientcmd.IsEmptyConfig(err):
		return clients{}, fmt.Errorf("kubeconfig: neither --kubeconfig nor --server is given, there is no current context in %s ($KUBECONFIG, or else ~/.kube/config), and this is no pod", strings.Join(rules.GetLoadingPrecedence(), ", "))
	case err != nil && o.kubeconfig != "":
		return clients{}, fmt.Errorf("kubeconfig %s: %w", o.kubeconfig, err)
	case err != nil:
		return clients{}, fmt.Errorf("kubeconfig: %w", err)
	}
	rest.AddUserAgent(cfg, program)
	cfg.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	cfg.ContentType = runtime.ContentTypeProtobuf
	if o.dryRun {
		cfg.Wrap(func(next http.RoundTripper) http.RoundTripper {
			return readOnly{next: next, events: o.dryRunEvents}
		})
	}
	made := clients{server: cfg.Host}
	cfg.QPS, cfg.Burst = float32(o.qps), o.burst
	if made.work, err = kubernetes.NewForConfig(cfg); err != nil {
		return clients{}, fmt.Errorf("kubeconfig: %w", err)
	}
	aside := rest.CopyConfig(cfg)
	aside.QPS = -1 // a lease is renewed every few seconds: no limit is needed
	aside.Timeout = o.renewDeadline / 2
	if made.aside, err = kubernetes.NewForConfig(aside); err != nil {
		return clients{}, fmt.Errorf("kubeconfig: %w", err)
	}
	return made, nil
}

// readOnly refuses requests that could write, before they are sent. It is the second lock
// on a dry run, which makes none.
type readOnly struct {
	next   http.RoundTripper
	events bool // may be written
}

var eventPath = regexp.MustCompile(`/api/v1/namespaces/[^/]+/events(/[^/]+)?$`)

// RoundTrip sends the request if it only reads.
func (r readOnly) RoundTrip(request *http.Request) (*http.Response, error) {
	method := request.Method
	event := (method == http.MethodPost || method == http.MethodPatch) && eventPath.MatchString(request.URL.Path)
	if method == http.MethodGet || method == http.MethodHead || r.events && event {
		return r.next.RoundTrip(request)
	}
	if request.Body != nil {
		_ = request.Body.Close() // as a RoundTripper has to
	}
	return nil, fmt.Errorf("a dry run sends no %s %s", method, request.URL.Path)
}
