package diff

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
)

// Field is a difference between two specs. Before and After are JSON, cut when they are long,
// and empty for what is not there.
type Field struct {
	Path   string `json:"path"` // as spec.template.spec.containers[agent].image
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
}

// fields lists what differs between the specs of two sets, by path. What is absent and what
// holds the API's default are the same. A set that does not exist has no spec to compare.
func fields(before, after *appsv1.DaemonSet) []Field {
	if before == nil || after == nil {
		return nil
	}
	var list []Field
	walk("spec", generic(before), generic(after), &list)
	return list
}

// generic is the spec, with defaults, as JSON values.
func generic(set *appsv1.DaemonSet) any {
	set = set.DeepCopy()
	setDefaults(set)
	text, err := json.Marshal(set.Spec)
	if err != nil {
		return nil // a quantity that was made by hand; the template is compared by value as well
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil {
		return nil
	}
	return value
}

// walk adds the differences below a path.
func walk(path string, before, after any, list *[]Field) {
	a, aIsMap := members(before)
	b, bIsMap := members(after)
	if !aIsMap || !bIsMap {
		if from, to := text(before), text(after); from != to {
			*list = append(*list, Field{Path: path, Before: from, After: to})
		}
		return
	}
	keys := append(slices.Sorted(maps.Keys(a.values)), slices.Sorted(maps.Keys(b.values))...)
	slices.SortFunc(keys, func(x, y string) int { return cmp.Or(cmp.Compare(number(x), number(y)), cmp.Compare(x, y)) })
	for _, key := range slices.Compact(keys) {
		walk(path+fmt.Sprintf(cmp.Or(a.form, b.form), key), a.values[key], b.values[key], list)
	}
}

// object is what has members: an object, or a list by the names or numbers of its elements.
type object struct {
	values map[string]any
	form   string // of a path to a member
}

func members(value any) (object, bool) {
	switch value := value.(type) {
	case map[string]any:
		return object{values: value, form: ".%s"}, true
	case []any:
		return elements(value), true
	}
	return object{}, false
}

// elements tells the elements of a list apart by name if each has one of its own, else by
// number.
func elements(list []any) object {
	byName := make(map[string]any, len(list))
	for _, element := range list {
		fields, _ := element.(map[string]any)
		name, ok := fields["name"].(string)
		if _, twice := byName[name]; !ok || twice {
			return byNumber(list)
		}
		byName[name] = element
	}
	return object{values: byName, form: "[%s]"}
}

func byNumber(list []any) object {
	values := make(map[string]any, len(list))
	for i, element := range list {
		values[strconv.Itoa(i)] = element
	}
	return object{values: values, form: "[%s]"}
}

// number makes list numbers sort as numbers.
func number(key string) int {
	n, err := strconv.Atoi(key)
	if err != nil {
		return -1
	}
	return n
}

// maxValue bounds what is shown of a value.
const maxValue = 200

func text(value any) string {
	if value == nil {
		return ""
	}
	encoded, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	if len(encoded) <= maxValue {
		return string(encoded)
	}
	return strings.ToValidUTF8(string(encoded[:maxValue]), "") + "..."
}
