package placement

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
)

// maxHolders bounds the pods that a finding names, so that a crowded node does not turn up
// pod by pod in a plan.
const maxHolders = 3

// Contention is one thing that a pod asks of a node and other pods hold.
type Contention struct {
	// Subject is the resource's name, the host port as "TCP 0.0.0.0:443", or the disk as
	// "gce-pd NAME", "aws-ebs ID", "iscsi IQN", "rbd POOL/IMAGE" or "claim NAMESPACE/NAME".
	Subject string `json:"subject"`

	// Asked and Free are amounts of a resource. Free is negative on a node that is
	// overcommitted. For a host port or a disk they are 1 and 0.
	Asked resource.Quantity `json:"asked"`
	Free  resource.Quantity `json:"free"`

	// Allocatable is what the node has of the resource in all; for a host port or a disk 1.
	Allocatable resource.Quantity `json:"allocatable"`

	// Holders names the pods that hold most of it, the largest first, then by namespace and
	// name, at most three. More is the number of the others.
	Holders []Holder `json:"holders,omitempty"`
	More    int      `json:"more,omitempty"`

	single bool // a port or a disk
}

// Holder is a pod and how much it holds.
type Holder struct {
	Namespace string            `json:"namespace,omitempty"`
	Name      string            `json:"name,omitempty"`
	UID       types.UID         `json:"uid,omitempty"`
	Amount    resource.Quantity `json:"amount"`
}

// share is a pod that holds something, before it is cut to the largest.
type share struct {
	pod    *holding
	amount int64
}

// hold fills in the holders: the largest of shares, which are in the order of their pods.
func (c *Contention) hold(shares []share, quantity func(int64) resource.Quantity) {
	slices.SortStableFunc(shares, func(a, b share) int { return cmp.Compare(b.amount, a.amount) })
	shown := shares[:min(len(shares), maxHolders)]
	c.More = len(shares) - len(shown)
	for _, s := range shown {
		c.Holders = append(c.Holders, Holder{
			Namespace: s.pod.key.namespace,
			Name:      s.pod.key.name,
			UID:       s.pod.uid,
			Amount:    quantity(s.amount),
		})
	}
}

// holdersText lists the holders, with what each holds unless there is but one to hold.
func (c *Contention) holdersText() string {
	var b strings.Builder
	for i := range c.Holders {
		h := &c.Holders[i]
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(h.text())
		if !c.single {
			b.WriteString(" " + h.Amount.String())
		}
	}
	if c.More > 0 {
		b.WriteString(", and " + strconv.Itoa(c.More) + " more")
	}
	return b.String()
}

func (h *Holder) text() string {
	name := h.Name
	if name == "" {
		name = "(no name) " + string(h.UID)
	}
	return clip(h.Namespace + "/" + name)
}
