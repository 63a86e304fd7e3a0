package clusterapi

import (
	"context"
	"encoding/json"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemonplan/daemonplan/daemonset"
)

// applyClaims adopts and releases. A claim that fails halts the plan, which counts on it.
func (p *pass) applyClaims(ctx context.Context) {
	checked := false
	for _, claim := range p.plan.Claims {
		w := Write{Verb: claimVerb(claim), Ref: claim.Ref}
		if why := p.stopped(ctx); why != nil {
			p.skip(w, why)
			continue
		}
		if claim.Adopt && !checked {
			checked = true
			if err := p.mayAdopt(ctx); err != nil {
				p.halt(err)
				p.skip(w, err)
				continue
			}
		}
		err := p.patchOwner(ctx, claim)
		if !claim.Adopt && apierrors.IsNotFound(err) {
			w.Outcome = AlreadyDone // gone, and so not ours any more
			p.result.Writes = append(p.result.Writes, w)
			continue
		}
		if !p.record(w, err) {
			p.halt(errEarlierWrite)
		}
	}
}

func claimVerb(c daemonset.Claim) Verb {
	switch {
	case c.Kind == daemonset.PodKind && c.Adopt:
		return AdoptPod
	case c.Kind == daemonset.PodKind:
		return ReleasePod
	case c.Adopt:
		return AdoptRevision
	}
	return ReleaseRevision
}

// mayAdopt asks the API server itself whether the set is still there to adopt anything. A
// cache could name a set that was deleted with its pods orphaned on purpose.
func (p *pass) mayAdopt(ctx context.Context) error {
	live, err := p.live(ctx)
	switch {
	case apierrors.IsNotFound(err):
		return errSetChanged
	case err != nil:
		return err
	case live.UID != p.plan.For.UID || live.DeletionTimestamp != nil || !p.cfg.Select(live):
		return errSetChanged
	}
	return nil
}

// patchOwner writes the owner references that the object is to have. The list replaces
// the stored one, so the patch holds only if the object is as it was seen.
func (p *pass) patchOwner(ctx context.Context, claim daemonset.Claim) error {
	if claim.Kind == daemonset.PodKind {
		pods := p.seen.pods([]daemonset.Ref{claim.Ref})
		i := slices.IndexFunc(pods, func(o *corev1.Pod) bool { return o.UID == claim.Ref.UID && o.Name == claim.Ref.Name })
		patch := p.ownerPatch(&pods[i].ObjectMeta, claim)
		return p.patchPod(ctx, claim.Ref, patch)
	}
	revisions := p.seen.revisions()
	i := slices.IndexFunc(revisions, func(o *appsv1.ControllerRevision) bool {
		return o.UID == claim.Ref.UID && o.Name == claim.Ref.Name
	})
	patch := p.ownerPatch(&revisions[i].ObjectMeta, claim)
	return p.patchRevision(ctx, claim.Ref, patch)
}

func (p *pass) ownerPatch(meta *metav1.ObjectMeta, claim daemonset.Claim) []byte {
	owners := slices.DeleteFunc(slices.Clone(meta.OwnerReferences), func(o metav1.OwnerReference) bool {
		return o.UID == p.plan.For.UID
	})
	if claim.Adopt {
		owners = append(owners, p.plan.For.ControllerReference())
	}
	return mergePatch(map[string]any{
		"uid":             meta.UID,
		"resourceVersion": meta.ResourceVersion,
		"ownerReferences": owners,
	})
}

// applyRelabels moves pods to the surviving one of two equal revisions.
func (p *pass) applyRelabels(ctx context.Context) {
	for _, relabel := range p.plan.Relabels {
		w := Write{Verb: RelabelPod, Ref: relabel.Pod}
		if why := p.stopped(ctx); why != nil {
			p.skip(w, why)
			continue
		}
		patch := mergePatch(map[string]any{
			"uid":    relabel.Pod.UID,
			"labels": map[string]string{appsv1.ControllerRevisionHashLabelKey: relabel.Hash},
		})
		if err := p.patchPod(ctx, relabel.Pod, patch); apierrors.IsNotFound(err) {
			w.Outcome = AlreadyDone // gone: it carries no revision any more
			p.result.Writes = append(p.result.Writes, w)
		} else if !p.record(w, err) {
			p.halt(errEarlierWrite)
		}
	}
}

func (p *pass) patchPod(ctx context.Context, ref daemonset.Ref, patch []byte) error {
	pod, err := object(ctx, p.Driver, ref, func(ctx context.Context) (*corev1.Pod, error) {
		return p.cfg.API.PatchPod(ctx, ref, patch)
	})
	if err == nil {
		p.wrote(Versions{Pods: pod.ResourceVersion})
	}
	return err
}

func (p *pass) patchRevision(ctx context.Context, ref daemonset.Ref, patch []byte) error {
	revision, err := object(ctx, p.Driver, ref, func(ctx context.Context) (*appsv1.ControllerRevision, error) {
		return p.cfg.API.PatchRevision(ctx, ref, patch)
	})
	if err == nil {
		p.storedRevision(revision)
	}
	return err
}

// mergePatch encodes a patch of an object's metadata. What it is given always encodes.
func mergePatch(metadata map[string]any) []byte {
	patch, err := json.Marshal(map[string]any{"metadata": metadata})
	if err != nil {
		panic("clusterapi: a patch of strings and owner references does not encode: " + err.Error())
	}
	return patch
}
