package command

import (
	"slices"
	"strings"
)

// Right is one verb on one resource.
type Right struct {
	Verb, Group, Resource string // Resource may have a subresource: daemonsets/status
	Namespace, Name       string // empty is all
}

// The places of rights.
const (
	coreGroup   = ""
	appsGroup   = "apps"
	leasesGroup = "coordination.k8s.io"
)

// ReadRights are what every instance needs, in a dry run too. No pod is read but by lists
// and watches.
func ReadRights() []Right {
	return slices.Concat(
		rights(appsGroup, "daemonsets", "get", "list", "watch"),
		rights(appsGroup, "controllerrevisions", "get", "list", "watch"),
		rights(coreGroup, "pods", "list", "watch"),
		rights(coreGroup, "nodes", "list", "watch"),
	)
}

// WriteRights are what an instance needs that acts.
func WriteRights() []Right {
	return slices.Concat(
		rights(coreGroup, "pods", "create", "patch", "delete"),
		rights(appsGroup, "controllerrevisions", "create", "update", "patch", "delete"),
		rights(appsGroup, "daemonsets/status", "patch"),
		// Where the admission plugin OwnerReferencesPermissionEnforcement is on, an owner
		// reference that blocks the owner's deletion, as those of pods do, asks for this.
		rights(appsGroup, "daemonsets/finalizers", "update"),
		EventRights(),
	)
}

// EventRights are what an instance needs that reports by events.
func EventRights() []Right { return rights(coreGroup, "events", "create", "patch") }

// LeaseRights are what an instance needs that takes part in an election for a lease. The
// name is not in the right to create, because Kubernetes does not restrict that by name.
func LeaseRights(namespace, name string) []Right {
	list := rights(leasesGroup, "leases", "create", "get", "update")
	for i := range list {
		list[i].Namespace = namespace
		if list[i].Verb != "create" {
			list[i].Name = name
		}
	}
	return list
}

func rights(group, resource string, verbs ...string) []Right {
	list := make([]Right, len(verbs))
	for i, verb := range verbs {
		list[i] = Right{Verb: verb, Group: group, Resource: resource}
	}
	return list
}

// String is how a right is called in messages.
func (r Right) String() string {
	resource := r.Resource
	if r.Group != "" {
		name, sub, _ := strings.Cut(resource, "/")
		resource = name + "." + r.Group
		if sub != "" {
			resource += "/" + sub
		}
	}
	text := r.Verb + " " + resource
	if r.Name != "" {
		text += " " + r.Name
	}
	if r.Namespace != "" {
		text += " in namespace " + r.Namespace
	}
	return text
}
