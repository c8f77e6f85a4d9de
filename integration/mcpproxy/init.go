package mcpproxy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/capability/document"
	"github.com/expediter-go/expediter/cascade/redact"
)

// ToolInfo is what a server says of a tool: hostile text, and claims.
type ToolInfo struct {
	Name, Description     string
	ReadOnly, Destructive bool
}

// ListTools starts or connects a server, lists its tools, and ends it again. It
// waits as long as ctx lasts, at most a minute for each step. Secrets of the
// server's configuration are masked in the error.
func ListTools(ctx context.Context, s Server, log *zap.Logger) ([]ToolInfo, error) {
	if log == nil {
		log = zap.NewNop()
	}
	u := newUpstream(s, Options{}, upstreamEvents{}, log)
	u.auth.wait() // nobody is there to log in
	l, err := u.connect(ctx)
	if err != nil {
		if ctx.Err() != nil {
			err = fmt.Errorf("it did not list its tools in time: %w", err)
		}
		return nil, errors.New(u.clean(err))
	}
	l.cancel(context.Canceled)
	<-l.ended
	var list []ToolInfo
	for _, t := range u.tools() {
		var said struct{ Description string }
		_ = json.Unmarshal(t.Raw, &said) // what is not said so is not known
		a, _ := t.hints()
		info := ToolInfo{Name: t.Name, Description: said.Description, ReadOnly: a.ReadOnly != nil && *a.ReadOnly}
		info.Destructive = a.Destructive != nil && *a.Destructive && !info.ReadOnly
		list = append(list, info)
	}
	return list, nil
}

// Bounds of a starting configuration.
const (
	maxListings   = 8 // servers that are started at a time
	maxStartTools = 4000
	maxProvides   = 120 // characters
	maxWhy        = 300
)

// started is one server of a starting configuration.
type started struct {
	Server
	node  *document.Node
	why   error // why the configuration cannot be used as it is
	tools []ToolInfo
	down  error // why it lists no tools
}

// Init writes a starting configuration of the servers in a client's file, named
// from, to w: the servers as written there, and an entry of the capability map
// for each of their tools. Alternatives are guesses by the tools' names, between
// servers, and say so. list is asked for each server's tools, several servers at
// a time; see ListTools. What a server cannot do is a comment in the result and
// one of the warnings. The error is a document.Problems, that of ctx, or of w.
func Init(ctx context.Context, from string, data []byte, env func(string) string,
	list func(context.Context, Server) ([]ToolInfo, error), w io.Writer) (warnings []string, err error) {
	root, err := parseConfig(from, data)
	if err != nil {
		return nil, err
	}
	r := configReader{env: env}
	var all []*started
	r.eachServer(root, func(name string, n *document.Node) {
		before := len(r.problems)
		s := &started{Server: r.server(name, n), node: n}
		s.why = r.problems[before:].Err()
		r.problems = r.problems[:before:before]
		all = append(all, s)
	})
	if err := r.problems.Err(); err != nil {
		return nil, err
	}
	var g errgroup.Group
	g.SetLimit(maxListings)
	for _, s := range all {
		if s.why == nil && !s.Disabled {
			g.Go(func() error { s.tools, s.down = list(ctx, s.Server); return nil })
		}
	}
	_ = g.Wait() // always nil
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	b := &starter{all: all}
	b.write(from)
	_, err = w.Write(b.Bytes())
	return b.warnings, err
}

// starter writes a starting configuration.
type starter struct {
	bytes.Buffer
	all      []*started
	warnings []string
	entries  int
}

func (b *starter) write(from string) {
	fmt.Fprintf(b, "# A starting configuration for 'expediter proxy', made of %s.\n", redact.Text(from, maxWhy))
	b.WriteString("# Read it before you use it: alternatives are guesses by name.\n\nmcpServers:")
	if !b.usable() {
		b.WriteString(" {}")
	}
	b.WriteString("\n")
	for _, s := range b.all {
		b.server(s)
	}
	b.WriteString("\ncapability_map:\n")
	mark := b.Len()
	for _, s := range b.all {
		b.toolsOf(s)
	}
	if b.entries == 0 {
		rest := string(b.Bytes()[mark:])
		b.Truncate(mark - 1)
		b.WriteString(" []\n" + rest)
	}
	b.WriteString(tail)
}

const tail = `
# expediter:
#   policy: interactive      # or faithful; single values beside it (docs/task.md)
# proxy:
#   deadline: 10m            # of one call
#   progress_extends: false  # true: each sign of progress begins the deadline anew
#   idle_gap: 5m             # without a call, after which the failure budget is full again
`

func (b *starter) usable() bool {
	for _, s := range b.all {
		if s.why == nil {
			return true
		}
	}
	return false
}

// warn writes a comment and keeps it as a warning.
func (b *starter) warn(s *started, text string) {
	text = redact.Text(fmt.Sprintf("server %s: %s", document.Quote(s.Name), text), maxWhy)
	b.comment("  ", text)
	b.warnings = append(b.warnings, text)
}

func (b *starter) comment(indent, text string) { fmt.Fprintf(b, "%s# %s\n", indent, text) }

// server writes a server as it was written; one that cannot be used so, as a
// comment.
func (b *starter) server(s *started) {
	indent := "  "
	if s.why != nil {
		for line := range strings.Lines(s.why.Error()) {
			b.warn(s, strings.TrimSpace(line))
		}
		indent = "  # "
	}
	fmt.Fprintf(b, "%s%s:\n", indent, yamlText(s.Name))
	if s.node.Kind != document.Mapping {
		return
	}
	for key, item := range s.node.Fields() {
		fmt.Fprintf(b, "%s  %s: ", indent, yamlText(key.Text()))
		b.flow(item)
		b.WriteString("\n")
	}
}

// flow writes a value on one line.
func (b *starter) flow(n *document.Node) {
	between := ""
	switch n.Kind {
	case document.Mapping:
		b.WriteString("{")
		for key, item := range n.Fields() {
			b.WriteString(between + yamlText(key.Text()) + ": ")
			b.flow(item)
			between = ", "
		}
		b.WriteString("}")
	case document.Sequence:
		b.WriteString("[")
		for _, item := range n.Items() {
			b.WriteString(between)
			b.flow(item)
			between = ", "
		}
		b.WriteString("]")
	case document.Scalar:
		var v any
		if err := n.Decode(&v); err != nil {
			v = n.Text()
		}
		if _, text := v.(string); text {
			b.WriteString(strconv.Quote(n.Text()))
		} else {
			b.WriteString(n.Text())
		}
	default:
		b.WriteString("null")
	}
}

// yamlText quotes a key where it must be.
func yamlText(key string) string {
	odd := func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-'
	}
	plain := key != "" && key[0] > '9' && strings.IndexFunc(key, odd) < 0
	switch strings.ToLower(key) {
	case "y", "yes", "n", "no", "on", "off", "true", "false", "null":
		plain = false
	}
	if plain {
		return key
	}
	return strconv.Quote(key)
}

// toolsOf writes the entries of a server's tools.
func (b *starter) toolsOf(s *started) {
	switch {
	case s.why != nil:
		return
	case s.Disabled:
		b.comment("  ", redact.Text(fmt.Sprintf("server %s is disabled: its tools were not listed", document.Quote(s.Name)), maxWhy))
		return
	case s.down != nil:
		b.warn(s, "its tools could not be listed: "+s.down.Error())
		return
	}
	for _, t := range s.tools {
		if b.entries == maxStartTools {
			b.warn(s, fmt.Sprintf("the map ends after %d tools; an entry may serve a whole server (tool: SERVER)", maxStartTools))
			return
		}
		b.tool(s, t)
	}
}

func (b *starter) tool(s *started, t ToolInfo) {
	e := capability.Entry{
		Tool:         s.Name + "/" + t.Name,
		Provides:     provides(t),
		Alternatives: b.alternatives(s, t),
	}
	e.Fallback = "tell the user what " + redact.Text(t.Name, maxProvides) + " was needed for, and ask for it"
	if t.Destructive {
		e.SideEffects = capability.Destructive
	}
	var text bytes.Buffer
	if err := (capability.Map{e}).WriteYAML(&text); err != nil {
		b.warn(s, fmt.Sprintf("no entry for the tool %s: %v", document.Quote(t.Name), err))
		return
	}
	_, entry, _ := strings.Cut(text.String(), "\n")
	b.WriteString(entry)
	if t.ReadOnly {
		b.comment("    ", "the server says that it only reads; if you trust it: side_effects: none")
	}
	b.entries++
}

// provides is the beginning of the description, on one line.
func provides(t ToolInfo) string {
	first, _, _ := strings.Cut(strings.TrimSpace(t.Description), "\n")
	if end := strings.Index(first, ". "); end > 0 {
		first = first[:end]
	}
	if text := strings.TrimSuffix(redact.Text(first, maxProvides), "."); text != "" {
		return text
	}
	return "to be described in one line"
}
