package clientgo_test

import (
	"context"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"syscall"

	"github.com/daemonplan/daemonplan/clusterapi"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/daemonplan/daemonplan/clusterapi/clientgo"
)

// A controller for the DaemonSets that ask for it, to run as a Deployment of two replicas.
func ExampleController() {
	config, err := rest.InClusterConfig()
	if err != nil {
		return // not in a cluster
	}
	config.QPS, config.Burst = 100, 200 // the defaults, 5 and 10, make a rollout wait
	controller, err := clientgo.New(clientgo.Config{
		Client: kubernetes.NewForConfigOrDie(config),
		Driver: clusterapi.Config{
			Select: func(set *appsv1.DaemonSet) bool { return set.Annotations["example.com/controller"] == "daemonplan" },
		},
		Leader: &clientgo.LeaderConfig{
			Namespace: "daemonplan", Name: "daemonplan",
			Client: kubernetes.NewForConfigOrDie(rest.CopyConfig(config)), // renewals do not wait for writes
		},
		Logger: slog.New(slog.NewJSONHandler(os.Stderr, nil)),
	})
	if err != nil {
		panic(err)
	}
	go func() { _ = http.ListenAndServe(":8080", controller.Handler()) }() // /healthz, /readyz, /metrics

	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if err := controller.Run(ctx); err != nil {
		panic(err)
	}
	// Output:
}
