package picture_test

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	_ "image/png" // screenshots are
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/daemonset/simulate"
	"github.com/daemonplan/daemonplan/examples/dsplan/internal/picture"
)

// rollout simulates an update of so many nodes in three zones.
func rollout(t *testing.T, nodes int) simulate.Result {
	t.Helper()
	labels, budget := map[string]string{"app": "agent"}, intstr.FromString("10%")
	set := &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: "agent", UID: "set-1", Generation: 1},
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "agent", Image: "registry.example/agent:v1"}}},
			},
			UpdateStrategy: appsv1.DaemonSetUpdateStrategy{RollingUpdate: &appsv1.RollingUpdateDaemonSet{MaxUnavailable: &budget}},
		},
	}
	s := daemonset.Snapshot{Objects: daemonset.Objects{DaemonSet: set}, Now: time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)}
	for i := range nodes {
		s.Objects.Nodes = append(s.Objects.Nodes, &corev1.Node{ObjectMeta: metav1.ObjectMeta{
			Name:   fmt.Sprintf("node-%04d", i),
			Labels: map[string]string{corev1.LabelTopologyZone: "region-1" + string(rune('a'+i%3))},
		}})
	}
	first, err := simulate.Run(s, simulate.Options{})
	require.NoError(t, err)
	s = first.Final
	s.Objects.DaemonSet = s.Objects.DaemonSet.DeepCopy()
	s.Objects.DaemonSet.Spec.Template.Spec.Containers[0].Image = "registry.example/agent:v2"
	model := simulate.DefaultModel()
	model.FailureRate = 0.05
	r, err := simulate.Run(s, simulate.Options{Model: model, Seed: 1})
	require.NoError(t, err)
	require.Equal(t, simulate.Complete, r.Outcome)
	return r
}

func pageOf(t *testing.T, results ...simulate.Result) string {
	t.Helper()
	var page bytes.Buffer
	require.NoError(t, picture.Write(&page, results))
	file := filepath.Join(t.TempDir(), "page.html")
	require.NoError(t, os.WriteFile(file, page.Bytes(), 0o600))
	return file
}

// TestInABrowser opens pages of few and of many nodes, light and dark: they draw, complain of
// nothing, and tell a node's story where it is pointed at.
func TestInABrowser(t *testing.T) {
	b := newBrowser(t)
	for _, nodes := range []int{20, 5_000} {
		r := rollout(t, nodes)
		file := pageOf(t, r)
		for _, scheme := range []string{"light", "dark"} {
			t.Run(fmt.Sprintf("%d/%s", nodes, scheme), func(t *testing.T) {
				b.t = t
				b.open(file, scheme, 1280, 1500)
				assert.Equal(t, "demo/agent", b.run("return document.querySelector('h1').textContent"))
				assert.EqualValues(t, 3, b.run("return document.querySelectorAll('.grid').length"))
				assert.Equal(t, nodes == 20, b.run("return document.querySelector('.chart[aria-label$=\"done at the end.\"]').hidden"), "apart from where it begins at zero, the curve of nodes that are done has a chart of its own")
				requireNarrow(t, b)

				name, event := pointedAt(t, r)
				place := b.run("return locate(arguments[0], arguments[1])", name, event.At.Seconds()+0.6).([]any)
				b.point(int(place[0].(float64)), int(place[1].(float64)))
				tip := b.run("const tip = document.getElementById('tip'); return tip.hidden ? '' : tip.innerText").(string)
				assert.Contains(t, tip, name)
				assert.Contains(t, tip, event.Pod+" deleted (Outdated)")
				assert.Contains(t, tip, "at the end: updated, available")
				shot := b.picture(fmt.Sprintf("%d-%s", nodes, scheme))
				requireDrawn(t, shot, scheme)

				b.point(5, 5)
				assert.Equal(t, true, b.run("return document.getElementById('tip').hidden"))
				assert.Empty(t, b.complaints())
				assert.Empty(t, b.run("return performance.getEntriesByType('resource').map((e) => e.name)"), "the page loads nothing else")
			})
		}
	}
}

// TestFinder types a node's name: its story is there without pointing.
func TestFinder(t *testing.T) {
	b := newBrowser(t)
	r := rollout(t, 20)
	b.open(pageOf(t, r), "light", 900, 900)
	b.run("const i = document.querySelector('input'); i.value = arguments[0]; i.dispatchEvent(new Event('input'))", "node-0007")
	text := b.run("return document.querySelector('.story').innerText").(string)
	assert.Contains(t, text, "node-0007")
	assert.Contains(t, text, "agent-s00008 deleted (Outdated)")
	assert.Empty(t, b.complaints())
}

// TestPhone: on a narrow screen zones go below each other and nothing sticks out.
func TestPhone(t *testing.T) {
	b := newBrowser(t)
	b.open(pageOf(t, rollout(t, 60)), "light", 400, 900)
	requireNarrow(t, b)
	b.picture("phone")
	assert.Empty(t, b.complaints())
}

func requireNarrow(t *testing.T, b *browser) {
	t.Helper()
	assert.Equal(t, false, b.run("return document.documentElement.scrollWidth > innerWidth"), "the page is wider than the window")
}

// pointedAt is a node and when its old pod was deleted. Of nodes that share a line the one
// worst off answers, and at that moment there is none before it: deletes go by name.
func pointedAt(t *testing.T, r simulate.Result) (string, simulate.Event) {
	t.Helper()
	for _, e := range r.Nodes[0].Story {
		if e.What == simulate.Deleted {
			return r.Nodes[0].Name, e
		}
	}
	t.Fatal("the first node was not updated")
	return "", simulate.Event{}
}

// requireDrawn checks that the picture has the paper of its scheme and the colours of what
// most nodes are before and after an update.
func requireDrawn(t *testing.T, png []byte, scheme string) {
	t.Helper()
	shown, _, err := image.Decode(bytes.NewReader(png))
	require.NoError(t, err)
	want := map[string]color.RGBA{"paper": {0xff, 0xff, 0xff, 0xff}, "updated": {0x00, 0x72, 0xb2, 0xff}, "outdated": {0xb4, 0xba, 0xc2, 0xff}}
	if scheme == "dark" {
		want = map[string]color.RGBA{"paper": {0x14, 0x18, 0x1d, 0xff}, "updated": {0x2b, 0x8f, 0xd0, 0xff}, "outdated": {0x5c, 0x65, 0x70, 0xff}}
	}
	counts := map[color.RGBA]int{}
	box := shown.Bounds()
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			counts[color.RGBAModel.Convert(shown.At(x, y)).(color.RGBA)]++
		}
	}
	for what, c := range want {
		assert.Greater(t, counts[c], 5_000, "%s has the colour %v", what, c)
	}
}
