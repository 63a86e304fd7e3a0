package script

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemonplan/daemonplan/daemonset"
)

// addRevisions adds revisions of the template with the named images, numbered on from the
// highest: "revision v1 v2". Options may follow; those that name one revision go with one
// image.
//
//	number=N     another number
//	name=NAME    another name
//	hash=H       another hash label; "none" for no label
//	owner=O      as for pods
//	age=1h       since its creation
//	labels=K=V,… instead of the template's labels; the hash label is added
//	terminating  being deleted
//	data=D       how the template is written: shuffled (another order of keys), null-time
//	             ("creationTimestamp": null, as older releases wrote), unknown-null (a null
//	             field that nobody knows), unknown-field (a value in one), miscased (a
//	             known field, written in small letters), broken, empty
func (w *World) addRevisions(words []string) error {
	images := slices.Clone(words)
	if i := slices.IndexFunc(words, func(word string) bool { return !isImage(word) }); i >= 0 {
		images = words[:i]
	}
	if err := someWords(images); err != nil {
		return err
	}
	for _, image := range images {
		revision, err := w.revisionOf(image)
		if err != nil {
			return err
		}
		if err := w.changeRevision(revision, words[len(images):]); err != nil {
			return err
		}
		w.snapshot.Objects.Revisions = append(w.snapshot.Objects.Revisions, revision)
	}
	return nil
}

func isImage(word string) bool { return strings.HasPrefix(word, "v") && !strings.Contains(word, "=") }

func (w *World) changeRevision(revision *appsv1.ControllerRevision, words []string) error {
	age, owner, data := defaultAge, "", ""
	hash := revision.Labels[appsv1.ControllerRevisionHashLabelKey]
	revision.Revision = w.highestNumber() + 1
	err := options{
		"number": integer(&revision.Revision),
		"name":   text(&revision.Name),
		"hash":   text(&hash),
		"owner":  text(&owner),
		"age":    duration(&age),
		"data":   text(&data),
		"labels": func(value string) error { revision.Labels = pairs(value); return nil },
		"terminating": func(string) error {
			revision.DeletionTimestamp = w.ago(time.Minute)
			return nil
		},
	}.read(words)
	if err != nil {
		return err
	}
	revision.UID = uidOf(revision.Name)
	revision.CreationTimestamp = *w.ago(age)
	revision.Labels[appsv1.ControllerRevisionHashLabelKey] = hash
	if hash == "none" {
		delete(revision.Labels, appsv1.ControllerRevisionHashLabelKey)
	}
	if revision.OwnerReferences, err = ownersOf(owner); err != nil {
		return err
	}
	revision.Data.Raw, err = rewritten(revision.Data.Raw, data)
	return err
}

// rewritten is a revision's data in another writing.
func rewritten(raw []byte, how string) ([]byte, error) {
	replace := func(old, replacement string) ([]byte, error) {
		if !bytes.Contains(raw, []byte(old)) {
			return nil, fmt.Errorf("the revision's data has no %s", old)
		}
		return bytes.Replace(raw, []byte(old), []byte(replacement), 1), nil
	}
	switch how {
	case "":
		return raw, nil
	case "empty":
		return nil, nil
	case "broken":
		return raw[:len(raw)/2], nil
	case "null-time":
		return replace(`"metadata":{`, `"metadata":{"creationTimestamp":null,`)
	case "unknown-null":
		return replace(`"metadata":{`, `"metadata":{"clusterName":null,`)
	case "unknown-field":
		return replace(`"metadata":{`, `"metadata":{"clusterName":"west",`)
	case "miscased":
		return replace(`"containers":`, `"nodename":"a","containers":`)
	case "shuffled":
		return indented(raw)
	}
	return nil, unknownKind("data", how)
}

// indented puts the metadata of the template behind its spec, with other spaces.
func indented(raw []byte) ([]byte, error) {
	var patch struct {
		Spec struct {
			Template struct {
				Spec     json.RawMessage `json:"spec"`
				Metadata json.RawMessage `json:"metadata"`
				Patch    string          `json:"$patch"`
			} `json:"template"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(raw, &patch); err != nil {
		return nil, err
	}
	return json.MarshalIndent(patch, "", "  ")
}

// revisionOf asks the planner for the revision that a set with the template and the image
// would get, were it new.
func (w *World) revisionOf(image string) (*appsv1.ControllerRevision, error) {
	set := &appsv1.DaemonSet{ObjectMeta: *w.set.ObjectMeta.DeepCopy()}
	set.DeletionTimestamp = nil
	set.Spec.Template = *w.set.Spec.Template.DeepCopy()
	set.Spec.Template.Spec.Containers[0].Image = image
	set.Spec.Selector = &metav1.LabelSelector{MatchLabels: set.Spec.Template.Labels}
	plan, err := w.plan(daemonset.Snapshot{Objects: daemonset.Objects{DaemonSet: set}}, daemonset.Options{})
	if err != nil {
		return nil, err
	}
	if len(plan.Revisions) != 1 || plan.Revisions[0].Op != daemonset.CreateRevision {
		return nil, errors.New("the planner makes no revision for a new set")
	}
	return plan.Revisions[0].Revision.DeepCopy(), nil
}

func (w *World) highestNumber() int64 {
	highest := int64(0)
	for _, revision := range w.snapshot.Objects.Revisions {
		highest = max(highest, revision.Revision)
	}
	return highest
}

func (w *World) removeRevisions(images []string) error {
	for _, image := range images {
		gone, err := w.revisionOf(image)
		if err != nil {
			return err
		}
		objects := &w.snapshot.Objects
		objects.Revisions = slices.DeleteFunc(objects.Revisions, func(r *appsv1.ControllerRevision) bool { return r.Name == gone.Name })
	}
	return nil
}
