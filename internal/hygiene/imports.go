package hygiene

import (
	"fmt"
	"slices"
	"strings"
)

// Layer is one row of the import table: what a package may import. Paths of the module's
// own packages are relative to it.
type Layer struct {
	Package string
	Own     []string // packages of the module that it may import; no others
	Never   []Ban    // what else it must not import
	Support bool     // it serves its users' tests: what production must not import, it may
}

// Ban forbids an import and everything below it.
type Ban struct {
	Path string
	Why  string
}

// Table is the import table of a module.
type Table struct {
	Module     string
	Layers     []Layer
	Production []Ban // for every package outside TestOnly and without a Support layer
	TestOnly   []string
	Free       []string // parts of the module that need no layer, such as examples
}

// Check reports every import in packages that the table forbids, with the reason, every
// layer without a package, and every package without a layer. Only direct imports of files
// that are no tests count.
func (t Table) Check(packages []Package) []string {
	var problems []string
	for _, layer := range t.Layers {
		exists := func(p Package) bool { return p.ImportPath == t.Module+"/"+layer.Package }
		if !slices.ContainsFunc(packages, exists) {
			problems = append(problems, fmt.Sprintf("%s is in the import table and does not exist: correct the table", layer.Package))
		}
	}
	for _, p := range packages {
		problems = append(problems, t.checkLayer(p)...)
		problems = append(problems, t.checkProduction(p)...)
	}
	return problems
}

func (t Table) checkLayer(p Package) []string {
	name := strings.TrimPrefix(p.ImportPath, t.Module+"/")
	if belowAny(name, t.Free) || belowAny(name, t.TestOnly) {
		return nil
	}
	i := slices.IndexFunc(t.Layers, func(l Layer) bool { return l.Package == name })
	if i < 0 {
		return []string{fmt.Sprintf("%s is not in the import table: give it a row", name)}
	}
	layer := t.Layers[i]
	var problems []string
	for _, path := range p.Imports {
		own, isOwn := strings.CutPrefix(path, t.Module+"/")
		if isOwn && !slices.Contains(layer.Own, own) {
			problems = append(problems, fmt.Sprintf("%s must not import %s: of this module it may import %q", name, own, layer.Own))
		}
		problems = append(problems, violations(name, path, layer.Never)...)
	}
	return problems
}

func (t Table) checkProduction(p Package) []string {
	name := strings.TrimPrefix(p.ImportPath, t.Module+"/")
	if belowAny(name, t.TestOnly) {
		return nil
	}
	supports := func(l Layer) bool { return l.Support && l.Package == name }
	var problems []string
	for _, path := range p.Imports {
		if own, ok := strings.CutPrefix(path, t.Module+"/"); ok && belowAny(own, t.TestOnly) {
			problems = append(problems, fmt.Sprintf("%s must not import %s: that is for tests only", name, own))
		}
		if !slices.ContainsFunc(t.Layers, supports) {
			problems = append(problems, violations(name, path, t.Production)...)
		}
	}
	return problems
}

func violations(name, path string, bans []Ban) []string {
	var problems []string
	for _, ban := range bans {
		if below(path, ban.Path) {
			problems = append(problems, fmt.Sprintf("%s must not import %s: %s", name, path, ban.Why))
		}
	}
	return problems
}

// below reports whether path is root or in a folder of root.
func below(path, root string) bool {
	return path == root || strings.HasPrefix(path, root+"/")
}

func belowAny(path string, roots []string) bool {
	return slices.ContainsFunc(roots, func(root string) bool { return below(path, root) })
}
