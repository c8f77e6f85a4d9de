package view

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"io"
	"sync"

	"github.com/expediter-go/expediter/internal/analysis"
)

var (
	//go:embed page.tmpl
	pageSource string
	//go:embed page.css
	pageStyle string
	//go:embed session.js
	sessionScript string
	//go:embed marks.js
	marksScript string
	//go:embed timeline.js
	timelineScript string
	//go:embed page.js
	pageScript string
)

// page is parsed when it is first written.
var page = sync.OnceValue(func() *template.Template { return template.Must(template.New("page").Parse(pageSource)) })

// policyOf allows the page its own style and script, and nothing else: no
// request leaves the reader's machine, and no text in it can run.
func policyOf(style, script string) string {
	return "default-src 'none'; img-src data:; style-src '" + digest(style) + "'; script-src '" + digest(script) +
		"'; base-uri 'none'; form-action 'none'"
}

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// HTML writes the analysis as one page, in one write: it loads nothing, reads
// without a network and without scripts (but for the timelines), prints, and
// stays below about five megabytes; what it leaves out it names.
func HTML(w io.Writer, r *analysis.Result) error {
	m, err := model(cleaned(r))
	if err != nil {
		return err
	}
	script := sessionScript + marksScript + timelineScript + pageScript
	m.Security, m.Style, m.Script = policyOf(pageStyle, script), template.CSS(pageStyle), template.JS(script)
	var b bytes.Buffer
	if err := page().Execute(&b, m); err != nil {
		return err
	}
	_, err = w.Write(b.Bytes())
	return err
}
