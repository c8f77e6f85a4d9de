package task

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/capability/document"
)

type rawTool struct {
	Command     *document.Node    `json:"command"`
	Dir         string            `json:"dir"`
	Env         map[string]string `json:"env"`
	Deadline    *time.Duration    `json:"deadline"`
	OutputLimit *int              `json:"output_limit"`
	OKExit      []int             `json:"ok_exit"`
	Precheck    Precheck          `json:"precheck"`
	Classify    *document.Node    `json:"classify"`
}

func (r *reader) tools(root, n *document.Node) {
	if n == nil || n.Kind != document.Mapping || len(n.Keys()) == 0 {
		place := n
		if n == nil {
			place = root
		}
		r.fail(place, "the task has no tools", "add tools: a mapping from each tool's name to its command")
		return
	}
	if len(n.Keys()) > MaxTools {
		r.failf(n, fmt.Sprintf("define at most %d", MaxTools), "%d tools", len(n.Keys()))
		return
	}
	taken := r.names("tool")
	for key, value := range n.Fields() {
		if key.Text() == "" {
			r.fail(key, "a tool without a name", "name it")
			continue
		}
		if !taken(key, key.Text()) {
			r.tool(key, value)
		}
	}
}

func (r *reader) tool(key, n *document.Node) {
	var raw rawTool
	if n.Kind != document.Mapping {
		r.fail(n, "a tool is a mapping, found "+n.Kind.String(), "write command: [program, arguments…] below its name")
		return
	}
	r.add(n.Decode(&raw))
	t := Tool{Name: key.Text(), Dir: raw.Dir, Env: raw.Env, OKExit: raw.OKExit, Precheck: raw.Precheck,
		Deadline: DefaultDeadline, OutputLimit: DefaultOutputLimit}
	if raw.Deadline != nil {
		t.Deadline = *raw.Deadline
		if t.Deadline <= 0 || t.Deadline > MaxDeadline {
			r.failf(n.Key("deadline"), fmt.Sprintf("give more than 0s and at most %s", MaxDeadline), "deadline %s", t.Deadline)
		}
	}
	if raw.OutputLimit != nil {
		t.OutputLimit = *raw.OutputLimit
		if t.OutputLimit < 1 || t.OutputLimit > MaxOutputLimit {
			r.failf(n.Key("output_limit"), fmt.Sprintf("give 1 to %d bytes", MaxOutputLimit), "output_limit %d", t.OutputLimit)
		}
	}
	if len(t.OKExit) == 0 {
		t.OKExit = []int{0}
	}
	rules, err := capability.ReadRules(raw.Classify)
	r.add(err)
	t.Classify = rules
	r.environment(n.Key("env"))
	t.command = r.command(n, raw.Command)
	r.file.Tools = append(r.file.Tools, t)
}

func (r *reader) environment(n *document.Node) {
	for key, value := range n.Fields() {
		if key.Text() == "" || strings.ContainsAny(key.Text(), "=\x00") || strings.Contains(value.Text(), "\x00") {
			r.failf(key, "name it in letters, digits and underscores", "%s cannot be an environment variable", document.Quote(key.Text()))
		}
	}
}

func (r *reader) command(tool, n *document.Node) []template {
	if n == nil || n.Kind == document.Null {
		r.fail(tool, "the tool has no command", "add command: [program, arguments…]")
		return nil
	}
	if n.Kind != document.Sequence || len(n.Items()) == 0 {
		r.fail(n, "a command is a list of the program and its arguments, found "+n.Kind.String(),
			"write it as [program, argument, …]; nothing splits a line for you")
		return nil
	}
	var command []template
	for i, item := range n.Items() {
		if item.Kind != document.Scalar || i == 0 && item.Text() == "" || strings.Contains(item.Text(), "\x00") {
			r.fail(item, "no usable element of a command", "write text, in quotes where it looks like something else")
			continue
		}
		t, err := parseTemplate(item.Text())
		if err != nil {
			r.fail(item, err.Error(), "write ${name} in lower-case letters, digits and underscores, or $${ for a literal ${")
			continue
		}
		if i == 0 && slices.ContainsFunc(t, func(p piece) bool { return p.name }) {
			r.fail(item, "the program itself is a placeholder", "name the program; only its arguments can vary")
			continue
		}
		command = append(command, t)
	}
	return command
}

// args reads the values of one call of a tool and holds them against the
// names that its command takes.
func (r *reader) args(place, n *document.Node, t Tool) Args {
	args := Args{}
	if n != nil {
		r.add(n.Decode(&args))
	}
	params := t.Params()
	for key, value := range n.Fields() {
		if !slices.Contains(params, key.Text()) {
			r.failf(key, useOneOf(key.Text(), params), "tool %s takes no %s", document.Quote(t.Name), document.Quote(key.Text()))
		}
		if strings.Contains(value.Text(), "\x00") {
			r.fail(value, "a NUL character cannot be passed to a program", "remove it")
		}
	}
	if missing := without(params, args); len(missing) > 0 {
		r.failf(place, "give its value", "the call of %s lacks %s", document.Quote(t.Name), strings.Join(missing, ", "))
	}
	return args
}

// without lists the names that args has no value for.
func without(names []string, args Args) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		_, given := args[name]
		return given
	})
}

func useOneOf(name string, known []string) string {
	if near := document.Nearest(name, known); near != "" {
		return "did you mean " + document.Quote(near) + "?"
	}
	if len(known) == 0 {
		return "remove it; the command has no placeholders"
	}
	return "use " + strings.Join(known, ", ")
}

// cloneArgs keeps the values of args that a tool takes.
func (t Tool) cloneArgs(args Args) Args {
	params := t.Params()
	kept := maps.Clone(args)
	maps.DeleteFunc(kept, func(name, _ string) bool { return !slices.Contains(params, name) })
	return kept
}
