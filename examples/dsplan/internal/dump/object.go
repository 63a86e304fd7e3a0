package dump

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "k8s.io/apimachinery/pkg/util/json"
)

// The kinds that are kept.
const (
	daemonSetKind = "DaemonSet"
	nodeKind      = "Node"
	podKind       = "Pod"
	revisionKind  = "ControllerRevision"
)

const listSuffix = "List"

// oldGroup is where DaemonSets were before Kubernetes v1.16. They had other defaults then, so
// that one of them is no good, but it is no other kind either.
const oldGroup = "extensions"

// maxNesting is how deep lists may stand in lists. Each level is scanned again.
const maxNesting = 8

var (
	errNoObject     = errors.New("is not an object")
	errGzip         = errors.New("is compressed; unpack it first: gzip -dc FILE | dsplan plan -f -")
	errNoKind       = errors.New("has no kind; it may be cut off")
	errNoItems      = errors.New("is a list without items; it may be cut off")
	errNoAPIVersion = errors.New("has no apiVersion")
	errNoName       = errors.New("has no metadata.name")
	errOldGroup     = errors.New("is of extensions/v1beta1, which Kubernetes stopped serving in v1.16; want apps/v1")
)

// header is what an object says about itself.
type header struct {
	apiVersion string
	kind       string
	items      []byte // of a list; nil if it has none
	metadata   []byte
}

// readHeader reads the members that tell what a valid JSON value is. What the value leaves
// open it inherits: the items of a PodList need not say that they are Pods.
func readHeader(object []byte, inherited header) (header, error) {
	h := header{}
	if !isObject(object) {
		return h, errNoObject
	}
	for name, value := range members(object) {
		switch name {
		case "apiVersion":
			h.apiVersion = stringOf(value)
		case "kind":
			h.kind = stringOf(value)
		case "items":
			h.items = value
		case "metadata":
			h.metadata = value
		}
	}
	if h.kind == "" {
		h.kind = inherited.kind
		h.apiVersion = cmp.Or(h.apiVersion, inherited.apiVersion)
	}
	switch {
	case h.kind == "":
		return h, errNoKind
	case h.apiVersion == "":
		return h, errNoAPIVersion
	}
	return h, h.checkList()
}

// checkList reports a list that was cut off in the middle of its kind, which kubectl prints
// near the end, and one that was cut off before its items. Nothing else in the core group
// has items.
func (h header) checkList() error {
	_, isList := h.itemHeader()
	switch {
	case isList && h.items == nil:
		return errNoItems
	case !isList && h.items != nil && h.group() == corev1.GroupName && !h.isOtherList():
		return fmt.Errorf("has items, but %q is no list of them; it may be cut off", h.kind)
	}
	return nil
}

func stringOf(value []byte) string {
	if len(value) == 0 || value[0] != '"' {
		return ""
	}
	return unquote(value)
}

// itemHeader is what the items of a list are unless they say otherwise; ok is false for
// what is not a list of anything that is kept. A List holds any kind.
func (h header) itemHeader() (inherited header, ok bool) {
	kind, ok := strings.CutSuffix(h.kind, listSuffix)
	if !ok {
		return header{}, false
	}
	if kind == "" {
		return header{}, h.group() == ""
	}
	inherited = header{apiVersion: h.apiVersion, kind: kind}
	return inherited, inherited.isKept()
}

// isKept reports whether the kind, of its own group, is one that plans look at.
func (h header) isKept() bool {
	switch h.kind {
	case daemonSetKind:
		return h.group() == appsv1.GroupName || h.group() == oldGroup
	case revisionKind:
		return h.group() == appsv1.GroupName
	case nodeKind, podKind:
		return h.group() == corev1.GroupName
	}
	return false
}

func (h header) group() string {
	group, _, ok := strings.Cut(h.apiVersion, "/")
	if !ok {
		return ""
	}
	return group
}

// isOtherList reports whether the kind is a list of something that plans do not look at.
func (h header) isOtherList() bool {
	switch kind, ok := strings.CutSuffix(h.kind, listSuffix); kind {
	case daemonSetKind, nodeKind, podKind, revisionKind:
		return false // of another group, and so perhaps misspelt
	default:
		return ok
	}
}

// addDocument adds an object or what is in a list. The error concerns the whole document.
func (w *World) addDocument(object []byte, at Place) error {
	if isNull(object) {
		return nil
	}
	h, err := readHeader(object, header{})
	if err != nil {
		return err
	}
	return w.add(object, h, at)
}

// add adds an object or what is in a list.
func (w *World) add(object []byte, h header, at Place) error {
	if inherited, ok := h.itemHeader(); ok {
		return w.addItems(h.items, inherited, at)
	}
	if h.isKept() {
		w.addObject(object, h, at)
	}
	return nil
}

// addItems adds the items of a list. An item that does not tell what it is might be any
// that is needed, which is a fault of its own.
func (w *World) addItems(items []byte, inherited header, at Place) error {
	prefix := "items"
	if at.Item != "" {
		prefix = at.Item + ".items"
	}
	if items != nil && !isArray(items) && !isNull(items) {
		return fmt.Errorf("%s is not a list", prefix)
	}
	if strings.Count(at.Item, "[") >= maxNesting {
		return fmt.Errorf("%s: lists are nested more than %d deep", at.Item, maxNesting)
	}
	for i, item := range elements(items) {
		if isNull(item) {
			continue
		}
		place := at
		place.Item = fmt.Sprintf("%s[%d]", prefix, i)
		h, err := readHeader(item, inherited)
		if err != nil {
			w.faults = append(w.faults, &ObjectError{Place: place, Err: err})
			continue
		}
		if err := w.add(item, h, place); err != nil {
			return err
		}
	}
	return nil
}

// identity names an object in a cluster.
type identity struct{ kind, namespace, name string }

// object is what all the kinds are.
type object interface {
	metav1.Object
	runtime.Object
}

// seen is an object that was read, and where.
type seen struct {
	object object
	place  Place
}

// addObject adds an object of a kind that is kept, or the fault that keeps it out.
func (w *World) addObject(text []byte, h header, at Place) {
	id, err := readIdentity(h)
	if err == nil && h.group() == oldGroup {
		err = errOldGroup
	}
	if err == nil {
		err = w.decode(text, id, at)
	}
	if err != nil {
		fault := &ObjectError{Place: at, Kind: id.kind, Namespace: id.namespace, Name: id.name, Err: err}
		w.faults = append(w.faults, fault)
	}
}

// readIdentity finds out what an object is called even if the rest of it is broken. A
// namespace that is left out is the default one, which is where kubectl would put the
// object; one that is not a string is unknown, which is empty.
func readIdentity(h header) (identity, error) {
	id := identity{kind: h.kind}
	if h.kind != nodeKind {
		id.namespace = metav1.NamespaceDefault
	}
	for name, value := range members(h.metadata) {
		switch name {
		case "name":
			id.name = stringOf(value)
		case "namespace":
			if namespace := stringOf(value); h.kind != nodeKind && string(value) != `""` && !isNull(value) {
				id.namespace = namespace
			}
		}
	}
	if id.name == "" {
		return id, errNoName
	}
	return id, nil
}

// decode reads an object into its type and keeps it, unless it is there already. Files that
// overlap agree on what they share; if they do not, they were not taken at the same time,
// and there is no telling which of them is right.
func (w *World) decode(text []byte, id identity, at Place) error {
	obj := newObject(id.kind)
	if err := kjson.Unmarshal(text, obj); err != nil {
		return err
	}
	obj.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{}) // items of a typed list have none
	obj.SetNamespace(id.namespace)
	obj.SetManagedFields(nil) // large, and of no use to a plan
	if revision, ok := obj.(*appsv1.ControllerRevision); ok {
		canonicalize(&revision.Data)
	}
	if first, ok := w.seen[id]; ok {
		if equality.Semantic.DeepEqual(first.object, obj) {
			return nil
		}
		return fmt.Errorf("differs from the one in %s", first.place)
	}
	w.keep(obj)
	w.seen[id] = seen{object: obj, place: at}
	return nil
}

// canonicalize brings the data of a revision to the bytes in which Kubernetes v1.37.2 wrote
// it, whatever the form of the dump. What is not JSON stays as it is.
func canonicalize(data *runtime.RawExtension) {
	decoder := json.NewDecoder(bytes.NewReader(data.Raw))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return
	}
	if raw, err := json.Marshal(value); err == nil {
		data.Raw = raw
	}
}

func newObject(kind string) object {
	switch kind {
	case daemonSetKind:
		return &appsv1.DaemonSet{}
	case nodeKind:
		return &corev1.Node{}
	case podKind:
		return &corev1.Pod{}
	}
	return &appsv1.ControllerRevision{}
}

func (w *World) keep(obj object) {
	if w.seen == nil {
		w.seen = map[identity]seen{}
		w.pods = map[string][]*corev1.Pod{}
		w.revisions = map[string][]*appsv1.ControllerRevision{}
	}
	switch obj := obj.(type) {
	case *appsv1.DaemonSet:
		w.sets = append(w.sets, obj)
	case *corev1.Node:
		w.nodes = append(w.nodes, obj)
	case *corev1.Pod:
		w.pods[obj.Namespace] = append(w.pods[obj.Namespace], obj)
	case *appsv1.ControllerRevision:
		w.revisions[obj.Namespace] = append(w.revisions[obj.Namespace], obj)
	}
}
