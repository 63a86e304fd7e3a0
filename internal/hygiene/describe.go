package hygiene

import (
	"fmt"
	"reflect"
	"strings"
	"time"
)

// Unshown reports every exported field, at any depth, that describe leaves out: its value
// makes no difference to the text, neither where every other field is filled too nor where
// it is the only one. Structs of packages below module are entered, through pointers and
// slices; one of any other package counts as a single field. The paths in silent, such as
// "Deletes[].Pod.UID", are left out on purpose; one that is shown after all is reported.
func Unshown[T any](describe func(T) string, module string, silent []string) []string {
	all := fields(reflect.TypeFor[T](), module)
	left := map[string]bool{}
	for _, path := range silent {
		left[path] = true
	}
	var problems []string
	for _, f := range all {
		shown := differs(describe, all, f) || differs(describe, nil, f)
		switch {
		case !shown && !left[f.path]:
			problems = append(problems, fmt.Sprintf("%s makes no difference to the text", f.path))
		case shown && left[f.path]:
			problems = append(problems, fmt.Sprintf("%s is said to be left out, and is shown", f.path))
		}
		delete(left, f.path)
	}
	for _, path := range silent {
		if left[path] {
			problems = append(problems, fmt.Sprintf("%s is said to be left out, and does not exist", path))
		}
	}
	return problems
}

// differs reports whether two values of one field make two texts, with the others filled.
// Neither value is zero, or a line that appears for a field that it does not show would do.
func differs[T any](describe func(T) string, others []field, f field) bool {
	var texts [2]string
	for i := range texts {
		var value T
		root := reflect.ValueOf(&value).Elem()
		for _, other := range others {
			fill(other.in(root), 1)
		}
		fill(f.in(root), i+1)
		texts[i] = describe(value)
	}
	return texts[0] != texts[1]
}

// field leads from a struct to something inside it.
type field struct {
	path  string
	index []int // fields in turn; slices and pointers between them are entered by the way
}

// fields lists what a struct of the module holds, down to what is not of the module.
func fields(t reflect.Type, module string) []field {
	var all []field
	for i := range t.NumField() {
		member := t.Field(i)
		if !member.IsExported() {
			continue
		}
		inner, suffix := member.Type, ""
		for inner.Kind() == reflect.Slice || inner.Kind() == reflect.Pointer {
			if inner.Kind() == reflect.Slice {
				suffix += "[]"
			}
			inner = inner.Elem()
		}
		name := member.Name + suffix
		if inner.Kind() != reflect.Struct || !below(inner.PkgPath(), module) {
			all = append(all, field{path: name, index: []int{i}})
			continue
		}
		for _, f := range fields(inner, module) {
			all = append(all, field{path: name + "." + f.path, index: append([]int{i}, f.index...)})
		}
	}
	return all
}

// in finds the field in a struct, and makes the slices and pointers on the way.
func (f field) in(root reflect.Value) reflect.Value {
	for _, i := range f.index {
		root = element(root).Field(i)
	}
	return root
}

// element steps into slices, of which it makes one element, and pointers.
func element(v reflect.Value) reflect.Value {
	for {
		switch v.Kind() {
		case reflect.Slice:
			if v.Len() == 0 {
				v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			}
			v = v.Index(0)
		case reflect.Pointer:
			if v.IsNil() {
				v.Set(reflect.New(v.Type().Elem()))
			}
			v = v.Elem()
		default:
			return v
		}
	}
}

// fill sets v, and all of it that is exported, to the zero value for seed 0 and to a value
// that is recognisably another for any other seed.
func fill(v reflect.Value, seed int) {
	if !v.CanSet() {
		return
	}
	if _, ok := reflect.TypeAssert[time.Time](v); ok {
		v.Set(reflect.ValueOf(time.Time{}.AddDate(seed, 0, 0)))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(strings.Repeat("filled", seed))
	case reflect.Bool:
		v.SetBool(seed%2 == 1)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(int64(seed))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(seed))
	case reflect.Slice, reflect.Pointer:
		fill(element(v), seed)
	case reflect.Map:
		entry := reflect.New(v.Type().Elem()).Elem()
		fill(entry, seed)
		key := reflect.New(v.Type().Key()).Elem()
		fill(key, seed)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, entry)
	case reflect.Struct:
		for _, member := range v.Fields() {
			fill(member, seed)
		}
	}
}
