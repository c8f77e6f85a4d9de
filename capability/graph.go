package capability

import (
	"fmt"
	"io"
	"strings"
	"unicode"
)

// Mermaid writes the map as a Mermaid flow chart: an arrow leads from each tool
// to what may stand in for it, labelled with the level and what is lost. The
// arrow is solid when little is lost (low), dashed when much is (high) and
// dotted when nobody knows. Tools without an alternative are marked critical.
func (m Map) Mermaid(w io.Writer) error {
	g := m.graph()
	var b strings.Builder
	b.WriteString("flowchart LR\n")
	for i, name := range g.names {
		shape := "  t%d[\"%s\"]\n"
		label := mermaidText(name)
		if g.critical[name] {
			shape, label = "  t%d[[\"%s\"]]:::critical\n", label+"<br>critical"
		}
		fmt.Fprintf(&b, shape, i, label)
	}
	for _, e := range g.edges {
		fmt.Fprintf(&b, "  t%d -->|\"%s\"| t%d\n", e.from, mermaidText(e.label()), e.to)
	}
	dashes := map[Level]string{High: "8 5", Unknown: "2 4"}
	for i, e := range g.edges {
		if dash := dashes[e.Effective()]; dash != "" {
			fmt.Fprintf(&b, "  linkStyle %d stroke-dasharray:%s\n", i, dash)
		}
	}
	b.WriteString("  classDef critical stroke-width:3px\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// DOT writes the map as a Graphviz graph, drawn as Mermaid draws it.
func (m Map) DOT(w io.Writer) error {
	g := m.graph()
	styles := map[Level]string{Low: "solid", High: "dashed", Unknown: "dotted"}
	var b strings.Builder
	b.WriteString("digraph capability_map {\n  rankdir=LR;\n  node [shape=box];\n")
	for i, name := range g.names {
		if g.critical[name] {
			fmt.Fprintf(&b, "  t%d [label=\"%s\\ncritical\", peripheries=2];\n", i, dotText(name))
		} else {
			fmt.Fprintf(&b, "  t%d [label=\"%s\"];\n", i, dotText(name))
		}
	}
	for _, e := range g.edges {
		fmt.Fprintf(&b, "  t%d -> t%d [label=\"%s\", style=%s];\n", e.from, e.to, dotText(e.label()), styles[e.Effective()])
	}
	b.WriteString("}\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// graph is the map as numbered nodes, in order of first mention, and edges.
type graph struct {
	names    []string
	critical map[string]bool
	edges    []edge
}

type edge struct {
	Alternative
	from, to int
}

func (m Map) graph() graph {
	g := graph{names: m.Mentioned(), critical: map[string]bool{}}
	number := make(map[string]int, len(g.names))
	for i, name := range g.names {
		number[name] = i
	}
	for _, e := range m {
		g.critical[e.Tool] = e.critical()
		if e.NoSubstitute {
			continue
		}
		for _, a := range e.Alternatives {
			g.edges = append(g.edges, edge{a, number[e.Tool], number[a.Tool]})
		}
	}
	return g
}

func (e edge) label() string {
	level := e.Effective().String()
	switch {
	case e.Degradation == "":
		return level
	case strings.HasPrefix(e.Degradation, level):
		return e.Degradation
	}
	return level + ": " + e.Degradation
}

// plain cuts a label and puts spaces for what does not print.
func plain(text string) string {
	const most = 100
	runes := []rune(text)
	if len(runes) > most {
		runes = append(runes[:most-1], '…')
	}
	for i, r := range runes {
		if !unicode.IsPrint(r) {
			runes[i] = ' '
		}
	}
	return string(runes)
}

// mermaidText writes every sign that Mermaid or HTML might take for its own as
// a numeric entity.
func mermaidText(text string) string {
	var b strings.Builder
	for _, r := range plain(text) {
		if r < 0x80 && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(" .,:-_/'()", r) {
			fmt.Fprintf(&b, "#%d;", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

var dotEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

func dotText(text string) string { return dotEscapes.Replace(plain(text)) }
