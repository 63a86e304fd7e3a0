package controllerruntime_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"testing"

	"github.com/daemonplan/daemonplan/clusterapi/fake"
	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// apiServer serves a simulated cluster over HTTP, as far as controllers ask: so what goes
// over the wire is tested too, and with real caches. It is no API server all the same; the
// contract on a real one is for examples/e2e.
type apiServer struct {
	*fake.Cluster

	client *fake.Client // for patches, which name their object by Ref
	http   *httptest.Server
	log    *eventLog
	calls  *callCount
	refuse func(call string) error // nil refuses nothing; set before anybody calls
}

func newAPIServer(tb testing.TB) *apiServer {
	tb.Helper()
	cluster := fake.New(1)
	s := &apiServer{Cluster: cluster, client: cluster.NewClient(), log: newEventLog(cluster), calls: newCallCount()}
	mux := http.NewServeMux()
	serveKind[*corev1.Node](s, mux, "/api/v1/nodes", "Node")
	serveKind[*corev1.Pod](s, mux, "/api/v1/pods", "Pod")
	serveKind[*appsv1.DaemonSet](s, mux, "/apis/apps/v1/daemonsets", "DaemonSet")
	serveKind[*appsv1.ControllerRevision](s, mux, "/apis/apps/v1/controllerrevisions", "ControllerRevision")
	mux.HandleFunc("POST /apis/events.k8s.io/v1/namespaces/{namespace}/events", s.recordEvent)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		writeError(w, apierrors.NewNotFound(schema.GroupResource{Resource: r.Method + " " + r.URL.Path}, ""))
	})
	s.http = httptest.NewServer(mux)
	tb.Cleanup(func() {
		s.log.stop()
		s.http.CloseClientConnections()
		s.http.Close()
	})
	return s
}

// config is how to reach the server. Its kinds are spelled out in mapper, so nobody asks the
// server for them.
func (s *apiServer) config() *rest.Config {
	return &rest.Config{
		Host: s.http.URL, QPS: -1,
		ContentConfig: rest.ContentConfig{ContentType: runtime.ContentTypeJSON},
	}
}

func mapper() meta.RESTMapper {
	m := meta.NewDefaultRESTMapper(nil)
	for _, suffix := range []string{"", "List"} { // discovery makes mappings for lists, too
		m.Add(corev1.SchemeGroupVersion.WithKind("Node"+suffix), meta.RESTScopeRoot)
		m.Add(corev1.SchemeGroupVersion.WithKind("Pod"+suffix), meta.RESTScopeNamespace)
		m.Add(appsv1.SchemeGroupVersion.WithKind("DaemonSet"+suffix), meta.RESTScopeNamespace)
		m.Add(appsv1.SchemeGroupVersion.WithKind("ControllerRevision"+suffix), meta.RESTScopeNamespace)
	}
	return m
}

// plainClient is a client without a cache.
func (s *apiServer) plainClient(tb testing.TB) client.Client {
	tb.Helper()
	c, err := client.New(s.config(), client.Options{Scheme: scheme.Scheme, Mapper: mapper()})
	require.NoError(tb, err)
	return c
}

// resource serves one kind.
type resource[T fake.Object] struct {
	*apiServer

	gvk  schema.GroupVersionKind
	name string
}

func serveKind[T fake.Object](s *apiServer, mux *http.ServeMux, all, kind string) {
	prefix, name := path.Dir(all), path.Base(all)
	version := strings.TrimPrefix(strings.TrimPrefix(prefix, "/apis/"), "/api/")
	r := &resource[T]{apiServer: s, gvk: schema.FromAPIVersionAndKind(version, kind), name: name}
	in := prefix + "/namespaces/{namespace}/" + name
	one := in + "/{name}"
	if kind == "Node" {
		in, one = all, all+"/{name}"
	} else {
		mux.HandleFunc("GET "+in, r.list)
	}
	mux.HandleFunc("GET "+all, r.list)
	mux.HandleFunc("POST "+in, r.create)
	mux.HandleFunc("GET "+one, r.get)
	mux.HandleFunc("PUT "+one, r.update)
	mux.HandleFunc("PUT "+one+"/status", r.updateStatus)
	mux.HandleFunc("PATCH "+one, r.patch)
	mux.HandleFunc("DELETE "+one, r.remove)
}

func keyIn(r *http.Request) types.NamespacedName {
	return types.NamespacedName{Namespace: r.PathValue("namespace"), Name: r.PathValue("name")}
}

func (s *resource[T]) list(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Get("watch") == "true" {
		s.watch(w, r)
		return
	}
	s.calls.add("list " + s.name)
	version := s.Version()
	items := fake.List[T](s.Cluster, r.PathValue("namespace"))
	for _, item := range items {
		item.GetObjectKind().SetGroupVersionKind(s.gvk)
	}
	writeJSON(w, http.StatusOK, map[string]any{
		"apiVersion": s.gvk.GroupVersion().String(), "kind": s.gvk.Kind + "List",
		"metadata": metav1.ListMeta{ResourceVersion: version}, "items": items,
	})
}

func (s *resource[T]) get(w http.ResponseWriter, r *http.Request) {
	s.calls.add("get " + s.name)
	obj, err := fake.Get[T](s.Cluster, keyIn(r))
	s.answer(w, obj, err)
}

func (s *resource[T]) create(w http.ResponseWriter, r *http.Request) {
	s.calls.add("create " + s.name)
	if s.refuse != nil {
		if err := s.refuse("create " + s.name); err != nil {
			writeError(w, err)
			return
		}
	}
	obj, err := s.body(r)
	if err == nil {
		obj.SetNamespace(r.PathValue("namespace"))
		obj, err = fake.Create(s.Cluster, obj)
	}
	s.answer(w, obj, err)
}

func (s *resource[T]) update(w http.ResponseWriter, r *http.Request) {
	s.calls.add("update " + s.name)
	obj, err := s.body(r)
	if err == nil {
		obj, err = fake.Update(s.Cluster, obj)
	}
	s.answer(w, obj, err)
}

func (s *resource[T]) updateStatus(w http.ResponseWriter, r *http.Request) {
	s.calls.add("update status of " + s.name)
	obj, err := s.body(r)
	if err == nil {
		obj, err = fake.UpdateStatus(s.Cluster, obj)
	}
	s.answer(w, obj, err)
}

// patch refuses another UID than the stored one as an API server of v1.37.2 does: as a change
// of what cannot be changed.
func (s *resource[T]) patch(w http.ResponseWriter, r *http.Request) {
	s.calls.add("patch " + s.name)
	if got := r.Header.Get("Content-Type"); got != string(types.MergePatchType) {
		writeError(w, apierrors.NewBadRequest("not a merge patch: "+got))
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		writeError(w, err)
		return
	}
	stored, err := fake.Get[T](s.Cluster, keyIn(r))
	if err != nil {
		writeError(w, err)
		return
	}
	var patch struct{ Metadata struct{ UID types.UID } }
	if err := json.Unmarshal(body, &patch); err != nil {
		writeError(w, apierrors.NewBadRequest(err.Error()))
		return
	}
	ref := daemonset.Ref{Namespace: stored.GetNamespace(), Name: stored.GetName(), UID: stored.GetUID()}
	if uid := patch.Metadata.UID; uid != "" && uid != ref.UID {
		immutable := field.Invalid(field.NewPath("metadata", "uid"), uid, "field is immutable")
		writeError(w, apierrors.NewInvalid(s.gvk.GroupKind(), ref.Name, field.ErrorList{immutable}))
		return
	}
	switch any(stored).(type) {
	case *corev1.Pod:
		pod, err := s.client.PatchPod(r.Context(), ref, body)
		s.answer(w, any(pod).(T), err)
	case *appsv1.ControllerRevision:
		revision, err := s.client.PatchRevision(r.Context(), ref, body)
		s.answer(w, any(revision).(T), err)
	default:
		writeError(w, apierrors.NewMethodNotSupported(schema.GroupResource{Resource: s.name}, "patch"))
	}
}

func (s *resource[T]) remove(w http.ResponseWriter, r *http.Request) {
	s.calls.add("delete " + s.name)
	var options metav1.DeleteOptions
	if err := json.NewDecoder(r.Body).Decode(&options); err != nil {
		writeError(w, apierrors.NewBadRequest(err.Error()))
		return
	}
	given := fake.DeleteOptions{Grace: options.GracePeriodSeconds}
	if options.Preconditions != nil {
		given.UID = options.Preconditions.UID
	}
	if err := fake.Delete[T](s.Cluster, keyIn(r), given); err != nil {
		writeError(w, err)
		return
	}
	writeJSON(w, http.StatusOK, metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusSuccess,
	})
}

func (s *resource[T]) body(r *http.Request) (T, error) {
	obj, err := scheme.Scheme.New(s.gvk)
	if err != nil {
		return nil, err
	}
	if err := json.NewDecoder(r.Body).Decode(obj); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return obj.(T), nil
}

func (s *resource[T]) answer(w http.ResponseWriter, obj T, err error) {
	if err != nil {
		writeError(w, err)
		return
	}
	obj.GetObjectKind().SetGroupVersionKind(s.gvk)
	writeJSON(w, http.StatusOK, obj)
}

func (s *apiServer) recordEvent(w http.ResponseWriter, r *http.Request) {
	var e eventsv1.Event
	if err := json.NewDecoder(r.Body).Decode(&e); err != nil {
		writeError(w, apierrors.NewBadRequest(err.Error()))
		return
	}
	about := daemonset.Ref{Namespace: e.Regarding.Namespace, Name: e.Regarding.Name, UID: e.Regarding.UID}
	s.client.RecordEvent(r.Context(), about, daemonset.Event{Type: e.Type, Reason: e.Reason, Note: e.Note})
	writeJSON(w, http.StatusCreated, e)
}

func writeJSON(w http.ResponseWriter, code int, obj any) {
	w.Header().Set("Content-Type", runtime.ContentTypeJSON)
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(obj) // a client that has gone does not matter
}

func writeError(w http.ResponseWriter, err error) {
	status := apierrors.NewInternalError(err).Status()
	if known, ok := err.(apierrors.APIStatus); ok {
		status = known.Status()
	}
	status.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	writeJSON(w, int(status.Code), status)
}
