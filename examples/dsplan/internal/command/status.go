package command

import (
	"errors"
	"flag"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemonplan/daemonplan/daemonset"
	"github.com/daemonplan/daemonplan/daemonset/status"
)

// The exit statuses of status, besides the others.
const (
	exitUnfinished = 3
	exitStuck      = 4
)

const statusUsage = `Usage:

	dsplan status -f FILE [flags]

	-f FILE            a dump in YAML or JSON, "-" for standard input; may be repeated
	-ds NAMESPACE/NAME judge only this DaemonSet; NAME alone takes those of any namespace
	-deadline DURATION how long a pod may take to get ready, or to go (default: 10m)
	-now TIME          judge for this time, in RFC 3339 (default: the current time)
	-burst N           as for plan
	-troubles N        list at most N pods in trouble, all for -1 (default: 10)
	-o text|json       print for people, or one JSON object a line (default: text)

The verdict is one of

	Complete     every node has an available pod of the current revision
	Progressing  pods are created or deleted now
	Waiting      nothing is changed now; pods or time bring it on
	Stuck        nothing moves by itself any more
	Paused       what is left are outdated pods that OnDelete leaves alone
	Terminating  the DaemonSet is being deleted

It waits for reasons such as BudgetExhausted; "dsplan help BudgetExhausted" says what one means.

A pod is overdue when it has not become ready, or is still there after its grace period, for
as long as -deadline says. A set is stuck when everything that it waits for is overdue.

The exit status is 0 if all sets are complete, paused or terminating, 3 if one is progressing
or waiting, 4 if one is stuck, 1 if something could not be read or planned or
there was no DaemonSet, 2 for bad usage.
`

// statusView judges sets. It remembers the worst that it has seen.
type statusView struct {
	options  status.Options
	troubles int
	worst    int
}

func runStatus(args []string, s Streams, now func() time.Time) int {
	v := &statusView{}
	flags := flag.NewFlagSet("dsplan status", flag.ContinueOnError)
	durationFlag(flags, "deadline", &v.options.Deadline, status.DefaultDeadline)
	flags.IntVar(&v.troubles, "troubles", 10, "")
	shared, err := parseFlags(flags, args, now)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return help(s, statusUsage)
	case err == nil && len(shared.args) > 0:
		err = fmt.Errorf("unexpected argument %q", shared.args[0])
	case err == nil && v.options.Deadline <= 0:
		err = fmt.Errorf("-deadline is %s; want more than 0", v.options.Deadline)
	}
	if err != nil {
		return misused(s, err, "dsplan status -h")
	}
	v.options.Plan = daemonset.Options{Burst: shared.burst}
	if failed := runView(shared, s, v); failed != exitOK {
		return failed
	}
	return v.worst
}

func (v *statusView) text(o outcome) string { return status.Describe(v.assess(o), v.troubles) }

func (v *statusView) assess(o outcome) status.Report {
	r := status.Assess(o.snapshot(), o.plan, v.options)
	switch r.Phase {
	case status.Progressing, status.Waiting:
		v.worst = max(v.worst, exitUnfinished)
	case status.Stuck:
		v.worst = max(v.worst, exitStuck)
	case status.Complete, status.Paused, status.Terminating:
	}
	return r
}

// statusResult is what status -o json prints for each DaemonSet.
type statusResult struct {
	DaemonSet  string             `json:"daemonSet"`
	Report     *status.Report     `json:"report,omitempty"`
	KStatus    string             `json:"kstatus,omitempty"`
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	Error      string             `json:"error,omitempty"`
}

func (v *statusView) json(o outcome) any {
	if o.err != nil {
		return statusResult{DaemonSet: setName(o.set), Error: message(o.err)}
	}
	r := v.assess(o)
	return statusResult{DaemonSet: setName(o.set), Report: &r, KStatus: r.KStatus(), Conditions: r.Conditions(nil)}
}
