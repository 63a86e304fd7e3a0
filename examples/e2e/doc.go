// Package e2e tests daemonplan against a real control plane.
package e2e
