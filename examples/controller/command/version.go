package command

import (
	"fmt"
	"runtime/debug"
)

// versionText names this build and the Kubernetes that it follows.
func versionText() string {
	built, revision := "unknown", ""
	if info, ok := debug.ReadBuildInfo(); ok {
		built = info.Main.Version
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				revision = " " + s.Value
			}
		}
	}
	return fmt.Sprintf("%s %s%s (Kubernetes %s)", program, built, revision, knownServer)
}
