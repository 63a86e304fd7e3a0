// Package picture draws simulations as one page for a browser, which needs nothing else: no
// network, no file beside it.
package picture

import (
	"embed"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"strings"

	"github.com/daemonplan/daemonplan/daemonset/simulate"
)

//go:embed page.html style.css model.js curve.js grid.js page.js
var parts embed.FS

// Write writes the page for some results, each in a section of its own. Equal results give
// equal pages.
func Write(w io.Writer, results []simulate.Result) error {
	sets := make([]set, 0, len(results))
	var names []string
	for i := range results {
		sets = append(sets, project(&results[i]))
		names = append(names, results[i].For.Namespace+"/"+results[i].For.Name)
	}
	data, err := json.Marshal(sets) // escapes what could end the script element
	if err != nil {
		return err
	}
	page, err := part("page.html")
	if err != nil {
		return err
	}
	style, err := part("style.css")
	if err != nil {
		return err
	}
	script, err := part("model.js", "curve.js", "grid.js", "page.js")
	if err != nil {
		return err
	}
	_, err = strings.NewReplacer(
		"{{title}}", html.EscapeString(strings.Join(names, ", ")),
		"{{style}}", style,
		"{{script}}", script,
		"{{data}}", string(data),
	).WriteString(w, page)
	return err
}

func part(names ...string) (string, error) {
	var text strings.Builder
	for _, name := range names {
		content, err := parts.ReadFile(name)
		if err != nil {
			return "", fmt.Errorf("picture: %w", err)
		}
		text.Write(content)
	}
	return text.String(), nil
}
