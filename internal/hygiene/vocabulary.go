package hygiene

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Word is one exported constant of a vocabulary: a type of strings.
type Word struct {
	Name       string // of the constant
	Value      string
	Place      string // package, file and line
	Documented bool   // by a comment of its own, above it or behind it
	Borrowed   bool   // converted from a constant of another package, which defines it
}

// Words returns the vocabulary of one package in the order of its source: the constants of the
// types with one of the names.
func Words(s Source, vocabularies ...string) []Word {
	var words []Word
	for _, file := range s.Files {
		for _, decl := range file.Decls {
			group, ok := decl.(*ast.GenDecl)
			if !ok || group.Tok != token.CONST {
				continue
			}
			for _, spec := range group.Specs {
				words = append(words, s.words(spec.(*ast.ValueSpec), vocabularies, !group.Lparen.IsValid() && group.Doc != nil)...)
			}
		}
	}
	return words
}

func (s *Source) words(spec *ast.ValueSpec, vocabularies []string, documented bool) []Word {
	var words []Word
	for i, name := range spec.Names {
		object, ok := s.Info.Defs[name].(*types.Const)
		if !ok || !name.IsExported() || !isVocabulary(object.Type(), vocabularies) {
			continue
		}
		words = append(words, Word{
			Name:       name.Name,
			Value:      constant.StringVal(object.Val()),
			Place:      s.problem(name.Pos(), "%s", name.Name),
			Documented: documented || spec.Doc != nil || spec.Comment != nil,
			Borrowed:   i < len(spec.Values) && s.isForeign(spec.Values[i]),
		})
	}
	return words
}

func isVocabulary(t types.Type, names []string) bool {
	named, ok := types.Unalias(t).(*types.Named)
	if !ok || !slices.Contains(names, named.Obj().Name()) {
		return false
	}
	basic, ok := named.Underlying().(*types.Basic)
	return ok && basic.Kind() == types.String
}

// isForeign reports whether an expression is T(pkg.Constant).
func (s *Source) isForeign(value ast.Expr) bool {
	conversion, ok := value.(*ast.CallExpr)
	if !ok || len(conversion.Args) != 1 {
		return false
	}
	selector, ok := conversion.Args[0].(*ast.SelectorExpr)
	if !ok {
		return false
	}
	_, ok = s.Info.Uses[selector.Sel].(*types.Const)
	return ok
}

// Vocabulary reports every word that has no comment of its own, whose value is not its
// name, or whose value another word has too. Only a borrowed word may share the value of
// the one it is converted from, so that a value means one thing in the whole module.
func Vocabulary(words []Word) []string {
	var problems []string
	for i, word := range words {
		if !word.Documented {
			problems = append(problems, fmt.Sprintf("%s has no comment of its own", word.Place))
		}
		if word.Value != word.Name {
			problems = append(problems, fmt.Sprintf("%s has the value %q: the name is what people will look for", word.Place, word.Value))
		}
		same := func(other Word) bool { return other.Value == word.Value && !other.Borrowed }
		if j := slices.IndexFunc(words[:i], same); j >= 0 && !word.Borrowed {
			problems = append(problems, fmt.Sprintf("%s has the value of %s", word.Place, words[j].Place))
		}
	}
	return problems
}

// Goldens returns the text of every script below dir, without the scripts' comments. That
// there is none is an error: a check against nothing would always pass.
func Goldens(dir string) (string, error) {
	var text strings.Builder
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".txt" {
			return err
		}
		content, err := os.ReadFile(path)
		for line := range strings.Lines(string(content)) {
			if !strings.HasPrefix(line, "#") {
				text.WriteString(line)
			}
		}
		return err
	})
	if err == nil && text.Len() == 0 {
		err = fmt.Errorf("no script below %s", dir)
	}
	return text.String(), err
}

// Unseen reports every word whose value appears in no golden as a word of its own: nobody
// has yet looked at a plan that says it.
func Unseen(words []Word, goldens string) []string {
	var problems []string
	for _, word := range words {
		whole := regexp.MustCompile(`\b` + regexp.QuoteMeta(word.Value) + `\b`)
		if !word.Borrowed && !whole.MatchString(goldens) {
			problems = append(problems, fmt.Sprintf("%s appears in no golden", word.Place))
		}
	}
	return problems
}
