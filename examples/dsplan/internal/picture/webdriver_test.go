package picture_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// browser is a headless Chromium, steered through chromedriver as the W3C's WebDriver has it.
type browser struct {
	t       *testing.T
	session string // the address of its session
}

// newBrowser starts one, or skips the test where there is none. DAEMONPLAN_BROWSER=required
// makes that a failure.
func newBrowser(t *testing.T) *browser {
	t.Helper()
	driver, err := exec.LookPath("chromedriver")
	if err == nil {
		_, err = exec.LookPath("chromium")
	}
	if err != nil {
		if os.Getenv("DAEMONPLAN_BROWSER") == "required" {
			t.Fatalf("no browser: %v", err)
		}
		t.Skipf("the pictures are tested in Chromium, and it is not here (%v): install Debian's packages chromium and chromium-driver", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	port := listener.Addr().(*net.TCPAddr).Port
	require.NoError(t, listener.Close())
	ctx, cancel := context.WithCancel(context.Background())
	command := exec.CommandContext(ctx, driver, fmt.Sprintf("--port=%d", port), "--allowed-ips=127.0.0.1")
	require.NoError(t, command.Start())
	t.Cleanup(func() {
		cancel()
		_ = command.Wait()
	})
	b := &browser{t: t, session: fmt.Sprintf("http://127.0.0.1:%d", port)}
	b.waitUntilReady()
	created := b.call(http.MethodPost, "/session", map[string]any{"capabilities": map[string]any{"alwaysMatch": map[string]any{
		"browserName": "chrome",
		"goog:chromeOptions": map[string]any{"args": []string{
			"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-dev-shm-usage",
			"--disable-background-networking", "--disable-component-update", "--disable-sync", "--user-data-dir=" + t.TempDir(),
		}},
		"goog:loggingPrefs": map[string]any{"browser": "ALL"},
	}}})
	b.session += "/session/" + created.(map[string]any)["sessionId"].(string)
	t.Cleanup(func() { b.call(http.MethodDelete, "", nil) })
	return b
}

func (b *browser) waitUntilReady() {
	b.t.Helper()
	for range 600 {
		response, err := http.Get(b.session + "/status")
		if err == nil {
			_ = response.Body.Close()
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	b.t.Fatal("chromedriver does not answer")
}

// call makes one WebDriver call and returns its value.
func (b *browser) call(method, path string, body any) any {
	b.t.Helper()
	var content io.Reader
	if method == http.MethodPost {
		text, err := json.Marshal(body)
		require.NoError(b.t, err)
		content = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(context.Background(), method, b.session+path, content)
	require.NoError(b.t, err)
	response, err := http.DefaultClient.Do(request)
	require.NoError(b.t, err)
	var answer struct {
		Value any `json:"value"`
	}
	require.NoError(b.t, json.NewDecoder(response.Body).Decode(&answer))
	require.NoError(b.t, response.Body.Close())
	require.Equal(b.t, http.StatusOK, response.StatusCode, "%s %s: %v", method, path, answer.Value)
	return answer.Value
}

func (b *browser) post(path string, body any) any {
	b.t.Helper()
	return b.call(http.MethodPost, path, body)
}

// open shows a page of a file in a window of a size and in a colour scheme.
func (b *browser) open(file, scheme string, width, height int) {
	b.t.Helper()
	b.post("/goog/cdp/execute", map[string]any{"cmd": "Emulation.setDeviceMetricsOverride", "params": map[string]any{
		"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false,
	}})
	b.post("/goog/cdp/execute", map[string]any{"cmd": "Emulation.setEmulatedMedia", "params": map[string]any{
		"features": []map[string]any{{"name": "prefers-color-scheme", "value": scheme}},
	}})
	b.post("/url", map[string]any{"url": "file://" + file})
}

// run evaluates a function's body in the page.
func (b *browser) run(script string, args ...any) any {
	b.t.Helper()
	if args == nil {
		args = []any{}
	}
	return b.post("/execute/sync", map[string]any{"script": script, "args": args})
}

// point moves the mouse to a place in the window.
func (b *browser) point(x, y int) {
	b.t.Helper()
	b.post("/actions", map[string]any{"actions": []any{map[string]any{
		"type": "pointer", "id": "mouse", "parameters": map[string]any{"pointerType": "mouse"},
		"actions": []any{map[string]any{"type": "pointerMove", "duration": 0, "origin": "viewport", "x": x, "y": y}},
	}}})
}

// complaints is what the console of the page holds.
func (b *browser) complaints() []string {
	b.t.Helper()
	var lines []string
	for _, entry := range b.post("/se/log", map[string]any{"type": "browser"}).([]any) {
		lines = append(lines, fmt.Sprint(entry.(map[string]any)["level"], " ", entry.(map[string]any)["message"]))
	}
	return lines
}

// picture is the window as PNG. DAEMONPLAN_SCREENSHOTS=DIR keeps it there, to be looked at.
func (b *browser) picture(name string) []byte {
	b.t.Helper()
	png, err := base64.StdEncoding.DecodeString(b.call(http.MethodGet, "/screenshot", nil).(string))
	require.NoError(b.t, err)
	if dir := os.Getenv("DAEMONPLAN_SCREENSHOTS"); dir != "" {
		require.NoError(b.t, os.WriteFile(dir+"/"+strings.ReplaceAll(name, "/", "-")+".png", png, 0o600))
	}
	return png
}
