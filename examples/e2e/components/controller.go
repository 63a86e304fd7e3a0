package components

import (
	"os"

	"github.com/daemonplan/daemonplan/examples/controller/command"
)

func runController() int { return command.Main(os.Args[1:]) }
