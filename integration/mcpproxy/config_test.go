package mcpproxy

import (
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/capability/document"
	"github.com/expediter-go/expediter/expediter"
)

var update = flag.Bool("update", false, "write the golden files anew")

func testEnv(name string) string {
	return map[string]string{"TOKEN": "sesame-open", "HOME": "/home/me", "DOLLAR": "${TOKEN}"}[name]
}

// Files as clients write them.
func TestReadConfigOfClients(t *testing.T) {
	files := Server{Name: "files", Command: "npx", Args: []string{"-y", "@modelcontextprotocol/server-filesystem", "/srv"}}
	tests := []struct {
		name, file, in string
		want           []Server
	}{
		{"Claude Desktop", "claude_desktop_config.json", `{"mcpServers":{"files":{"command":"npx","args":["-y","@modelcontextprotocol/server-filesystem","/srv"]}},"globalShortcut":"","preferences":{"a":1}}`,
			[]Server{files}},
		{"Claude Code", ".mcp.json", `{"mcpServers":{
			"api":{"type":"http","url":"${API:-https://api.example.com}/mcp","headers":{"Authorization":"Bearer ${TOKEN}"},"timeout":60000},
			"files":{"type":"stdio","command":"npx","args":["-y","@modelcontextprotocol/server-filesystem","/srv"],"env":{}}}}`,
			[]Server{{Name: "api", URL: "https://api.example.com/mcp", Header: map[string]string{"Authorization": "Bearer sesame-open"}, Timeout: time.Minute}, files}},
		{"Cursor", "mcp.json", `{"mcpServers":{"a":{"command":"${userHome}/bin/a","env":{"KEY":"${env:TOKEN}"}},"b":{"url":"http://localhost:3000/mcp"}}}`,
			[]Server{{Name: "a", Command: "/home/me/bin/a", Env: map[string]string{"KEY": "sesame-open"}}, {Name: "b", URL: "http://localhost:3000/mcp"}}},
		{"VS Code, with comments", "mcp.json", `// servers
{
	/* those of the
	   project */
	"inputs": [{"id": "x", "type": "promptString"}],
	"servers": {
		"io.example/files": {"type": "stdio", "command": "npx", "args": ["x",], "cwd": "/srv", "env": {"A": null}, "dev": {"watch": "x"}},
	},
}`, []Server{{Name: "io.example/files", Command: "npx", Args: []string{"x"}, Dir: "/srv", Env: map[string]string{}}}},
		{"VS Code, settings", "settings.json", `{"editor.fontSize":12,"mcp":{"servers":{"a":{"command":"a"}}}}`,
			[]Server{{Name: "a", Command: "a"}}},
		{"Windsurf", "mcp_config.json", `{"mcpServers":{"a":{"serverUrl":"https://a.example/mcp","headers":{"X-Key":"${env:TOKEN}"},"disabledTools":[]}}}`,
			[]Server{{Name: "a", URL: "https://a.example/mcp", Header: map[string]string{"X-Key": "sesame-open"}}}},
		{"Zed", "settings.json", `{"theme":"x","context_servers":{"a":{"source":"custom","enabled":true,"command":"a","args":["--b"],"env":{"C":"d"},"settings":{}},
			"old":{"command":{"path":"o","args":["p"],"env":{"Q":"r"}},"settings":{}}}}`,
			[]Server{{Name: "a", Command: "a", Args: []string{"--b"}, Env: map[string]string{"C": "d"}},
				{Name: "old", Command: "o", Args: []string{"p"}, Env: map[string]string{"Q": "r"}}}},
		{"Cline and Roo", "cline_mcp_settings.json", `{"mcpServers":{"a":{"type":"streamableHttp","url":"https://a.example","disabled":false,"timeout":60,"autoApprove":["x"],"alwaysAllow":[]},
			"off":{"type":"sse","url":"${NOWHERE}","disabled":true}}}`,
			[]Server{{Name: "a", URL: "https://a.example", Timeout: time.Minute}, {Name: "off", Disabled: true}}},
		{"Gemini", "settings.json", `{"mcpServers":{"a":{"httpUrl":"https://a.example","trust":true,"timeout":600000,"description":"d"}}}`,
			[]Server{{Name: "a", URL: "https://a.example", Timeout: 10 * time.Minute}}},
		{"Copilot", "mcp-config.json", `{"mcpServers":{"a":{"type":"local","command":"a","args":[],"tools":["*"]}}}`,
			[]Server{{Name: "a", Command: "a"}}},
		{"YAML", "proxy.yaml", "mcpServers:\n  a: {command: a, args: [1, yes, '$TOKEN', '${DOLLAR}'], timeout: 30s}\n",
			[]Server{{Name: "a", Command: "a", Args: []string{"1", "yes", "$TOKEN", "${TOKEN}"}, Timeout: 30 * time.Second}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ReadConfig(tt.file, []byte(tt.in), testEnv)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got.Servers); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(expediter.Interactive(), got.Policy); diff != "" {
				t.Errorf("policy (-want +got)\n%s", diff)
			}
		})
	}
}

func TestReadConfig(t *testing.T) {
	got, err := ReadConfig("proxy.yaml", []byte(`
mcpServers:
  a: {command: a}
  b: {url: "https://b.example"}
capability_map:
  - tool: a/search
    provides: search
    alternatives: [{tool: b/find, degradation: slower, passthrough: true}]
    fallback: ask the user
  - {tool: b, fallback: ask the user}
  - {tool: a_b/x, fallback: ask the user}
  - {tool: plain, fallback: ask the user}
expediter: {failure_threshold: 2}
proxy:
  deadline: 90s
  progress_extends: true
  idle_gap: 10m
  listen_token: ${TOKEN}
  max_sessions: 3
  max_in_flight: 4
  max_result: 5000000000
  record_arguments: true
  strict: true
`), testEnv)
	if err != nil {
		t.Fatal(err)
	}
	policy := expediter.Interactive()
	policy.FailureThreshold = 2
	want := Config{
		Servers: []Server{{Name: "a", Command: "a"}, {Name: "b", URL: "https://b.example"}},
		Tools: capability.Map{
			{Tool: "a/search", Provides: "search", Fallback: "ask the user",
				Alternatives: []capability.Alternative{{Tool: "b/find", Degradation: "slower", Passthrough: true}}},
			{Tool: "b", Fallback: "ask the user"}, {Tool: "a_b/x", Fallback: "ask the user"}, {Tool: "plain", Fallback: "ask the user"}},
		Policy: policy,
		Strict: true,
		Proxy: Options{Deadline: 90 * time.Second, ProgressExtends: true, IdleGap: 10 * time.Minute, ListenToken: "sesame-open",
			MaxSessions: 3, MaxInFlight: 4, MaxResult: 5_000_000_000, RecordArguments: true},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(Config{}, "Warnings")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	warning := `proxy.yaml:11:12: warning: no server is called "a_b"; did you mean "a/x"?`
	if len(got.Warnings) != 1 || got.Warnings[0].String() != warning {
		t.Errorf("warnings: got %v, want %s", got.Warnings, warning)
	}
}

func TestReadConfigFaithful(t *testing.T) {
	got, err := ReadConfig("p", []byte("mcpServers: {a: {command: a}}\nexpediter: {policy: faithful, budget: 9}"), testEnv)
	want := expediter.Faithful()
	want.Budget = 9
	if diff := cmp.Diff(want, got.Policy); diff != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
}

func TestReadConfigReportsAllAtOnce(t *testing.T) {
	_, err := ReadConfig("p.yaml", []byte(`mcpServers:
  none: {}
  both: {command: a, url: "https://a.example"}
  typo: {comand: a}
  empty: {command: ""}
  unset: {command: "${NOPE}", args: ["${TOKEN", "${input:key}", "${workspaceFolder}/x", "${a b}"]}
  sse: {type: sse, url: "https://u:secret@a.example"}
  bad: {url: "a.example?secret"}
  header: {url: "https://a.example", headers: {"a b": "x", c: "d\ne"}}
  env: {command: a, env: {"A=B": x, C: [1]}}
  time: {command: a, timeout: 3600}
  time2: {command: a, timeout: 5y}
  time3: {command: a, timeout: -5s}
  file: {command: a, envFile: .env, excludeTools: [x]}
  text: npx
  args: {command: a, args: x}
  none: {command: a}
  " ": {command: a}
  twice: {command: a, command: b}
  flag: {command: a, disabled: 1}
capabilty_map: []
capability_map:
  - {tool: "a/b"}
expediter: {budget: -7}
proxy: {deadline: -1s, idle_gap: 0s, max_sessions: 0, listen_token: "a b", tokn: x}
`), testEnv)
	got := ""
	if err != nil {
		got = err.Error()
	}
	golden := "testdata/config_problems.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(got+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got+"\n", "\n")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if strings.Contains(got, "secret") {
		t.Error("an address came through")
	}
}

func TestReadConfigRefuses(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"nothing", "", "p:1:1: the document is empty"},
		{"a list", "[]", "p:1:1: the configuration is a list; begin it with mcpServers, as in the file of an MCP client"},
		{"no servers", "{}", "p:1:1: no server; add mcpServers as in the file of an MCP client: a name, and below it command or url"},
		{"servers of another kind", "mcpServers: [a]", "p:1:13: want a mapping, found a list; write each server's name, and below it its command or its url"},
		{"one name in two lists", `{"servers":{"a":{"command":"a"}},"mcpServers":{"a":{"command":"a"}}}`, `p:1:13: repeated server "a", already on line 1; keep one of the two, or rename one`},
		{"hostile depth", strings.Repeat("[", 100_000), "p:1:1: no valid YAML: exceeded max depth"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ReadConfig("p", []byte(tt.in), testEnv)
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

func FuzzReadConfig(f *testing.F) {
	f.Add("p.json", `{"mcpServers":{"a":{"command":"${A:-b}","args":["${"],"timeout":60}}, /* x */}`)
	f.Add("p.yaml", "servers: {a: {url: 'https://a', headers: {b: c}}}\nproxy: {deadline: 1s}\n")
	f.Add("p", `{"context_servers":{"a":{"command":{"path":"a"}}}}`)
	f.Add("p", `{"servers":{"a":{"url":"https://a","oauth":{"clientId":"b","scope":"c d","redirectUri":"http://[::1]:8/x"}}}}`)
	f.Fuzz(func(t *testing.T, name, in string) {
		c, err := ReadConfig(name, []byte(in), testEnv)
		if err != nil {
			if _, ok := err.(document.Problems); !ok {
				t.Errorf("the error is a %T", err)
			}
			return
		}
		seen := map[string]bool{}
		for _, s := range c.Servers {
			if s.Name == "" || seen[s.Name] || !s.Disabled && (s.Command == "") == (s.URL == "") {
				t.Errorf("a server came through that cannot be one: %+v", s)
			}
			seen[s.Name] = true
		}
	})
}

// Files that are shown are good files.
func TestShownConfigs(t *testing.T) {
	read := func(path string) string {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	shown := []string{read("../../examples/proxy/proxy.yaml")}
	for _, page := range []string{"../../docs/proxy.md", "../../README.md"} {
		found := 0
		for _, m := range regexp.MustCompile("(?ms)^```(?:yaml|json)\n(.*?)^```$").FindAllStringSubmatch(read(page), -1) {
			if strings.Contains(m[1], "mcpServers") {
				shown = append(shown, m[1])
				found++
			}
		}
		if found == 0 {
			t.Errorf("%s shows no configuration", page)
		}
	}
	for _, text := range shown {
		c, err := ReadConfig("shown", []byte(text), testEnv)
		if err != nil || len(c.Warnings) > 0 {
			t.Errorf("%v %v in\n%s", err, c.Warnings, text)
		}
		if err == nil && checkDecisions(c) != nil {
			t.Errorf("%v in\n%s", checkDecisions(c), text)
		}
	}
}
