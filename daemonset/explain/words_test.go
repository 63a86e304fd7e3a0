package explain_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/daemonset/explain"
	"github.com/daemonplan/daemonplan/internal/script"
	"github.com/daemonplan/daemonplan/placement"
)

// gallery collects, for each word of the vocabulary, one thing that is said with it: from the
// source that the golden has it from, if that still says it, else from the first that does. So
// a new script does not change what is shown.
type gallery struct {
	golden string
	shown  []exhibit
}

type exhibit struct{ word, source, text string }

func (e exhibit) title() string { return e.word + ", as in " + e.source + "\n" }

func (g *gallery) add(word, source, text string) {
	if word == "" {
		return
	}
	e := exhibit{word, source, text}
	i := slices.IndexFunc(g.shown, func(e exhibit) bool { return e.word == word })
	if i < 0 {
		g.shown = append(g.shown, e)
		return
	}
	if g.shown[i].source != source && !g.wanted(g.shown[i]) && g.wanted(e) {
		g.shown[i] = e
	}
}

func (g *gallery) wanted(e exhibit) bool { return strings.Contains(g.golden, "\n"+e.title()) }

func (g *gallery) text() string {
	slices.SortFunc(g.shown, func(a, b exhibit) int { return strings.Compare(a.word, b.word) })
	var b strings.Builder
	b.WriteString("# For every word of the vocabulary a story that is told with it. See TestGallery.\n")
	for _, e := range g.shown {
		b.WriteString("\n" + e.title() + e.text)
	}
	return b.String()
}

// see adds what is new in one plan.
func (g *gallery) see(source string, s daemonset.Snapshot, p daemonset.Plan) {
	for _, story := range explain.Nodes(s, p) {
		g.add(string(story.Reason), source, explain.Describe(story))
		for _, a := range story.Actions {
			g.add(string(a.Reason), source, explain.Describe(story))
		}
		for _, o := range story.Obstacles {
			g.add(string(o.Code), source, explain.Describe(story))
		}
	}
	for _, r := range explain.Remarks(p) {
		g.add(string(r.Reason), source, explain.DescribeRemarks([]explain.Remark{r}))
	}
}

// TestGallery shows for every word of the vocabulary a real story that is told with it: of the
// scripts of package daemonset and of a crowded node, by word. UPDATE_GOLDEN=1 writes
// it anew.
func TestGallery(t *testing.T) {
	const golden = "testdata/gallery.txt"
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	g := &gallery{golden: string(want)}
	paths, err := filepath.Glob("../testdata/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		_, err = script.Execute(string(content), script.NewWorld(func(s daemonset.Snapshot, o daemonset.Options) (daemonset.Plan, error) {
			plan, err := daemonset.Compute(s, o)
			if err == nil {
				g.see(filepath.Base(path), s, plan)
			}
			return plan, err
		}))
		require.NoError(t, err, path)
	}
	for _, o := range crowdedNode(t) {
		g.add(string(o.Code), "a crowded node", fmt.Sprintf("  because %s\n    %s\n", o.Text(), o.Lift))
	}
	got := g.text()
	if os.Getenv("UPDATE_GOLDEN") != "" {
		require.NoError(t, os.WriteFile(golden, []byte(got), 0o600))
		return
	}
	require.Empty(t, cmp.Diff(string(want), got))
}

// crowdedNode is everything that a Fitter can find against a node, for a pod that asks for all
// there is.
func crowdedNode(t *testing.T) []explain.Obstacle {
	t.Helper()
	quantity := resource.MustParse
	disk := corev1.Volume{Name: "disk", VolumeSource: corev1.VolumeSource{GCEPersistentDisk: &corev1.GCEPersistentDiskVolumeSource{PDName: "shared"}}}
	attached := func(name string) corev1.Volume {
		return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{AzureDisk: &corev1.AzureDiskVolumeSource{DiskName: name}}}
	}
	claimed := corev1.Volume{Name: "claimed", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}
	spec := corev1.PodSpec{
		Containers: []corev1.Container{{
			Name:  "agent",
			Ports: []corev1.ContainerPort{{HostPort: 443, ContainerPort: 443}},
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
				"example.com/gpu": quantity("2"), "gpu": quantity("-1"),
			}},
		}},
		Volumes: []corev1.Volume{disk, attached("one"), attached("two"), claimed},
	}
	condition := func(kind corev1.NodeConditionType, status corev1.ConditionStatus) corev1.NodeCondition {
		return corev1.NodeCondition{Type: kind, Status: status}
	}
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "crowded", Labels: map[string]string{corev1.LabelTopologyZone: "a"}},
		Status: corev1.NodeStatus{
			Allocatable: corev1.ResourceList{"example.com/gpu": quantity("1"), corev1.ResourcePods: quantity("10"), "attachable-volumes-azure-disk": quantity("1")},
			Conditions: []corev1.NodeCondition{
				condition(corev1.NodeReady, corev1.ConditionFalse), condition(corev1.NodeMemoryPressure, corev1.ConditionTrue),
				condition(corev1.NodeDiskPressure, corev1.ConditionTrue), condition(corev1.NodePIDPressure, corev1.ConditionTrue),
				condition(corev1.NodeNetworkUnavailable, corev1.ConditionTrue),
			},
		},
	}
	volume := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: "pv", Labels: map[string]string{corev1.LabelTopologyZone: "b"}},
		Spec:       corev1.PersistentVolumeSpec{ClaimRef: &corev1.ObjectReference{Namespace: "demo", Name: "data"}},
	}
	other := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: "web", UID: "web"},
		Spec: corev1.PodSpec{NodeName: "crowded", Volumes: []corev1.Volume{disk}, Containers: []corev1.Container{{
			Name: "web", Ports: []corev1.ContainerPort{{HostPort: 443, ContainerPort: 443}},
		}}},
	}
	beside := placement.NewOccupancy(other)
	verdict := placement.NewFitter(&spec, placement.FitOptions{
		Namespace: "demo", PersistentVolumes: []*corev1.PersistentVolume{volume},
		RequiredLabels: []string{"pool"}, NodeConditions: true,
	}).Fit(node, beside)
	var obstacles []explain.Obstacle
	for _, f := range verdict.Findings {
		obstacles = append(obstacles, explain.OfFinding(f, &spec, node))
	}
	return obstacles
}
