package main_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/daemonplan/daemonplan/daemonset/plantest"
	"github.com/daemonplan/daemonplan/daemonset/simulate"
)

const noon = "2026-03-10T12:00:00Z"

// TestSimulateGolden simulates the sample as it is, and with changes.
func TestSimulateGolden(t *testing.T) {
	for name, args := range map[string][]string{
		"fleet": {"-now", noon},
		"image": {"-now", noon, "-ds", "logging/log-shipper", "-image", "shipper=registry.example/logging/shipper:3.2.0", "-seed", "3"},
		"stuck": {"-now", noon, "-ds", "kube-system/node-agent", "-image", "agent=registry.example/platform/node-agent:1.10.0", "-stuck", "1"},
	} {
		t.Run(name, func(t *testing.T) {
			got := dsplan("", append([]string{"simulate", "-f", fleet}, args...)...)
			assert.Equal(t, 1, got.status, "some nodes are stuck in the sample")
			assert.Empty(t, got.err)
			assert.NotContains(t, got.out, "\x1b", "no colours where there is no terminal")
			plantest.GoldenText(t, "testdata/simulate/"+name+".txt", got.out)
		})
	}
}

// TestSimulateCases simulates the situations in testdata/cases. None breaks a budget.
func TestSimulateCases(t *testing.T) {
	files, err := filepath.Glob("testdata/cases/*.yaml")
	require.NoError(t, err)
	require.Len(t, files, 14)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		t.Run(name, func(t *testing.T) {
			got := dsplan("", "simulate", "-f", file, "-now", noon)
			assert.Empty(t, got.err)
			assert.Contains(t, got.out, "budgets    held")
			plantest.GoldenText(t, "testdata/simulate/"+name+".txt", got.out)
		})
	}
}

// TestSimulateREADME keeps what the README shows what the command prints.
func TestSimulateREADME(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	_, command, ok := strings.Cut(string(readme), "go run ./examples/dsplan simulate -f examples/dsplan/")
	require.True(t, ok)
	command, rest, _ := strings.Cut(command, "\n\n```\n")
	shown, _, _ := strings.Cut(rest, "```\n")
	got := dsplan("", append([]string{"simulate", "-f"}, strings.Fields(command)...)...)
	assert.Equal(t, shown, got.out)
}

func TestSimulateJSON(t *testing.T) {
	got := dsplan("", "simulate", "-f", fleet, "-now", noon, "-o", "json", "-seed", "5")
	lines := strings.Split(strings.TrimSuffix(got.out, "\n"), "\n")
	require.Len(t, lines, 3)
	for _, line := range lines {
		var r struct {
			DaemonSet string
			simulate.Result
		}
		require.NoError(t, json.Unmarshal([]byte(line), &r))
		assert.Equal(t, r.For.Namespace+"/"+r.For.Name, r.DaemonSet, "as with the other commands")
		assert.EqualValues(t, 5, r.Seed)
		assert.Len(t, r.Nodes, 20)
		assert.NotEmpty(t, r.Curve)
		assert.True(t, r.Proof.Held())
	}
	assert.Equal(t, got.out, dsplan("", "simulate", "-f", fleet, "-now", noon, "-o", "json", "-seed", "5").out)
}

// TestSimulateHTML: one page for all sets, that loads nothing. The picture's own tests look at
// it in a browser.
func TestSimulateHTML(t *testing.T) {
	got := dsplan("", "simulate", "-f", fleet, "-now", noon, "-o", "html")
	assert.Equal(t, 1, strings.Count(got.out, "<!DOCTYPE html>"))
	for _, set := range []string{"device-plugins/gpu-device-plugin", "kube-system/node-agent", "logging/log-shipper"} {
		assert.Contains(t, got.out, `"name":"`+set+`"`)
	}
	assert.NotRegexp(t, `(src|href)="[^d]`, got.out)
	assert.NotContains(t, got.out, "http://")
	assert.NotContains(t, got.out, "https://")
}

// TestSimulateWith replaces a set by one from a file, which changes the plan; a file with a set
// that is not in the dump is a mistake.
func TestSimulateWith(t *testing.T) {
	changed := strings.Replace(healthySet, `"labels":{"app":"agent"}}`, `"labels":{"app":"agent","new":"yes"}}`, 1)
	require.NotEqual(t, healthySet, changed)
	file := filepath.Join(t.TempDir(), "new.json")
	require.NoError(t, os.WriteFile(file, []byte(changed), 0o600))
	dump := `{"apiVersion":"v1","kind":"List","items":[` + healthySet + "," + healthyNode + "," +
		podNamed("a", `,"spec":{"nodeName":"node-a"},"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}`) + "]}"
	got := dsplan(dump, "simulate", "-f", "-", "-with", file, "-now", noon)
	assert.Equal(t, outcome{out: got.out}, got)
	assert.Contains(t, got.out, "outcome    Complete after ")
	assert.Contains(t, got.out, "1 delete pods")

	require.NoError(t, os.WriteFile(file, []byte(bystander), 0o600))
	got = dsplan(dump, "simulate", "-f", "-", "-with", file, "-now", noon)
	assert.Equal(t, outcome{status: 1, err: "dsplan: -with " + file + ": has a DaemonSet that is not simulated\n"}, got)
}

func TestSimulateUsage(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want string
	}{
		{nil, "-f is missing"},
		{[]string{"-f", fleet, "-o", "yaml"}, "want text, json or html"},
		{[]string{"-f", "a.jsonl"}, "is many snapshots"},
		{[]string{"-f", fleet, "-start", "30s-10s"}, "want a time such as 20s, or two such as 10s-30s"},
		{[]string{"-f", fleet, "-image", "agent"}, "want container=image"},
		{[]string{"-f", fleet, "-ds", "a/"}, "want namespace/name"},
		{[]string{"-f", fleet, "-fail", "2"}, "want a share from 0 to 1"},
		{[]string{"-f", fleet, "-stuck", "NaN"}, "want a share from 0 to 1"},
		{[]string{"-f", fleet, "-bind", "5"}, "want a duration such as 90s"},
		{[]string{"-f", fleet, "more"}, `unexpected argument "more"`},
		{[]string{"-f", fleet, "-now", "noon"}, "want a time such as"},
	} {
		got := dsplan("", append([]string{"simulate"}, tt.args...)...)
		assert.Equal(t, 2, got.status, tt.args)
		assert.Contains(t, got.err, tt.want)
		assert.Contains(t, got.err, `see "dsplan simulate -h"`)
		assert.Empty(t, got.out)
	}
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"-f", "no-such-file"}, "no-such-file"},
		{[]string{"-f", fleet, "-ds", "a/b"}, "has no DaemonSet a/b"},
		{[]string{"-f", fleet, "-image", "nobody=x"}, `no container is named "nobody"; there is agent, plugin, shipper`},
		{[]string{"-f", "/dev/null"}, "/dev/null: has no DaemonSets"},
	} {
		got := dsplan("", append([]string{"simulate"}, tt.args...)...)
		assert.Equal(t, 1, got.status, tt.args)
		assert.Contains(t, got.err, tt.want)
	}
	help := dsplan("", "simulate", "-h")
	assert.Equal(t, 0, help.status)
	assert.Contains(t, help.out, "-seed N")
	assert.Contains(t, dsplan("", "help").out, "dsplan simulate -f FILE")
}
