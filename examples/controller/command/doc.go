// Package command is the controller program without its main function, so that other
// programs, tests above all, can be it.
package command
