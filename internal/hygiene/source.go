package hygiene

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"path/filepath"
)

// Source is one package, parsed with its comments and type-checked.
type Source struct {
	Package Package
	Files   []*ast.File
	Info    *types.Info

	positions *token.FileSet
}

// Load returns the packages that match patterns in the module at dir, each after those of
// them that it imports. Test files are left out.
func Load(dir string, patterns ...string) ([]Source, error) {
	packages, err := goList(dir, append([]string{"-export", "-deps"}, patterns...)...)
	if err != nil {
		return nil, err
	}
	exports := map[string]string{}
	for _, p := range packages {
		exports[p.ImportPath] = p.Export
	}
	positions := token.NewFileSet()
	config := types.Config{Importer: importer.ForCompiler(positions, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})}
	var sources []Source
	for _, p := range packages {
		if p.DepOnly {
			continue
		}
		source := Source{Package: p, positions: positions}
		if err := source.check(config); err != nil {
			return nil, err
		}
		sources = append(sources, source)
	}
	return sources, nil
}

func (s *Source) check(config types.Config) error {
	for _, name := range s.Package.GoFiles {
		file, err := parser.ParseFile(s.positions, filepath.Join(s.Package.Dir, name), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		s.Files = append(s.Files, file)
	}
	s.Info = &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{},
		Defs:  map[*ast.Ident]types.Object{},
		Uses:  map[*ast.Ident]types.Object{},
	}
	_, err := config.Check(s.Package.ImportPath, s.positions, s.Files, s.Info)
	return err
}

// problem words one problem at its place in the source.
func (s *Source) problem(at token.Pos, format string, args ...any) string {
	place := s.positions.Position(at)
	return fmt.Sprintf("%s/%s:%d: ", s.Package.ImportPath, filepath.Base(place.Filename), place.Line) + fmt.Sprintf(format, args...)
}
