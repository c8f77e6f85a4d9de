package classify

import (
	"encoding/json"
	"strings"
	"testing"
)

type keyTest struct {
	name string
	o    Observation
	want string
}

func checkKeys(t *testing.T, tests []keyTest) {
	t.Helper()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Key(tt.o); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if got := Observe(tt.o).Key; got != tt.want {
				t.Errorf("Observe: got %q, want %q", got, tt.want)
			}
		})
	}
}

func in(s string) json.RawMessage { return json.RawMessage(s) }

func TestKey(t *testing.T) {
	checkKeys(t, []keyTest{
		{"a tool", Observation{Tool: "Grep"}, "Grep"},
		{"no tool", Observation{}, ""},
		{"control characters", Observation{Tool: "Gr\x1b[31mep\n"}, "Grep"},
		{"a tool with a path", Observation{Tool: "Bash/rg", Shell: "rg x"}, "Bash/rg"},
		{"a tool that is no shell", Observation{Tool: "Search", Argv: []string{"rg"}}, "Search"},
		{"a tool with a command that is no shell", Observation{Tool: "Task", Input: in(`{"command":"rg x"}`)}, "Task"},
	})
}

func TestKeyOfAShell(t *testing.T) {
	checkKeys(t, []keyTest{
		{"shell text", Observation{Tool: "Bash", Shell: "rg x"}, "Bash/rg"},
		{"a path, variables and sudo", Observation{Tool: "Bash", Shell: "A=1 sudo -u me /usr/bin/rg x"}, "Bash/rg"},
		{"after cd", Observation{Tool: "Bash", Shell: "cd /w && npm test"}, "Bash/npm"},
		{"a program in a variable", Observation{Tool: "Bash", Shell: "$TOOL x"}, "Bash"},
		{"an open quote", Observation{Tool: "Bash", Shell: "'rg"}, "Bash"},
		{"a redirection first", Observation{Tool: "Bash", Shell: ">out rg x"}, "Bash/rg"},
		{"a look-up by the shell", Observation{Tool: "Bash", Shell: "command -v rg"}, "Bash"},
		{"argv", Observation{Tool: "Bash", Argv: []string{"sh", "-c", "rg x"}}, "Bash/rg"},
		{"no tool but a program", Observation{Argv: []string{"/usr/bin/git", "log"}}, "git"},
	})
}

func TestKeyOfAnAgentsShell(t *testing.T) {
	checkKeys(t, []keyTest{
		{"Claude Code", Observation{Tool: "Bash", Input: in(`{"command":"curl -s x | jq .","timeout":5}`)}, "Bash/curl"},
		{"Claude Code, background", Observation{Tool: "BashOutput", Input: in(`{"bash_id":"1"}`)}, "BashOutput"},
		{"Codex, argv", Observation{Tool: "shell", Input: in(`{"command":["bash","-lc","git status"]}`)}, "shell/git"},
		{"Codex, cmd", Observation{Tool: "exec_command", Input: in(`{"cmd":"rg x","yield_time_ms":1000}`)}, "exec_command/rg"},
		{"Codex, more input", Observation{Tool: "write_stdin", Input: in(`{"session_id":1,"chars":"rg x"}`)}, "write_stdin"},
		{"Codex, a patch", Observation{Tool: "apply_patch", Input: in(`{"command":"*** Begin Patch"}`)}, "apply_patch"},
		{"Codex, Windows", Observation{Tool: "shell", Input: in(`{"command":["powershell.exe","-Command","rg x"]}`)}, "shell/rg"},
		{"a script", Observation{Tool: "shell", Input: in(`{"script":"make"}`)}, "shell/make"},
		{"Gemini", Observation{Tool: "run_shell_command", Input: in(`{"command":"ls"}`)}, "run_shell_command/ls"},
		{"Cline", Observation{Tool: "execute_command", Input: in(`{"command":"ls","requires_approval":false}`)}, "execute_command/ls"},
		{"OpenHands", Observation{Tool: "execute_bash", Input: in(`{"command":"ls","is_input":"false"}`)}, "execute_bash/ls"},
		{"OpenHands, new", Observation{Tool: "terminal", Input: in(`{"command":"ls"}`)}, "terminal/ls"},
		{"Windsurf", Observation{Tool: "run_command", Input: in(`{"CommandLine":"ls","Cwd":"/w"}`)}, "run_command/ls"},
		{"Cursor", Observation{Tool: "Shell", Input: in(`{"command":"npm i","working_directory":"/w"}`)}, "Shell/npm"},
		{"Copilot", Observation{Tool: "bash", Input: in(`{"command":"ls"}`)}, "bash/ls"},
		{"arguments as a JSON text", Observation{Tool: "shell", Input: in(`"{\"cmd\":\"ls -l\"}"`)}, "shell/ls"},
		{"a program in another language", Observation{Tool: "exec", Input: in(`"const r = await run()"`)}, "exec"},
		{"a command of another type", Observation{Tool: "Bash", Input: in(`{"command":7}`)}, "Bash"},
		{"no JSON", Observation{Tool: "Bash", Input: in(`{"command":`)}, "Bash"},
		{"huge arguments", Observation{Tool: "Bash", Input: in(`{"command":"rg ` + strings.Repeat("x", maxPayload) + `"}`)}, "Bash"},
	})
}

func TestKeyOfAFetch(t *testing.T) {
	checkKeys(t, []keyTest{
		{"a fetch", Observation{Tool: "WebFetch", Input: in(`{"url":"https://API.Example.com/v1?x=1","prompt":"p"}`)}, "WebFetch/api.example.com"},
		{"a fetch with user and port", Observation{Tool: "web_fetch", Input: in(`{"url":"http://u:p@example.com:8080/"}`)}, "web_fetch/example.com:8080"},
		{"the scheme's own port", Observation{Tool: "fetch", Input: in(`{"url":"https://example.com.:443"}`)}, "fetch/example.com"},
		{"an address", Observation{Tool: "fetch_url", Input: in(`{"url":"http://192.0.2.1/x"}`)}, "fetch_url/192.0.2.1"},
		{"an IPv6 address", Observation{Tool: "http_request", Input: in(`{"url":"http://[2001:DB8::1]:81/x"}`)}, "http_request/[2001:db8::1]:81"},
		{"a name in another script", Observation{Tool: "WebFetch", Input: in(`{"url":"https://Bücher.example/"}`)}, "WebFetch/xn--bcher-kva.example"},
		{"the same in its ASCII form", Observation{Tool: "WebFetch", Input: in(`{"url":"https://xn--bcher-kva.example/"}`)}, "WebFetch/xn--bcher-kva.example"},
		{"no URL", Observation{Tool: "WebFetch", Input: in(`{"url":"example.com/x"}`)}, "WebFetch"},
		{"another scheme", Observation{Tool: "WebFetch", Input: in(`{"url":"file:///etc/hosts"}`)}, "WebFetch"},
		{"a bad host", Observation{Tool: "WebFetch", Input: in(`{"url":"https://a<b/"}`)}, "WebFetch"},
		{"a URL of another type", Observation{Tool: "WebFetch", Input: in(`{"url":["https://a.example"]}`)}, "WebFetch"},
		{"a list of one", Observation{Tool: "fetch_webpage", Input: in(`{"urls":["https://a.example/x"]}`)}, "fetch_webpage/a.example"},
		{"a list of two", Observation{Tool: "fetch_webpage", Input: in(`{"urls":["https://a.example","https://b.example"]}`)}, "fetch_webpage"},
		{"Windsurf's fetch", Observation{Tool: "read_url_content", Input: in(`{"Url":"https://a.example"}`)}, "read_url_content/a.example"},
		{"a long host", Observation{Tool: "fetch", Input: in(`{"url":"https://` + strings.Repeat("abcd.", 50) + `example"}`)}, "fetch"},
		{"a tool with a URL that is no fetch", Observation{Tool: "Bookmark", Input: in(`{"url":"https://a.example"}`)}, "Bookmark"},
	})
}

func TestKeyOfAServersTool(t *testing.T) {
	checkKeys(t, []keyTest{
		{"MCP by its name", Observation{Tool: "mcp__github__create_issue"}, "github/create_issue"},
		{"MCP of a plugin", Observation{Tool: "mcp__plugin_docs_context7__query-docs"}, "plugin_docs_context7/query-docs"},
		{"MCP with a server named like its tool", Observation{Tool: "mcp__fetch__fetch", Input: in(`{"url":"https://a.example"}`)}, "fetch/fetch"},
		{"MCP, the name and the server", Observation{Tool: "mcp__my_db__query", Server: "my db"}, "my_db/query"},
		{"half a name of MCP", Observation{Tool: "mcp__github"}, "mcp__github"},
		{"MCP, no server", Observation{Tool: "mcp____x"}, "mcp____x"},
		{"MCP, server and tool", Observation{Protocol: MCP, Server: "db", Tool: "query"}, "db/query"},
		{"MCP, a tool named after its server", Observation{Protocol: MCP, Server: "db", Tool: "db_query"}, "db/db_query"},
		{"MCP, slashes", Observation{Protocol: MCP, Server: "io.example/db", Tool: "a/b"}, "io.example_db/a_b"},
		{"MCP, a shell", Observation{Protocol: MCP, Server: "host", Tool: "execute_command", Input: in(`{"command":"rg x"}`)}, "host/execute_command"},
		{"MCP, the server alone", Observation{Protocol: MCP, Server: "db"}, "db"},
		{"Gemini's MCP", Observation{Protocol: Agent, Server: "my.db", Tool: "mcp_my_db_query"}, "my.db/query"},
		{"Gemini's MCP without its server", Observation{Protocol: Agent, Tool: "mcp_my_db_query"}, "mcp_my_db_query"},
		{"Cursor's MCP", Observation{Protocol: Agent, Server: "db", Tool: "MCP:query"}, "db/query"},
		{"Cursor's MCP without its server", Observation{Protocol: Agent, Tool: "MCP:query"}, "MCP:query"},
		{"Copilot's MCP", Observation{Protocol: Agent, Server: "db", Tool: "db-query"}, "db/query"},
		{"Copilot's MCP without its server", Observation{Protocol: Agent, Tool: "db-query"}, "db-query"},
		{"Amazon Q's MCP", Observation{Protocol: Agent, Tool: "@postgres/query"}, "postgres/query"},
		{"Windsurf's MCP", Observation{Tool: "mcp_tool_use", Input: in(`{"mcp_server_name":"db","mcp_tool_name":"query"}`)}, "db/query"},
		{"Cline's MCP", Observation{Tool: "use_mcp_tool", Input: in(`{"server_name":"db","tool_name":"query"}`)}, "db/query"},
		{"a resource of MCP", Observation{Tool: "ReadMcpResourceTool", Input: in(`{"server":"db","uri":"x"}`)}, "db/ReadMcpResourceTool"},
		{"a broker without a server", Observation{Tool: "use_mcp_tool", Input: in(`{}`)}, "use_mcp_tool"},
		{"an agent peer", Observation{Protocol: A2A, Server: "travel", Tool: "book"}, "travel/book"},
		{"an agent peer alone", Observation{Protocol: A2A, Server: "travel", Tool: "travel"}, "travel"},
		{"an agent peer by path", Observation{Protocol: A2A, Tool: "travel/book"}, "travel/book"},
	})
}

func TestNamesOfToolsAreShort(t *testing.T) {
	for _, set := range [...]map[string]bool{shellTools, fetchTools} {
		for name := range set {
			if !names(set, name) || !names(set, strings.ToUpper(name)) {
				t.Errorf("%s is not found; it is in lower case, and no longer than names can read", name)
			}
		}
	}
}

func TestPunycode(t *testing.T) {
	tests := []struct{ label, want string }{
		{"abc", "abc"},
		{"", ""},
		{"bücher", "xn--bcher-kva"},
		{"münchen", "xn--mnchen-3ya"},
		{"faß", "xn--fa-hia"},
		{"例え", "xn--r8jz45g"},
		{"пример", "xn--e1afmkfd"},
		{"他们为什么不说中文", "xn--ihqwcrb4cv8a8dqg056pqjye"},
		{"3年b組金八先生", "xn--3b-ww4c5e180e575a65lsy2b"},
		{strings.Repeat("é", 40), ""},
		{"\xff", ""},
	}
	for _, tt := range tests {
		if got := punycode(tt.label); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.label, got, tt.want)
		}
	}
}

func FuzzKey(f *testing.F) {
	f.Add("mcp__a__b", "", `{"command":"rg x"}`, byte(0))
	f.Add("WebFetch", "", `{"url":"https://u:p@\u00fc.example:8443/x"}`, byte(3))
	f.Add("run_commands", "", `{"commands":["cd x",{"command":"rg","args":["it's","$(y)"]},7]}`, byte(3))
	f.Add("web_fetch", "", `{"prompt":"(https://a.example/x), http://a.example:80 ://"}`, byte(3))
	f.Add("fetch_web_content", "a", `{"requests":[{"url":"https://a.example"},{"url":7}]}`, byte(3))
	f.Add("use_mcp_tool", "a/b\n", `{"server_name":"a\u0000/b"}`, byte(1))
	f.Fuzz(func(t *testing.T, tool, server, input string, protocol byte) {
		o := Observation{Protocol: Protocol(protocol % 4), Tool: tool, Server: server, Input: []byte(input)}
		checkKey(t, Key(o))
		for _, name := range [...]string{"Bash", "WebFetch", "use_mcp_tool", "run_commands"} {
			o.Tool = name
			checkKey(t, Key(o))
		}
	})
}

func BenchmarkKey(b *testing.B) {
	for _, o := range [...]Observation{
		{Tool: "Grep", Input: []byte(`{"pattern":"x"}`)},
		{Tool: "WebFetch", Input: []byte(`{"url":"https://api.example.com/v1/items"}`)},
		{Tool: "mcp__github__create_issue"},
	} {
		b.Run(o.Tool, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Key(o)
			}
		})
	}
}
