package controllerruntime_test

import (
	"github.com/daemonplan/daemonplan/clusterapi"
	appsv1 "k8s.io/api/apps/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/daemonplan/daemonplan/clusterapi/controllerruntime"
)

// A controller for the DaemonSets that ask for it by an annotation.
func ExampleSetupWithManager() { //nolint:testableexamples // it needs a cluster
	ctx := ctrl.SetupSignalHandler()
	mgr, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{
		LeaderElection:   true,
		LeaderElectionID: "daemonplan",
		Cache:            cache.Options{ByObject: controllerruntime.Diet()},
	})
	if err != nil {
		panic(err)
	}
	_, err = controllerruntime.SetupWithManager(ctx, mgr, controllerruntime.Options{
		Driver: clusterapi.Config{
			Select: func(set *appsv1.DaemonSet) bool { return set.Annotations["example.com/controller"] == "daemonplan" },
		},
	})
	if err != nil {
		panic(err)
	}
	if err := mgr.Start(ctx); err != nil {
		panic(err)
	}
}
