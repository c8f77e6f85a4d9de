package mcpproxy

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tailscale/hujson"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/capability/document"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/internal/task"
)

// ReadConfig reads a configuration in YAML or JSON, in which comments and
// trailing commas are fine, as clients write them. name is the file's name for
// messages; env gives the variables that `${NAME}` stands for, an empty one is
// not set. The error is a document.Problems with everything that is wrong.
//
// The servers stand as in a client's own file: below mcpServers, servers (VS
// Code) or context_servers (Zed), and what else such a file holds is passed over.
func ReadConfig(name string, data []byte, env func(string) string) (Config, error) {
	root, err := parseConfig(name, data)
	if err != nil {
		return Config{}, err
	}
	r := configReader{env: env}
	c := Config{Policy: expediter.Interactive(), Servers: r.servers(root)}
	if !slices.ContainsFunc(c.Servers, func(s Server) bool { return !s.Disabled }) {
		r.problems = append(r.problems, root.Warning("every server is disabled", "enable one, or the proxy has nothing but its own tools"))
	}
	r.top(root)
	c.Tools = r.tools(root.Key("capability_map"), c.Servers)
	c.Policy = r.policy(root.Key("expediter"), root.Key("capability_map"), c.Tools)
	c.Proxy, c.Strict = r.options(root.Key("proxy"))
	if err := r.problems.Err(); err != nil {
		return Config{}, err
	}
	c.Warnings = r.problems.Warnings()
	return c, nil
}

// configReader collects what is wrong.
type configReader struct {
	env      func(string) string
	problems document.Problems
}

func (r *configReader) fail(n *document.Node, what, do string) {
	r.problems = append(r.problems, n.Problem(what, do))
}

func (r *configReader) failed(err error) {
	if problems, ok := err.(document.Problems); ok {
		r.problems = append(r.problems, problems...)
	}
}

// parseConfig takes comments and trailing commas out of what looks like JSON,
// with every value kept in its place. What is nested too deep is left to the
// reader of documents: that of comments sets itself no limit.
func parseConfig(name string, data []byte) (*document.Node, error) {
	text := bytes.TrimLeft(bytes.TrimPrefix(data, []byte("\ufeff")), " \t\r\n")
	if len(data) <= document.MaxBytes && len(text) > 0 && (text[0] == '{' || text[0] == '/') && flat(text) {
		if plain, err := hujson.Standardize(bytes.Clone(text)); err == nil {
			ahead := bytes.Clone(data[:len(data)-len(text)])
			return document.Parse(name, append(bytes.TrimPrefix(ahead, []byte("\ufeff")), plain...))
		}
	}
	return document.Parse(name, data)
}

// serverKeys are where clients keep their servers.
var serverKeys = []string{"mcpServers", "servers", "context_servers"}

// topKeys are the keys of the file that are ours.
var topKeys = append([]string{"capability_map", "expediter", "proxy"}, serverKeys...)

// top finds repeated keys and misspelt ones. All others are a client's own.
func (r *configReader) top(root *document.Node) {
	if root.Kind != document.Mapping {
		r.fail(root, "the configuration is "+root.Kind.String(), "begin it with mcpServers, as in the file of an MCP client")
		return
	}
	lines := map[string]int{}
	for key := range root.Fields() {
		text := key.Text()
		if line, ok := lines[text]; ok {
			r.fail(key, fmt.Sprintf("repeated key %s, already on line %d", document.Quote(text), line), "keep one of the two")
		}
		lines[text] = key.Line
		r.misspelt(key, topKeys)
	}
}

// misspelt complains about a key that is most likely meant to be one of ours.
func (r *configReader) misspelt(key *document.Node, ours []string) {
	near := document.Nearest(key.Text(), ours)
	if near != "" && near != key.Text() {
		r.fail(key, "unknown key "+document.Quote(key.Text()), fmt.Sprintf("did you mean %q?", near))
	}
}

func (r *configReader) tools(n *document.Node, servers []Server) capability.Map {
	m, warnings, err := capability.FromNode(n)
	r.failed(err)
	r.problems = append(r.problems, warnings...)
	byKey := map[string]bool{}
	var names []string
	for _, s := range servers {
		byKey[s.Name] = true
		names = append(names, s.Name)
	}
	for i, e := range m {
		if server, _, ok := strings.Cut(e.Tool, "/"); ok && !byKey[server] && !serves(byKey, e.Tool) {
			do := "write SERVER/TOOL with a server of this file"
			if near := document.Nearest(server, names); near != "" {
				do = fmt.Sprintf("did you mean %s?", document.Quote(near+e.Tool[len(server):]))
			}
			r.problems = append(r.problems, n.Items()[i].Key("tool").Warning(
				"no server is called "+document.Quote(server), do))
		}
	}
	return m
}

// serves finds a server whose own name has slashes.
func serves(servers map[string]bool, tool string) bool {
	_, ok := capability.Nearest(servers, tool)
	return ok
}

// policy is interactive unless the file says otherwise (SPEC section 6).
func (r *configReader) policy(section, entries *document.Node, m capability.Map) expediter.Policy {
	named, own, problems := task.ReadPolicy(section, entries, m)
	r.problems = append(r.problems, problems...)
	base := expediter.Interactive()
	if named != "" {
		var err error
		if base, err = expediter.PolicyNamed(named); err != nil {
			return base // reported by ReadPolicy
		}
	}
	p := own.Over(base)
	if len(problems) == 0 {
		r.problems = append(r.problems, section.Place(p.Validate(true))...)
	}
	return p
}

// longest bounds every length of time in a configuration.
const longest = 7 * 24 * time.Hour

func (r *configReader) options(n *document.Node) (Options, bool) {
	var raw struct {
		Options
		ListenToken *document.Node `json:"listen_token"` // read below
		Fleet       *document.Node `json:"fleet"`        // likewise
		Strict      bool           `json:"strict"`
	}
	r.failed(n.Decode(&raw))
	o := raw.Options
	r.length(n.Key("deadline"), o.Deadline)
	r.length(n.Key("idle_gap"), o.IdleGap)
	r.count(n.Key("max_sessions"), int64(o.MaxSessions))
	r.count(n.Key("max_in_flight"), int64(o.MaxInFlight))
	r.count(n.Key("max_result"), o.MaxResult)
	if fleet := n.Key("fleet"); fleet != nil {
		o.Fleet = r.required(fleet, "the fleet is empty", "remove the key, or write a URL such as redis://localhost/0?scope=team")
	}
	if token := n.Key("listen_token"); token != nil {
		o.ListenToken = r.required(token, "the token is empty", "remove the key, or write a token")
		if strings.ContainsFunc(o.ListenToken, func(c rune) bool { return c <= ' ' || c > '~' }) {
			r.fail(token, "the token has characters that a header cannot carry", "use letters, digits and signs of ASCII, without spaces")
		}
	}
	return o, raw.Strict
}

func (r *configReader) length(n *document.Node, d time.Duration) {
	if d < 0 || d > longest || d == 0 && n != nil && n.Kind == document.Scalar && n.Text() != "" && strings.Trim(n.Text(), "0ms") == "" {
		r.fail(n, "the length of time "+document.Quote(n.Text())+" is out of range", "write more than 0 and at most 168h, or remove the key for the default")
	}
}

func (r *configReader) count(n *document.Node, v int64) {
	if v < 0 || v == 0 && n != nil && n.Text() == "0" {
		r.fail(n, "the limit "+document.Quote(n.Text())+" is out of range", "write 1 or more, or remove the key for the default")
	}
}
