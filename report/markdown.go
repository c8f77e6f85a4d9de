package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/expediter-go/expediter/internal/pattern"
)

// Markdown writes the whole report in GitHub's Markdown, in one write. Text
// from outside stays text: it opens no link, tag, table or list.
func (r Report) Markdown(w io.Writer) error {
	o := r.outline()
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n**Outcome:** %s\n", escapeMarkdown(o.Title), escapeMarkdown(because(strings.ToUpper(o.Outcome.String()), o.Summary)))
	for _, s := range o.Banner {
		fmt.Fprintf(&b, "\n> **%s**\n", escapeMarkdown(s))
	}
	for _, s := range o.Sections {
		b.WriteString("\n## " + s.Title + "\n")
		paragraphs(&b, s.Lead)
		markdownTools(&b, s.Tools)
		markdownItems(&b, s)
		paragraphs(&b, s.After)
		for _, d := range s.Data {
			markdownDatum(&b, d)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func paragraphs(b *strings.Builder, texts []string) {
	for _, t := range texts {
		b.WriteString("\n" + escapeMarkdown(t) + "\n")
	}
}

func markdownTools(b *strings.Builder, rows []toolRow) {
	if len(rows) == 0 {
		return
	}
	b.WriteString("\n| Tool | State | Health | Consecutive fails | Last failure | Last success |\n| --- | --- | --- | ---: | --- | --- |\n")
	for _, t := range rows {
		for _, cell := range []string{t.Tool, t.State, t.Health, t.Fails, t.LastFailure, t.LastSuccess} {
			b.WriteString("| " + escapeMarkdown(cell) + " ")
		}
		b.WriteString("|\n")
	}
}

func markdownItems(b *strings.Builder, s outlined) {
	if len(s.Items) > 0 {
		b.WriteString("\n")
	}
	for i, l := range s.Items {
		lead := "- "
		if s.Ordered {
			lead = fmt.Sprintf("%d. ", i+1)
		}
		indent := strings.Repeat(" ", len(lead))
		if l.Mark != "" {
			lead += l.Mark + " "
		}
		b.WriteString(lead + escapeMarkdown(l.Text) + "\n")
		for _, sub := range l.Sub {
			b.WriteString(indent + "- " + escapeMarkdown(sub) + "\n")
		}
	}
}

func markdownDatum(b *strings.Builder, d outlinedData) {
	fmt.Fprintf(b, "\n%s, %s:\n", escapeMarkdown(d.Subtask), escapeMarkdown(d.Tool))
	paragraphs(b, nonEmpty(d.Label))
	if d.Text == "" {
		return
	}
	fence := "```"
	for strings.Contains(d.Text, fence) {
		fence += "`"
	}
	fmt.Fprintf(b, "\n%s\n%s\n%s\n", fence, d.Text, fence)
}

var (
	markdownEscapes = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "#", `\#`,
		"|", `\|`, "~", `\~`, "$", `\$`, "://", `\://`, "&", "&amp;", "<", "&lt;", ">", "&gt;")

	// What would begin a list, a heading's underline or a table's rule.
	markdownStart = pattern.New(`^(?:[-+=:]|\d+[.)])`)
	bareHost      = pattern.New(`(?i)\bwww\.`)
)

// escapeMarkdown makes one cleaned line stand for itself wherever inline text
// may stand.
func escapeMarkdown(s string) string {
	s = markdownEscapes.Replace(s)
	s = bareHost.RE().ReplaceAllStringFunc(s, func(m string) string { return m[:3] + `\.` })
	if m := markdownStart.RE().FindString(s); m != "" {
		s = m[:len(m)-1] + `\` + s[len(m)-1:]
	}
	return s
}
