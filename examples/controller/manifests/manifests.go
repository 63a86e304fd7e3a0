// Package manifests holds the manifests with which the controller is installed, so that
// tests install it with exactly these.
package manifests

import _ "embed" // the manifests

// RBAC is rbac.yaml: the namespace, the service account, and the rights of the controller.
//
//go:embed rbac.yaml
var RBAC []byte

// Deployment is deployment.yaml.
//
//go:embed deployment.yaml
var Deployment []byte

// BesideStock is beside-stock.yaml: policies that keep the stock controller out of namespaces.
//
//go:embed beside-stock.yaml
var BesideStock []byte
