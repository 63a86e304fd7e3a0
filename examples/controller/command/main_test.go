package command_test

import (
	"bytes"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/daemonplan/daemonplan/examples/controller/command"
)

// beProgram makes the test binary the program itself, with the arguments that follow.
const beProgram = "DAEMONPLAN_TEST_CONTROLLER"

// patience is for what is going to happen, on a machine that may be busy.
const patience = time.Minute

func TestMain(m *testing.M) {
	if os.Getenv(beProgram) != "" {
		os.Exit(command.Main(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// output collects a log that is written and read at the same time.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// lines returns the lines that contain all of the words.
func (o *output) lines(words ...string) []string {
	var found []string
next:
	for line := range strings.Lines(o.String()) {
		for _, word := range words {
			if !strings.Contains(line, word) {
				continue next
			}
		}
		found = append(found, line)
	}
	return found
}

// address finds where the program listens.
func (o *output) address() string {
	for _, line := range o.lines("msg=listening") {
		_, address, _ := strings.Cut(strings.TrimSpace(line), "address=")
		return address
	}
	return ""
}
