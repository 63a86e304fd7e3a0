package hygiene

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Requirements reports where go.mod in dir differs from exactly the direct requirements
// in want, and every replace directive: a replacement holds only in the module itself, so
// with one the users of the library build something else than its tests do.
func Requirements(dir string, want []string) ([]string, error) {
	out, err := goCommand(dir, "mod", "edit", "-json")
	if err != nil {
		return nil, err
	}
	var manifest struct {
		Require []struct {
			Path     string
			Indirect bool
		}
		Replace []struct{ Old struct{ Path string } }
	}
	if err := json.Unmarshal(out, &manifest); err != nil {
		return nil, fmt.Errorf("output of go mod edit: %w", err)
	}
	var problems, direct []string
	for _, r := range manifest.Require {
		if r.Indirect {
			continue
		}
		direct = append(direct, r.Path)
		if !slices.Contains(want, r.Path) {
			problems = append(problems, fmt.Sprintf("go.mod requires %s directly: every user of the library would get it; heavier things go into a nested module", r.Path))
		}
	}
	for _, path := range want {
		if !slices.Contains(direct, path) {
			problems = append(problems, fmt.Sprintf("go.mod does not require %s directly", path))
		}
	}
	for _, r := range manifest.Replace {
		problems = append(problems, fmt.Sprintf("go.mod replaces %s: users of the library would not get the replacement", r.Old.Path))
	}
	return problems, nil
}
