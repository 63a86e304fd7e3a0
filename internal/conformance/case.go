// Package conformance compares plans with what the DaemonSet controller of Kubernetes
// v1.37.2 did in one pass on the same snapshot. It is test support.
package conformance

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"os"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/daemonplan/daemonplan/backoff"
	"github.com/daemonplan/daemonplan/daemonset"
)

// Case is one snapshot with upstream's answer.
type Case struct {
	ID       string            `json:"id"`
	Now      time.Time         `json:"now"`
	Burst    int               `json:"burst"`
	Snapshot daemonset.Objects `json:"snapshot"`
	Backoff  backoff.Entries   `json:"backoff,omitempty"`
	Want     Answer            `json:"want"`
}

// Answer is one pass of upstream, seen in several runs. Where it picks among equal
// candidates, Always holds what it took in every run and Ever what it took in any.
type Answer struct {
	Error           string                  `json:"error"`
	CreateOnNodes   Choice                  `json:"createOnNodes"`
	DeletePods      Choice                  `json:"deletePods"`
	Status          *appsv1.DaemonSetStatus `json:"status"`
	Events          []string                `json:"events"`
	RevisionCreated *Revision               `json:"revisionCreated"`
	RevisionUpdated []Revision              `json:"revisionUpdated"`
	RevisionDeleted []string                `json:"revisionDeleted"`
	PodPatched      []string                `json:"podPatched"`
	RevisionPatched []string                `json:"revisionPatched"`
	RequeueAfter    []string                `json:"requeueAfter"`
	CreatedNode     string                  `json:"createdNode"`
	CreatedTemplate *corev1.PodTemplateSpec `json:"createdTemplate"`
	Runs            int                     `json:"runs"`
}

// Choice is a set of names of which upstream took Count.
type Choice struct {
	Count  int      `json:"count"`
	Always []string `json:"always"`
	Ever   []string `json:"ever"`
}

// Revision is what is compared of a ControllerRevision.
type Revision struct {
	Name     string `json:"name"`
	Revision int64  `json:"revision"`
	Hash     string `json:"hash"`
}

// Read yields the cases of a file, one JSON object after the other, compressed or not.
func Read(path string) iter.Seq2[Case, error] {
	return func(yield func(Case, error) bool) {
		file, err := os.Open(path)
		if err != nil {
			yield(Case{}, err)
			return
		}
		defer file.Close()
		decoder, err := decoderFor(file)
		for err == nil {
			c := Case{}
			if err = decoder.Decode(&c); err == nil && !yield(c, nil) {
				return
			}
		}
		if !errors.Is(err, io.EOF) {
			yield(Case{}, err)
		}
	}
}

func decoderFor(file io.Reader) (*json.Decoder, error) {
	buffered := bufio.NewReader(file)
	if magic, _ := buffered.Peek(2); string(magic) != "\x1f\x8b" {
		return json.NewDecoder(buffered), nil
	}
	unpacked, err := gzip.NewReader(buffered)
	if err != nil {
		return nil, err
	}
	return json.NewDecoder(unpacked), nil
}
