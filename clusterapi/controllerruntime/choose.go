package controllerruntime

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemonplan/daemonplan/clusterapi"
)

// Choose returns a ClusterAPI for which the DaemonSets that choose refuses are not there. A
// Driver leaves such a set and its pods alone, and forgets what it knew of them. choose is
// asked with every read, from several goroutines, must not change what it is given, and must
// not block. A nil choose takes every set; api is then returned as it is.
func Choose(api clusterapi.ClusterAPI, choose func(*appsv1.DaemonSet) bool) clusterapi.ClusterAPI {
	if choose == nil {
		return api
	}
	return &chosen{ClusterAPI: api, choose: choose}
}

type chosen struct {
	clusterapi.ClusterAPI

	choose func(*appsv1.DaemonSet) bool
}

// Observe implements clusterapi.Reader.
func (c *chosen) Observe(ctx context.Context, key types.NamespacedName) (clusterapi.Observation, error) {
	seen, err := c.ClusterAPI.Observe(ctx, key)
	if err == nil && seen.Objects.DaemonSet != nil && !c.choose(seen.Objects.DaemonSet) {
		return clusterapi.Observation{}, notChosen(key)
	}
	return seen, err
}

// Live implements clusterapi.Reader.
func (c *chosen) Live(ctx context.Context, key types.NamespacedName) (*appsv1.DaemonSet, error) {
	set, err := c.ClusterAPI.Live(ctx, key)
	if err == nil && set != nil && !c.choose(set) {
		return nil, notChosen(key)
	}
	return set, err
}

func notChosen(key types.NamespacedName) error {
	return apierrors.NewNotFound(appsv1.Resource("daemonsets"), key.Name)
}
