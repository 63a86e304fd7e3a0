package clientgo_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/daemonplan/daemonplan/clusterapi/fake"
	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// server is a simulated cluster behind the part of the Kubernetes API that this module uses,
// so that tests go over HTTP with the clientset and informers that programs have. It keeps
// to UIDs and resource versions, which client-go's fake clientset does not. A real API server
// is for examples/e2e.
type server struct {
	*fake.Cluster

	http    *httptest.Server
	patcher *fake.Client
	log     *changeLog

	mu     sync.Mutex
	calls  map[string]int                                                // by method and resource
	refuse func(method, resource string, key types.NamespacedName) error // nil: nothing
	events []fake.RecordedEvent
}

func newServer(t *testing.T) *server {
	t.Helper()
	cluster := fake.New(1)
	s := &server{Cluster: cluster, patcher: cluster.NewClient(), log: newChangeLog(cluster), calls: map[string]int{}}
	mux := http.NewServeMux()
	serve[*corev1.Node](s, mux, kind{"v1", "Node", "nodes", "/api/v1/nodes", ""})
	serve[*corev1.Pod](s, mux, kind{"v1", "Pod", "pods", "/api/v1/namespaces/{namespace}/pods", "/api/v1/pods"})
	serve[*appsv1.DaemonSet](s, mux, kind{
		"apps/v1", "DaemonSet", "daemonsets", "/apis/apps/v1/namespaces/{namespace}/daemonsets", "/apis/apps/v1/daemonsets",
	})
	serve[*appsv1.ControllerRevision](s, mux, kind{
		"apps/v1", "ControllerRevision", "controllerrevisions",
		"/apis/apps/v1/namespaces/{namespace}/controllerrevisions", "/apis/apps/v1/controllerrevisions",
	})
	mux.HandleFunc("PATCH /apis/apps/v1/namespaces/{namespace}/daemonsets/{name}/status", s.patchStatus)
	mux.HandleFunc("POST /api/v1/namespaces/{namespace}/events", s.recordEvent)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		respond(w, nil, apierrors.NewNotFound(schema.GroupResource{Resource: r.Method + " " + r.URL.Path}, ""))
	})
	s.http = httptest.NewServer(mux)
	t.Cleanup(func() {
		s.log.close()
		s.http.CloseClientConnections()
		s.http.Close()
	})
	return s
}

func (s *server) clientset(t *testing.T) kubernetes.Interface {
	t.Helper()
	config := &rest.Config{Host: s.http.URL, QPS: -1}
	config.ContentType = runtime.ContentTypeJSON
	client, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	return client
}

// admit counts a request and says why it is refused, if it is.
func (s *server) admit(r *http.Request, resource string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	method := r.Method
	if r.URL.Query().Get("watch") == "true" {
		method = "WATCH"
	}
	s.calls[method+" "+resource]++
	if s.refuse == nil {
		return nil
	}
	return s.refuse(method, resource, keyOf(r))
}

func (s *server) refusing(refuse func(method, resource string, key types.NamespacedName) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuse = refuse
}

func (s *server) count(call string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[call]
}

type kind struct {
	version, name, resource, path, everywhere string
}

func keyOf(r *http.Request) types.NamespacedName {
	return types.NamespacedName{Namespace: r.PathValue("namespace"), Name: r.PathValue("name")}
}

// serve serves one kind.
func serve[T fake.Object](s *server, mux *http.ServeMux, k kind) {
	handle := func(pattern string, f func(r *http.Request) (any, error)) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			err := s.admit(r, k.resource)
			var answer any
			if err == nil {
				answer, err = f(r)
			}
			respond(w, answer, err)
		})
	}
	read := func(w http.ResponseWriter, r *http.Request) {
		if err := s.admit(r, k.resource); err != nil {
			respond(w, nil, err)
			return
		}
		if r.URL.Query().Get("watch") == "true" {
			s.log.stream(w, r, k)
			return
		}
		version := s.Version()
		respond(w, map[string]any{
			"apiVersion": k.version, "kind": k.name + "List",
			"metadata": metav1.ListMeta{ResourceVersion: version},
			"items":    fake.List[T](s.Cluster, r.PathValue("namespace")),
		}, nil)
	}
	mux.HandleFunc("GET "+k.path, read)
	if k.everywhere != "" {
		mux.HandleFunc("GET "+k.everywhere, read)
	}
	handle("GET "+k.path+"/{name}", func(r *http.Request) (any, error) { return typedAs(k)(fake.Get[T](s.Cluster, keyOf(r))) })
	handle("POST "+k.path, func(r *http.Request) (any, error) {
		obj, err := body[T](r)
		if err != nil {
			return nil, err
		}
		obj.SetNamespace(r.PathValue("namespace"))
		return typedAs(k)(fake.Create(s.Cluster, obj))
	})
	handle("PUT "+k.path+"/{name}", func(r *http.Request) (any, error) {
		obj, err := body[T](r)
		if err != nil {
			return nil, err
		}
		return typedAs(k)(fake.Update(s.Cluster, obj))
	})
	handle("PATCH "+k.path+"/{name}", func(r *http.Request) (any, error) { return s.mergePatch(r, k) })
	handle("DELETE "+k.path+"/{name}", func(r *http.Request) (any, error) {
		options, err := body[*metav1.DeleteOptions](r)
		if err != nil {
			return nil, err
		}
		given := fake.DeleteOptions{Grace: options.GracePeriodSeconds}
		if options.Preconditions != nil {
			given.UID = options.Preconditions.UID
		}
		return metav1.Status{Status: metav1.StatusSuccess}, fake.Delete[T](s.Cluster, keyOf(r), given)
	})
}

// typedAs gives an answer the kind without which clients cannot decode it.
func typedAs(k kind) func(obj runtime.Object, err error) (any, error) {
	return func(obj runtime.Object, err error) (any, error) {
		if err != nil {
			return nil, err
		}
		obj = obj.DeepCopyObject()
		obj.GetObjectKind().SetGroupVersionKind(schema.FromAPIVersionAndKind(k.version, k.name))
		return obj, nil
	}
}

func body[T any](r *http.Request) (T, error) {
	var obj T
	if err := json.NewDecoder(r.Body).Decode(&obj); err != nil {
		return obj, apierrors.NewBadRequest(err.Error())
	}
	return obj, nil
}

// mergePatch takes the UID in a patch for a precondition, as an API server does.
func (s *server) mergePatch(r *http.Request, k kind) (any, error) {
	if got := r.Header.Get("Content-Type"); got != string(types.MergePatchType) {
		return nil, apierrors.NewBadRequest("no merge patch: " + got)
	}
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	var patch struct{ Metadata struct{ UID types.UID } }
	if err := json.Unmarshal(raw, &patch); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	ref := daemonset.Ref{Namespace: r.PathValue("namespace"), Name: r.PathValue("name"), UID: patch.Metadata.UID}
	if k.name == "Pod" {
		return typedAs(k)(s.patcher.PatchPod(r.Context(), ref, raw))
	}
	return typedAs(k)(s.patcher.PatchRevision(r.Context(), ref, raw))
}

// patchStatus knows JSON patches that replace the UID, the resource version and the status.
func (s *server) patchStatus(w http.ResponseWriter, r *http.Request) {
	k := kind{version: "apps/v1", name: "DaemonSet"}
	err := s.admit(r, "daemonsets/status")
	var answer any
	if err == nil {
		answer, err = func() (any, error) {
			if got := r.Header.Get("Content-Type"); got != string(types.JSONPatchType) {
				return nil, apierrors.NewBadRequest("no JSON patch: " + got)
			}
			operations, err := body[[]struct {
				Op, Path string
				Value    json.RawMessage
			}](r)
			if err != nil {
				return nil, err
			}
			stored, err := fake.Get[*appsv1.DaemonSet](s.Cluster, keyOf(r))
			if err != nil {
				return nil, err
			}
			uid := stored.UID
			for _, o := range operations {
				into := map[string]any{
					"/metadata/uid": &uid, "/metadata/resourceVersion": &stored.ResourceVersion, "/status": &stored.Status,
				}[o.Path]
				if o.Path == "/status" {
					stored.Status = appsv1.DaemonSetStatus{}
				}
				if into == nil || o.Op != "add" || json.Unmarshal(o.Value, into) != nil {
					return nil, apierrors.NewBadRequest("unknown operation " + o.Op + " " + o.Path)
				}
			}
			if uid != stored.UID {
				return nil, apierrors.NewConflict(appsv1.Resource("daemonsets"), stored.Name, errors.New("another UID"))
			}
			return typedAs(k)(fake.UpdateStatus(s.Cluster, stored))
		}()
	}
	respond(w, answer, err)
}

func (s *server) recordEvent(w http.ResponseWriter, r *http.Request) {
	e, err := body[*corev1.Event](r)
	if err == nil {
		s.mu.Lock()
		s.events = append(s.events, fake.RecordedEvent{
			About: daemonset.Ref{Namespace: e.InvolvedObject.Namespace, Name: e.InvolvedObject.Name, UID: e.InvolvedObject.UID},
			Event: daemonset.Event{Type: e.Type, Reason: e.Reason, Note: e.Message},
		})
		s.mu.Unlock()
		e.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Event"}
	}
	respond(w, e, err)
}

func respond(w http.ResponseWriter, answer any, err error) {
	code := http.StatusOK
	if err != nil {
		status := apierrors.NewInternalError(err).Status()
		if known := apierrors.APIStatus(nil); errors.As(err, &known) {
			status = known.Status()
		}
		code, answer = int(status.Code), status
	}
	if status, ok := answer.(metav1.Status); ok {
		status.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
		answer = status
	}
	w.Header().Set("Content-Type", runtime.ContentTypeJSON)
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(answer) // who has gone needs no answer
}
