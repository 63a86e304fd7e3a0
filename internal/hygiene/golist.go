package hygiene

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
)

// Package is what the go command says about one package of a module; the fields are named
// as there. Test files are in none of its lists.
type Package struct {
	ImportPath string
	Dir        string
	Export     string // file with export data, where it was asked for
	GoFiles    []string
	Imports    []string
	DepOnly    bool // listed only because another package needs it
}

// List returns the packages that match patterns in the module at dir, by import path. No
// patterns mean every package of the module.
func List(dir string, patterns ...string) ([]Package, error) {
	if len(patterns) == 0 {
		patterns = []string{"./..."}
	}
	return goList(dir, patterns...)
}

func goList(dir string, args ...string) ([]Package, error) {
	fields := "-json=ImportPath,Dir,Export,GoFiles,Imports,DepOnly"
	out, err := goCommand(dir, append([]string{"list", fields}, args...)...)
	if err != nil {
		return nil, err
	}
	var packages []Package
	decoder := json.NewDecoder(bytes.NewReader(out))
	for {
		var p Package
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			return packages, nil
		}
		if err != nil {
			return nil, fmt.Errorf("output of go list: %w", err)
		}
		packages = append(packages, p)
	}
}

// goCommand returns what the go command prints when it is run in dir.
func goCommand(dir string, args ...string) ([]byte, error) {
	var stderr strings.Builder
	command := exec.Command("go", args...)
	command.Dir = dir
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w: %s", args[0], err, stderr.String())
	}
	return out, nil
}
