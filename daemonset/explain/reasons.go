package explain

import "github.com/daemonplan/daemonplan/daemonset"

func createReasons() []reasonMeaning {
	return []reasonMeaning{
		{daemonset.MissingPod, Meaning{
			"The node should run a pod of the set and has none.",
			"A pod is created there now.",
		}},
		{daemonset.NoLivePod, Meaning{
			"The set may surge, and what is on the node is finished or on its way out.",
			"A pod is created there now, without waiting for the old one to go.",
		}},
		{daemonset.SurgeStarted, Meaning{
			"The node's pod is outdated, and maxSurge has room for a second one beside it.",
			"A current pod is created now; the outdated one goes when that is available.",
		}},
	}
}

func deleteReasons() []reasonMeaning {
	return []reasonMeaning{
		{daemonset.FailedPod, Meaning{
			"The pod failed, which daemon pods must not, and its backoff has run.",
			"It is deleted now, and another one is created once it is gone.",
		}},
		{daemonset.SucceededPod, Meaning{
			"The pod ended without an error, which daemon pods must not.",
			"It is deleted now, and another one is created once it is gone.",
		}},
		{daemonset.ExcessPod, Meaning{
			"The node has more pods of the set than it should, and another one is kept.",
			"It is deleted now.",
		}},
		{daemonset.OutdatedNotReady, Meaning{
			"The pod is outdated and not ready, and a current pod is on the node already.",
			"It is deleted now.",
		}},
		{daemonset.NodeUnsuitable, Meaning{
			"No pod of the set may be on this node.",
			"It is deleted now, and none comes back while the obstacles last.",
		}},
		{daemonset.NodeMissing, Meaning{
			"The pod was made for a node that does not exist, and was never bound to it.",
			"It is deleted now, because nobody else would.",
		}},
	}
}

func updateReasons() []reasonMeaning {
	return []reasonMeaning{
		{daemonset.Outdated, Meaning{
			"The pod is outdated and available, and maxUnavailable has room to take it away.",
			"It is deleted now, and its successor is created once it is gone.",
		}},
		{daemonset.OutdatedUnavailable, Meaning{
			"The pod is outdated and not available, so that replacing it costs nothing and needs no budget.",
			"It is deleted now, and its successor is created once it is gone.",
		}},
		{daemonset.ReplacedInPlace, Meaning{
			"The pod is outdated, its successor cannot start beside it, and maxSurge has room.",
			"It is deleted now, and its successor is created once it is gone.",
		}},
		{daemonset.SurgeBlocked, Meaning{
			"The pod is outdated, and its successor cannot start beside it.",
			"The update passes the node over until there is room: another pod has to go, or this one has to be deleted.",
		}},
		{daemonset.SurgeComplete, Meaning{
			"The current pod beside the outdated one is available.",
			"The outdated one is deleted now; the update of this node is then complete.",
		}},
		{daemonset.LeftIneligibleNode, Meaning{
			"The pod is outdated, on a node that takes no new pod.",
			"It is deleted now, and no other takes its place there while the obstacles last.",
		}},
		{daemonset.BudgetExhausted, Meaning{
			"The pod is outdated, and maxUnavailable, or with surge maxSurge, is used up by other nodes.",
			"The node's turn comes when pods elsewhere become available, or when the budget is raised.",
		}},
		{daemonset.SurgeWaiting, Meaning{
			"The current pod beside the outdated one is not available yet.",
			"The outdated one goes when the current one is available.",
		}},
		{daemonset.ExcessPods, Meaning{
			"The node has more pods of the set than an update can tell apart.",
			"The extra ones have to go first.",
		}},
		{daemonset.AvailabilityShort, Meaning{
			"The pod is outdated, on a node that takes no new pod, and too few pods are available elsewhere to do without it.",
			"It goes when enough others are available.",
		}},
	}
}

func waitReasons() []reasonMeaning {
	return []reasonMeaning{
		{daemonset.FailedPodBackoff, Meaning{
			"The pod failed, as others did before it on this node, and its replacement is spaced out.",
			"It is replaced when its backoff has run.",
		}},
		{daemonset.TerminatingPod, Meaning{
			"The pod there is being deleted.",
			"What comes next on the node comes when it is gone; the kubelet of the node has to confirm that.",
		}},
		{daemonset.PodNotReady, Meaning{
			"The pod there is not ready.",
			"The node is done when the pod is ready; that is up to the pod and its node, not to the controller.",
		}},
		{daemonset.MinReadySeconds, Meaning{
			"The pod there is ready, but not yet for minReadySeconds.",
			"It counts as available once it has been, if it stays ready.",
		}},
		{daemonset.Suspended, Meaning{
			"The node should run a pod of the set and has no room for it now.",
			"One is created as soon as the obstacles are gone.",
		}},
		{daemonset.UpdateOnDelete, Meaning{
			"The pod is outdated, and the update strategy OnDelete leaves it alone.",
			"It is replaced when somebody deletes it.",
		}},
		{daemonset.NodeStepFirst, Meaning{
			"The pod is outdated, and updates wait for a pass in which no other pod has to be created or deleted.",
			"A later pass looks at it.",
		}},
		{daemonset.BurstExceeded, Meaning{
			"The change is wanted, but this pass already makes as many as one pass may.",
			"A later pass makes it.",
		}},
		{daemonset.WritesPending, Meaning{
			"Earlier writes of the controller have not been seen in its reads yet.",
			"Nothing is changed until they are, or until they are given up.",
		}},
		{daemonset.Misscheduled, Meaning{
			"A pod of the set is there that would not be placed there today.",
			"It stays until it ends, is deleted, or an update takes it; no new one comes while the obstacles last.",
		}},
	}
}

func standReasons() []reasonMeaning {
	return []reasonMeaning{
		{daemonset.SetDeleting, Meaning{
			"The DaemonSet is being deleted.",
			"Its pods are left to garbage collection.",
		}},
		{daemonset.SelectsEverything, Meaning{
			"The set's selector is empty and would take every pod of the namespace.",
			"Nothing is done; a set with a selector has to take its place, because a selector cannot be changed.",
		}},
		{daemonset.RevisionCollision, Meaning{
			"The name of the new revision is taken by one of another template.",
			"Another name is tried in the next pass; until then nothing is changed on nodes.",
		}},
	}
}

func writeReasons() []reasonMeaning {
	return []reasonMeaning{
		{daemonset.SelectorMatches, Meaning{
			"It has no owner, and the set's selector matches it.",
			"The set adopts it now.",
		}},
		{daemonset.SelectorMismatch, Meaning{
			"The set owns it, and the set's selector no longer matches it.",
			"The set releases it now.",
		}},
		{daemonset.NewTemplate, Meaning{
			"No revision in the history holds the set's template.",
			"One is written, and pods of the others are outdated from now on.",
		}},
		{daemonset.HashLabelMissing, Meaning{
			"The revision has no hash label.",
			"It gets one.",
		}},
		{daemonset.RolledBack, Meaning{
			"The set's template is that of an older revision.",
			"That revision becomes the newest again, and its pods are up to date.",
		}},
		{daemonset.DuplicateRevision, Meaning{
			"Another revision holds the same template.",
			"It is deleted, and its pods are relabelled, not restarted.",
		}},
		{daemonset.HistoryLimit, Meaning{
			"The history is longer than revisionHistoryLimit, and no pod is of this revision.",
			"It is deleted; the set can then no longer be rolled back to it.",
		}},
	}
}

func oddReasons() []reasonMeaning {
	return []reasonMeaning{
		{daemonset.PodWithoutNode, Meaning{
			"A pod of the set is neither bound nor pinned to a node, and counts nowhere.",
			"Nothing is done about it; somebody has to delete it.",
		}},
		{daemonset.PodOnMissingNode, Meaning{
			"A pod of the set is bound to a node that does not exist.",
			"It is left to the garbage collection of pods.",
		}},
		{daemonset.UnreadableRevision, Meaning{
			"A revision of the set holds no pod template that can be read.",
			"It matches no template, and cannot be rolled back to.",
		}},
		{daemonset.UnparsableGeneration, Meaning{
			"The set's template generation annotation is no number.",
			"It is ignored: pods are told apart by their revision hash alone.",
		}},
		{daemonset.UnparsableNodeAffinity, Meaning{
			"A term of the template's required node affinity does not parse.",
			"It matches no node until it is corrected.",
		}},
	}
}
