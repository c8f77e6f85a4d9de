package mcpproxy

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/expediter-go/expediter/capability/document"
)

// maxServerName bounds a server's name, in bytes, as a part of its tools' keys.
const maxServerName = 128

// servers reads those of every key that holds some.
func (r *configReader) servers(root *document.Node) []Server {
	var list []Server
	r.eachServer(root, func(name string, n *document.Node) { list = append(list, r.server(name, n)) })
	return list
}

// eachServer finds the servers; f reads one.
func (r *configReader) eachServer(root *document.Node, f func(name string, n *document.Node)) {
	lines := map[string]int{}
	for _, n := range serverLists(root) {
		if n.Kind != document.Mapping {
			r.fail(n, "want a mapping, found "+n.Kind.String(), "write each server's name, and below it its command or its url")
			continue
		}
		for key, item := range n.Fields() {
			name := key.Text()
			if line, ok := lines[name]; ok {
				r.fail(key, fmt.Sprintf("repeated server %s, already on line %d", document.Quote(name), line), "keep one of the two, or rename one")
				continue
			}
			lines[name] = key.Line
			r.serverName(key)
			f(name, item)
		}
	}
	if len(lines) == 0 && len(r.problems) == 0 && root.Kind == document.Mapping {
		r.fail(root, "no server", "add mcpServers as in the file of an MCP client: a name, and below it command or url")
	}
}

// serverLists are the nodes that hold servers.
func serverLists(root *document.Node) []*document.Node {
	var lists []*document.Node
	for _, n := range []*document.Node{root, root.Key("mcp")} { // VS Code has both in its settings
		for _, key := range serverKeys {
			if at := n.Key(key); at != nil {
				lists = append(lists, at)
			}
		}
	}
	return lists
}

func (r *configReader) serverName(key *document.Node) {
	name := key.Text()
	switch {
	case name == "" || strings.TrimSpace(name) != name || strings.HasPrefix(name, "/") || strings.HasSuffix(name, "/"):
		r.fail(key, "the name of the server is "+document.Quote(name), "write one without spaces or slashes around it")
	case len(name) > maxServerName:
		r.fail(key, fmt.Sprintf("the name of the server has %d bytes", len(name)), fmt.Sprintf("write at most %d", maxServerName))
	case strings.ContainsFunc(name, isControl):
		r.fail(key, "the name of the server has control characters: "+document.Quote(name), "leave them out")
	}
}

func isControl(c rune) bool {
	return c < ' ' || c >= 0x7f && c < 0xa0 || c == '\u2028' || c == '\u2029'
}

// Keys of a server: ours, and those of clients that look like one of ours.
var (
	ownKeys = []string{"command", "args", "env", "cwd", "url", "headers", "timeout", "disabled", "enabled", "type", "oauth"}
	foreign = map[string]bool{"dev": true, "auth": true, "cmd": true, "gateway": true, "serverUrl": true, "httpUrl": true,
		"includeTools": true, "excludeTools": true, "enabledTools": true, "disabledTools": true, "allowedTools": true, "tools": true}
)

// refused are the keys that change what a server is, and that the proxy cannot
// honour: to pass them over would be worse than to say so.
var refused = map[string][2]string{
	"envFile":       {"the proxy reads no envFile", `write the variables below env, as "${NAME}"`},
	"headersHelper": {"the proxy runs no headersHelper", `write the headers below headers, as "Bearer ${NAME}"`},
}

func (r *configReader) server(name string, n *document.Node) Server {
	s := Server{Name: name}
	if n.Kind != document.Mapping {
		r.fail(n, "the server is "+n.Kind.String(), "write its command or its url below its name")
		return s
	}
	s.Disabled = r.flag(n.Key("disabled"), false) || !r.flag(n.Key("enabled"), true)
	if s.Disabled {
		return s // what it lacks will matter when it is enabled
	}
	command, old := n, n.Key("command")
	if old != nil && old.Kind == document.Mapping { // Zed, at first
		command = old
		s.Command = r.required(old.Key("path"), "the command is empty", "write the program that is the server")
	} else {
		s.Command = r.required(old, "the command is empty", "write the program that is the server")
	}
	s.Args = r.texts(command.Key("args"))
	s.Env = r.pairs(command.Key("env"), r.variableName)
	s.Dir = r.text(n.Key("cwd"))
	s.Header = r.pairs(n.Key("headers"), r.headerName)
	s.Timeout = r.timeout(n.Key("timeout"))
	at := r.address(n, &s)
	s.OAuth = r.oauth(n, s)
	r.kind(n, at)
	r.otherKeys(n)
	return s
}

// address finds the URL under the names that clients give it.
func (r *configReader) address(n *document.Node, s *Server) *document.Node {
	var at *document.Node
	for _, key := range []string{"url", "serverUrl", "httpUrl"} { // Windsurf, Gemini
		if u := n.Key(key); u != nil && at == nil {
			at = u
			s.URL = r.required(u, "the url is empty", "write it as https://HOST/PATH")
		}
	}
	if at == nil || s.URL == "" {
		return at
	}
	u, err := url.Parse(s.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		r.fail(at, "no address of a server", "write it as https://HOST/PATH") // not quoted: it may hold a secret
	}
	return at
}

// kind holds what the server says that it is against what it has.
func (r *configReader) kind(n, at *document.Node) {
	command := n.Key("command")
	switch {
	case command != nil && at != nil:
		r.fail(at, "the server has a command and a url", "keep one of the two")
	case command == nil && at == nil:
		r.fail(n, "the server has neither command nor url", "add one of the two")
	}
	said := n.Key("type")
	if said == nil {
		said = n.Key("transportType")
	}
	if strings.EqualFold(said.Text(), "sse") {
		r.fail(said, "the proxy does not speak the old transport sse", `give the server's address for Streamable HTTP, and write "http"`)
	}
}

// otherKeys finds misspelt keys, and what cannot be passed over.
func (r *configReader) otherKeys(n *document.Node) {
	lines := map[string]int{}
	for key, item := range n.Fields() {
		text := key.Text()
		if line, ok := lines[text]; ok {
			r.fail(key, fmt.Sprintf("repeated key %s, already on line %d", document.Quote(text), line), "keep one of the two")
		}
		lines[text] = key.Line
		if why, ok := refused[text]; ok && item.Kind != document.Null {
			r.fail(key, why[0], why[1])
		} else if !foreign[text] {
			r.misspelt(key, ownKeys)
		}
		if restricts(text, item) {
			r.fail(key, "the proxy shows all tools of a server, whatever "+document.Quote(text)+" says", "restrict them in the client, in its entry for the proxy, and remove the key here")
		}
	}
}

// restricts reports a key by which a client hides tools of a server.
func restricts(key string, item *document.Node) bool {
	switch key {
	case "tools", "includeTools", "excludeTools", "enabledTools", "disabledTools", "allowedTools":
		items := item.Items()
		return len(items) > 0 && (len(items) > 1 || items[0].Text() != "*")
	}
	return false
}

func (r *configReader) flag(n *document.Node, otherwise bool) bool {
	v := otherwise
	if n != nil && n.Kind != document.Null {
		r.failed(n.Decode(&v))
	}
	return v
}

// text reads one text, with its variables.
func (r *configReader) text(n *document.Node) string {
	var v string
	if n == nil || n.Kind == document.Null {
		return ""
	}
	r.failed(n.Decode(&v))
	v = r.expand(n, v)
	if strings.Contains(v, "\x00") {
		r.fail(n, "the text has a zero byte", "leave it out")
	}
	return v
}

// required is text that must not be empty.
func (r *configReader) required(n *document.Node, what, do string) string {
	before := len(r.problems)
	v := r.text(n)
	if v == "" && n != nil && len(r.problems) == before {
		r.fail(n, what, do)
	}
	return v
}

func (r *configReader) texts(n *document.Node) []string {
	if n == nil || n.Kind == document.Null {
		return nil
	}
	if n.Kind != document.Sequence {
		r.fail(n, "want a list, found "+n.Kind.String(), "write it as [ … ], or as lines that begin with a dash")
		return nil
	}
	var list []string
	for _, item := range n.Items() {
		list = append(list, r.text(item))
	}
	return list
}

// pairs reads names with texts; check looks at each name, and its text.
func (r *configReader) pairs(n *document.Node, check func(key *document.Node, value string)) map[string]string {
	if n == nil || n.Kind == document.Null || n.Kind == document.Mapping && len(n.Keys()) == 0 {
		return nil
	}
	if n.Kind != document.Mapping {
		r.fail(n, "want a mapping, found "+n.Kind.String(), "write each name with its value below it, indented")
		return nil
	}
	m, lines := map[string]string{}, map[string]int{}
	for key, item := range n.Fields() {
		if line, ok := lines[key.Text()]; ok {
			r.fail(key, fmt.Sprintf("repeated key %s, already on line %d", document.Quote(key.Text()), line), "keep one of the two")
			continue
		}
		lines[key.Text()] = key.Line
		if item.Kind == document.Null { // VS Code: not set
			continue
		}
		v := r.text(item)
		check(key, v)
		m[key.Text()] = v
	}
	return m
}

func (r *configReader) variableName(key *document.Node, _ string) {
	if name := key.Text(); name == "" || strings.ContainsAny(name, "=\x00") {
		r.fail(key, "no name of a variable: "+document.Quote(name), "write a name, and its value behind the colon")
	}
}

func (r *configReader) headerName(key *document.Node, value string) {
	if !isToken(key.Text()) {
		r.fail(key, "no name of a header: "+document.Quote(key.Text()), "write one such as Authorization")
	}
	if strings.ContainsFunc(value, func(c rune) bool { return c != '\t' && c < ' ' || c == 0x7f }) {
		r.fail(key, "the header's value has characters that a header cannot carry", "look for line ends in it")
	}
}

// timeout reads a length of time, or a number: of seconds (Cline, Roo) if it is
// less than a thousand, of milliseconds (Claude Code, Gemini) from ten thousand
// on. Between them nobody can tell.
func (r *configReader) timeout(n *document.Node) time.Duration {
	if n == nil || n.Kind == document.Null {
		return 0
	}
	var d time.Duration
	if v, err := strconv.ParseFloat(n.Text(), 64); err != nil {
		r.failed(n.Decode(&d))
	} else if v > 0 && v < 1000 {
		d = time.Duration(v * float64(time.Second))
	} else if v >= 10_000 && v <= float64(longest/time.Millisecond) {
		d = time.Duration(v) * time.Millisecond
	} else {
		r.fail(n, "the number "+document.Quote(n.Text())+" may be seconds or milliseconds, or is out of range", `write it with its unit, such as "60s"`)
		return 0
	}
	r.length(n, d)
	return d
}
