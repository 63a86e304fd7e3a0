package explain

import "github.com/daemonplan/daemonplan/placement"

func matcherCodes() []codeMeaning {
	return []codeMeaning{
		{placement.NodeNameMismatch, Meaning{
			"The template names another node.",
			"Without spec.nodeName, or with this node's name there, it would not be in the way.",
		}},
		{placement.NodeSelectorMismatch, Meaning{
			"The node has not the label that the template's node selector asks for.",
			"The label on the node, or a node selector without it, would lift this.",
		}},
		{placement.NodeAffinityMismatch, Meaning{
			"The template's required node affinity does not match the node.",
			"One of its terms has to hold in full.",
		}},
		{placement.InvalidNodeAffinity, Meaning{
			"A term of the template's required node affinity does not parse, and so matches no node.",
			"It has to be corrected in the template.",
		}},
		{placement.UntoleratedNoScheduleTaint, Meaning{
			"The node has a NoSchedule taint that the template does not tolerate: no new pod is placed, one that is there stays.",
			"A toleration in the template would admit pods, and so would taking the taint off the node.",
		}},
		{placement.UntoleratedNoExecuteTaint, Meaning{
			"The node has a NoExecute taint that the template does not tolerate: no pod of the set may be there.",
			"A toleration in the template would admit pods, and so would taking the taint off the node.",
		}},
	}
}

func fitterCodes() []codeMeaning {
	return []codeMeaning{
		{placement.InsufficientResources, Meaning{
			"The node has less left of a resource than the pod asks for.",
			"Pods that hold it have to go, the template has to ask for less, or the node has to grow.",
		}},
		{placement.InvalidRequest, Meaning{
			"The template asks for a resource in a way that no API server admits.",
			"It has to be corrected in the template.",
		}},
		{placement.HostPortTaken, Meaning{
			"Another pod on the node holds a host port that the template asks for.",
			"That pod has to go, or one of the two has to take another port.",
		}},
		{placement.NodeLabelPresence, Meaning{
			"The controller is told to use only nodes with, or without, a label, and this is none of them.",
			"The label on the node has to change, or what the controller is told.",
		}},
		{placement.VolumeConflict, Meaning{
			"Another pod on the node uses the same disk, and the two may not share it.",
			"That pod has to go, or one of the two has to use another disk.",
		}},
		{placement.VolumeZoneMismatch, Meaning{
			"A persistent volume of the template cannot be reached from the node.",
			"The volume has to be in the node's zone, or the pod has to do without it.",
		}},
		{placement.VolumeCountExceeded, Meaning{
			"With the template's volumes more would be attached to the node than it allows.",
			"Pods with volumes have to leave the node, or the template needs fewer.",
		}},
		{placement.NodeMemoryPressure, Meaning{
			"The node is short of memory, and a pod without requests would be the first to be evicted.",
			"The node has to recover, or the template has to request memory or cpu.",
		}},
		{placement.NodeDiskPressure, Meaning{
			"The node is short of disk space.",
			"The node has to recover: images and logs to be cleaned up, or the disk to grow.",
		}},
		{placement.NodePIDPressure, Meaning{
			"The node is short of process numbers.",
			"Processes on the node have to end.",
		}},
		{placement.NodeNotReady, Meaning{
			"The node is not ready.",
			"Its kubelet has to report that it is.",
		}},
		{placement.NodeNetworkUnavailable, Meaning{
			"The node's network is not set up, and the pod needs it.",
			"The network provider has to set it up; a pod in the host's network would not need it.",
		}},
	}
}
