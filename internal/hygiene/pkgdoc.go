package hygiene

import (
	"fmt"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
)

// PackageComments reports every package that is not described by exactly one package
// comment: none leaves its page empty, and of two nobody knows which one is kept up.
func PackageComments(packages []Package) ([]string, error) {
	var problems []string
	for _, p := range packages {
		var commented []string
		for _, name := range p.GoFiles {
			file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.PackageClauseOnly|parser.ParseComments)
			if err != nil {
				return nil, err
			}
			if file.Doc != nil {
				commented = append(commented, name)
			}
		}
		switch len(commented) {
		case 0:
			problems = append(problems, fmt.Sprintf("%s has no package comment", p.ImportPath))
		case 1:
		default:
			problems = append(problems, fmt.Sprintf("%s has several package comments: %s", p.ImportPath, strings.Join(commented, ", ")))
		}
	}
	return problems, nil
}
