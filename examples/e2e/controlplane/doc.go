// Package controlplane runs a Kubernetes control plane of v1.37.2 on 127.0.0.1: etcd,
// kube-apiserver, kube-scheduler, kube-controller-manager without its DaemonSet controller,
// and kwok in place of kubelets. Each is a child process: the executable that calls Start
// is started again and becomes the component (see package components).
//
// Ports are free ones, and all data is in one temporary folder. Children end with Stop, and
// also when the calling process is killed.
package controlplane
