package controlplane

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// Usage is what a process has taken since it was started.
type Usage struct {
	CPU        time.Duration // user and system
	PeakMemory int64         // bytes of resident memory at its highest
}

// clockTick is the unit of the times in /proc/PID/stat, which is this on every Linux that
// Go runs on.
const clockTick = time.Second / 100

// Usage reads what the running process has taken so far. It needs Linux's /proc.
func (p *Process) Usage() (Usage, error) {
	folder := fmt.Sprintf("/proc/%d", p.PID())
	stat, err := os.ReadFile(folder + "/stat")
	if err != nil {
		return Usage{}, err
	}
	status, err := os.ReadFile(folder + "/status")
	if err != nil {
		return Usage{}, err
	}
	cpu, err := cpuTime(string(stat))
	if err != nil {
		return Usage{}, err
	}
	peak, err := peakMemory(string(status))
	return Usage{CPU: cpu, PeakMemory: peak}, err
}

// cpuTime reads the fields utime and stime, the 14th and 15th. The second one is a name in
// parentheses that may hold blanks, so counting starts behind it.
func cpuTime(stat string) (time.Duration, error) {
	_, rest, ok := strings.Cut(stat, ") ")
	fields := strings.Fields(rest)
	if !ok || len(fields) < 13 {
		return 0, fmt.Errorf("cannot read process times from %q", stat)
	}
	var ticks int64
	for _, field := range fields[11:13] {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("process times: %w", err)
		}
		ticks += n
	}
	return time.Duration(ticks) * clockTick, nil
}

func peakMemory(status string) (int64, error) {
	for line := range strings.Lines(status) {
		value, ok := strings.CutPrefix(line, "VmHWM:")
		if !ok {
			continue
		}
		kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		return kib * 1024, err
	}
	return 0, fmt.Errorf("no VmHWM in %q", status)
}
