package hygiene

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// MapOrder reports where a package could let the order of a map, which differs from run to
// run, into its output: every range over a map, and every use of a function that lists a
// map (maps.Keys, maps.Values, maps.All, an UnsortedList method, the map methods of
// reflect) that is not a call directly inside slices.Sorted, SortedFunc or SortedStableFunc.
func MapOrder(s Source) []string {
	var problems []string
	for _, file := range s.Files {
		sorted := sortedCalls(&s, file)
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.RangeStmt:
				if isMap(s.Info.TypeOf(n.X)) {
					problems = append(problems, s.problem(n.Pos(), "range over a map has no order: range over its sorted keys"))
				}
			case *ast.Ident:
				if name, ok := listsMap(s.Info.Uses[n]); ok && !sorted[n.Pos()] {
					problems = append(problems, s.problem(n.Pos(), "%s has no order: call it directly inside slices.Sorted", name))
				}
			}
			return true
		})
	}
	return problems
}

// sortedCalls finds the names of the functions whose result goes straight into a sort.
func sortedCalls(s *Source, file *ast.File) map[token.Pos]bool {
	found := map[token.Pos]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		outer, ok := n.(*ast.CallExpr)
		if !ok || len(outer.Args) == 0 || !sorts(calledName(s, outer)) {
			return true
		}
		if inner, ok := ast.Unparen(outer.Args[0]).(*ast.CallExpr); ok {
			if ident := calledIdent(inner); ident != nil {
				found[ident.Pos()] = true
			}
		}
		return true
	})
	return found
}

func sorts(name string) bool {
	return slices.Contains([]string{"slices.Sorted", "slices.SortedFunc", "slices.SortedStableFunc"}, name)
}

// calledName is the full name of the function that a call names, or empty.
func calledName(s *Source, call *ast.CallExpr) string {
	ident := calledIdent(call)
	if ident == nil {
		return ""
	}
	return fullName(s.Info.Uses[ident])
}

// calledIdent is the last name in pkg.F(), v.F(), F() or one of them with type arguments.
func calledIdent(call *ast.CallExpr) *ast.Ident {
	switch fun := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		return fun
	case *ast.SelectorExpr:
		return fun.Sel
	case *ast.IndexExpr:
		return calledIdent(&ast.CallExpr{Fun: fun.X})
	case *ast.IndexListExpr:
		return calledIdent(&ast.CallExpr{Fun: fun.X})
	}
	return nil
}

func fullName(object types.Object) string {
	if function, ok := object.(*types.Func); ok {
		return function.Origin().FullName()
	}
	return ""
}

func listsMap(object types.Object) (string, bool) {
	name := fullName(object)
	listed := []string{"maps.Keys", "maps.Values", "maps.All", "(reflect.Value).MapKeys", "(reflect.Value).MapRange"}
	return name, slices.Contains(listed, name) || strings.HasSuffix(name, ").UnsortedList")
}

// isMap reports whether a value of the type is a map, or may be for some type argument.
// The underlying type of a type parameter is its constraint; nothing else that can be
// ranged over is an interface.
func isMap(t types.Type) bool {
	switch t := t.Underlying().(type) {
	case *types.Map:
		return true
	case *types.Union:
		return slices.ContainsFunc(slices.Collect(t.Terms()), func(term *types.Term) bool { return isMap(term.Type()) })
	case *types.Interface:
		return slices.ContainsFunc(slices.Collect(t.EmbeddedTypes()), isMap)
	}
	return false
}
