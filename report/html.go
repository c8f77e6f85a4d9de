package report

import (
	"bytes"
	_ "embed"
	"html/template"
	"io"
	"strings"
	"sync"
)

//go:embed page.html.tmpl
var pageSource string

// page is parsed when it is first written.
var page = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Funcs(template.FuncMap{
		"upper": strings.ToUpper,
		"lower": strings.ToLower,
	}).Parse(pageSource))
})

// HTML writes the whole report as one self-contained page, in one write: no
// script, nothing loaded from elsewhere, readable in light and dark.
func (r Report) HTML(w io.Writer) error {
	var b bytes.Buffer
	if err := page().Execute(&b, r.outline()); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}
