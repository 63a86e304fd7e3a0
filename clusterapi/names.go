package clusterapi

import (
	"crypto/sha256"
	"encoding/base32"
	"strings"

	"github.com/daemonplan/daemonplan/daemonset"
)

// The longest name that can still be a pod's host name, and how much of it tells nodes and
// revisions apart.
const (
	maxPodName  = 63
	hashLength  = 13 // 65 bits in base 32
	maxBaseName = maxPodName - 1 - hashLength
)

// PodName is the name that DeterministicNames gives a pod: the set's name, cut to fit, and
// a hash of the set's UID, the node and the revision hash.
func PodName(set daemonset.Ref, node, revision string) string {
	sum := sha256.Sum256([]byte(string(set.UID) + "\x00" + node + "\x00" + revision))
	hash := strings.ToLower(base32.HexEncoding.EncodeToString(sum[:]))[:hashLength]
	base := set.Name
	if len(base) > maxBaseName {
		base = strings.TrimRight(base[:maxBaseName], "-.")
	}
	return base + "-" + hash
}
