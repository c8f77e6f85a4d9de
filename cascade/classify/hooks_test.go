package classify

import (
	"encoding/json"
	"testing"

	"github.com/expediter-go/expediter/cascade"
)

// What the hooks of each agent give, as an adapter hands it on: the call's
// arguments, the result as it is, and the flags of the event.
type hooked struct {
	name string
	o    Observation
	key  string
	want string // success, ignored, or the category of a failure
}

func testHooks(t *testing.T, agent AgentName, tests []hooked) {
	t.Helper()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.o.Protocol, tt.o.Agent = Agent, agent
			got := Observe(tt.o)
			checkVerdict(t, got)
			outcome := got.Outcome.String()
			if got.Outcome == cascade.Failed {
				outcome = got.Category.String()
			}
			if got.Key != tt.key || outcome != tt.want {
				t.Errorf("got %s of %q (%s by %s), want %s of %q", outcome, got.Key, got.Class, got.Rule, tt.want, tt.key)
			}
			if key := Key(tt.o); key != tt.key {
				t.Errorf("before the call the key is %q", key)
			}
		})
	}
}

// args are a call's arguments: names and values in turn.
func args(pairs ...string) json.RawMessage {
	m := map[string]string{}
	for i := 0; i+1 < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	data, _ := json.Marshal(m)
	return data
}

// quote is a text as JSON.
func quote(text string) json.RawMessage {
	data, _ := json.Marshal(text)
	return data
}

func TestHooksOfClaudeCode(t *testing.T) {
	ok := func(tool string, input json.RawMessage, response string) Observation {
		return Observation{Tool: tool, Input: input, Payload: in(response)}
	}
	failed := func(tool string, input json.RawMessage, text string) Observation {
		return Observation{Tool: tool, Input: input, Result: text, Failed: true}
	}
	bash := func(command string) json.RawMessage { return args("command", command, "description", "x") }
	page := args("url", "https://api.example.com/v1/items", "prompt", "sum up")
	interrupted := failed("Bash", bash("make"), "The user interrupted")
	interrupted.Payload = in(`{"is_interrupt":true}`)
	batched := ok("Read", args("file_path", "/w/a.py"), "")
	batched.Unmarked, batched.Result = true, "     1\timport os\n     2\tError: connect ECONNREFUSED"
	batchedFailure := batched
	batchedFailure.Tool, batchedFailure.Input, batchedFailure.Result = "Bash", bash("curl https://x.invalid"), "Error: Exit code 6\ncurl: (6) Could not resolve host: x.invalid"
	testHooks(t, ClaudeCode, []hooked{
		{"a command", ok("Bash", bash("npm test"), `{"stdout":"connect ECONNREFUSED 127.0.0.1:5432","stderr":"","interrupted":false,"isImage":false,"noOutputExpected":false}`), "Bash/npm", "success"},
		{"no match", ok("Bash", bash("rg nope src"), `{"stdout":"","stderr":"","interrupted":false,"returnCodeInterpretation":"No matches found"}`), "Bash/rg", "success"},
		{"a file written", ok("Write", args("file_path", "/w/a.txt", "content", "x"), `{"type":"create","filePath":"/w/a.txt","content":"ENOSPC","structuredPatch":[],"originalFile":null}`), "Write", "success"},
		{"a file read", ok("Read", args("file_path", "/w/a.txt"), `{"type":"text","file":{"filePath":"/w/a.txt","content":"error: 503","numLines":1,"startLine":1,"totalLines":1}}`), "Read", "success"},
		{"a page", ok("WebFetch", page, `{"bytes":100,"code":200,"codeText":"OK","result":"503 Service Unavailable","durationMs":80,"url":"https://api.example.com/v1/items"}`), "WebFetch/api.example.com", "success"},
		{"a page with 503", ok("WebFetch", page, `{"bytes":100,"code":503,"codeText":"Service Unavailable","result":"sorry","durationMs":80,"url":"https://api.example.com/v1/items"}`), "WebFetch/api.example.com", "upstream"},
		{"a page with 429", ok("WebFetch", page, `{"bytes":100,"code":429,"codeText":"Too Many Requests","result":"sorry","durationMs":80}`), "WebFetch/api.example.com", "rate_limit"},
		{"a page with 401", ok("WebFetch", page, `{"bytes":100,"code":401,"codeText":"Unauthorized","result":"sorry","durationMs":80}`), "WebFetch/api.example.com", "auth"},
		{"a page that is not there", ok("WebFetch", page, `{"bytes":100,"code":404,"codeText":"Not Found","result":"sorry","durationMs":80}`), "WebFetch/api.example.com", "success"},
		{"a page without DNS", failed("WebFetch", page, "getaddrinfo ENOTFOUND api.example.com"), "WebFetch/api.example.com", "network"},
		{"a page, failed with a status", failed("WebFetch", page, "Request failed with status code 503"), "WebFetch/api.example.com", "upstream"},
		{"a page that is too slow", failed("WebFetch", page, "timeout of 60000ms exceeded"), "WebFetch/api.example.com", "timeout"},
		{"the check of the domain", failed("WebFetch", page, "Unable to verify if domain api.example.com is safe to fetch. This may be due to network restrictions."), "WebFetch/api.example.com", "network"},
		{"a search", ok("WebSearch", args("query", "x"), `{"query":"x","results":[{"tool_use_id":"t","content":[{"title":"503","url":"https://a.example"}]},"Web search error handling"],"durationSeconds":1}`), "WebSearch", "success"},
		{"a search that is refused for now", ok("WebSearch", args("query", "x"), `{"query":"x","results":["Web search error: too_many_requests"],"durationSeconds":1}`), "WebSearch", "rate_limit"},
		{"no search left", ok("WebSearch", args("query", "x"), `{"query":"x","results":["Web search error: max_uses_exceeded"],"durationSeconds":1}`), "WebSearch", "rate_limit"},
		{"a search that is down", ok("WebSearch", args("query", "x"), `{"query":"x","results":["Web search error: unavailable"],"durationSeconds":1}`), "WebSearch", "upstream"},
		{"a query that is too long", ok("WebSearch", args("query", "x"), `{"query":"x","results":["Web search error: query_too_long"],"durationSeconds":1}`), "WebSearch", "success"},
		{"GitHub's limit", ok("Bash", bash("gh pr list"), `{"stdout":"","stderr":"","interrupted":false,"ghRateLimitHint":"retry in 30 s"}`), "Bash/gh", "rate_limit"},
		{"a client at its time limit", ok("Bash", bash("curl https://x.invalid"), `{"stdout":"","stderr":"","interrupted":false,"backgroundTaskId":"b1","timedOutAfterMs":120000}`), "Bash/curl", "timeout"},
		{"a build at its time limit", ok("Bash", bash("make all"), `{"stdout":"","stderr":"","interrupted":false,"backgroundTaskId":"b1","timedOutAfterMs":120000}`), "Bash/make", "ignored"},
		{"a search of files at its time limit", ok("Grep", args("pattern", "x"), `{"mode":"content","numFiles":0,"filenames":[],"timedOut":true}`), "Grep", "timeout"},

		{"a wrong edit", failed("Edit", args("file_path", "/w/a.go"), "String to replace not found in file.\nString: connection refused"), "Edit", "success"},
		{"a file that is not there", failed("Read", args("file_path", "/w/b"), "File does not exist. Did you mean a?"), "Read", "success"},
		{"a wrong argument", failed("Bash", bash("ls /nope"), "Exit code 2\nls: cannot access '/nope': No such file or directory"), "Bash/ls", "success"},
		{"tests that fail", failed("Bash", bash("npm test"), "Exit code 1\nError: connect ECONNREFUSED 127.0.0.1:5432\n1 failed"), "Bash/npm", "success"},
		{"a missing program", failed("Bash", bash("rg x"), "Exit code 127\n/bin/bash: line 1: rg: command not found"), "Bash/rg", "tool_missing"},
		{"no DNS", failed("Bash", bash("curl -sS https://nope.invalid"), "Exit code 6\ncurl: (6) Could not resolve host: nope.invalid"), "Bash/curl", "network"},
		{"no DNS for git", failed("Bash", bash("git push"), "Exit code 128\nssh: Could not resolve hostname github.com: Temporary failure in name resolution\nfatal: Could not read from remote repository."), "Bash/git", "network"},
		{"the command's time is over", failed("Bash", bash("ssh host uptime"), "Command timed out after 2m 0s"), "Bash/ssh", "timeout"},
		{"a full disk", failed("Write", args("file_path", "/w/a"), "ENOSPC: no space left on device, write"), "Write", "filesystem"},
		{"a read-only disk", failed("Edit", args("file_path", "/w/a"), "EROFS: read-only file system, open '/w/a'"), "Edit", "filesystem"},
		{"an interrupt", interrupted, "Bash/make", "ignored"},
		{"a refusal", failed("Bash", bash("rm x"), "The user doesn't want to proceed with this tool use. The tool use was rejected."), "Bash/rm", "ignored"},
		{"our own denial", failed("WebFetch", page, "expediter: SKIP. WebFetch/api.example.com has been open since 12:00 (network: connection refused). Next trial in 30 s."), "WebFetch/api.example.com", "ignored"},
		{"our own denial, as a hook's error", failed("WebFetch", page, "PreToolUse:WebFetch hook error: expediter: PAUSE. Every tool waits."), "WebFetch/api.example.com", "ignored"},

		{"a server's answer", ok("mcp__github__get_issue", in(`{"number":7}`), `"HTTP 503: connection refused"`), "github/get_issue", "success"},
		{"a server's answer in blocks", ok("mcp__github__get_issue", in(`{"number":7}`), `[{"type":"text","text":"Error: 503"}]`), "github/get_issue", "success"},
		{"a server's answer as an object", ok("mcp__github__get_issue", in(`{"number":7}`), `{"status":503,"error":"x","isError":false}`), "github/get_issue", "success"},
		{"a server's error", failed("mcp__github__get_issue", in(`{"number":7}`), "API error: 503 Service Unavailable"), "github/get_issue", "upstream"},
		{"a server's login", failed("mcp__github__get_issue", in(`{"number":7}`), "HTTP 401: Bad credentials"), "github/get_issue", "auth"},
		{"a server's bad arguments", failed("mcp__github__get_issue", in(`{"n":7}`), "MCP error -32602: Invalid arguments for tool get_issue: number is required"), "github/get_issue", "success"},
		{"a lost server", failed("mcp__github__get_issue", in(`{"number":7}`), "MCP error -32000: Connection closed"), "github/get_issue", "network"},
		{"a slow server", failed("mcp__github__get_issue", in(`{"number":7}`), "MCP error -32001: Request timed out"), "github/get_issue", "timeout"},
		{"a server that is not connected", failed("mcp__github__get_issue", in(`{"number":7}`), `MCP server "github" is not connected`), "github/get_issue", "network"},

		{"a batch", batched, "Read", "success"},
		{"a batch with a failure", batchedFailure, "Bash/curl", "network"},
	})
}

func TestHooksOfCodex(t *testing.T) {
	told := func(tool string, input json.RawMessage, response json.RawMessage) Observation {
		return Observation{Tool: tool, Input: input, Payload: response}
	}
	bash := func(command, response string) Observation {
		return told("Bash", args("command", command), quote(response))
	}
	headed := func(command, exit, output string) Observation {
		return bash(command, "Exit code: "+exit+"\nWall time: 0.2 seconds\nOutput:\n"+output)
	}
	testHooks(t, Codex, []hooked{
		{"a command", headed("npm run lint", "0", "connect ECONNREFUSED"), "Bash/npm", "success"},
		{"a wrong argument", headed("ls /nope", "2", "ls: cannot access '/nope': No such file or directory"), "Bash/ls", "success"},
		{"tests that fail", headed("go test ./...", "1", "--- FAIL: TestX\nconnection refused"), "Bash/go", "success"},
		{"no match", headed("rg x", "1", ""), "Bash/rg", "success"},
		{"a missing program", headed("rg x", "127", "/bin/bash: line 1: rg: command not found"), "Bash/rg", "tool_missing"},
		{"no DNS", headed("curl https://x.invalid", "6", "curl: (6) Could not resolve host: x.invalid"), "Bash/curl", "network"},
		{"a status", headed("curl -f https://x.invalid", "22", "curl: (22) The requested URL returned error: 503"), "Bash/curl", "upstream"},
		{"a head with a chunk's id", bash("curl https://x.invalid", "Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 7\nFinal output:\ncurl: (7) Failed to connect"), "Bash/curl", "network"},
		{"a client at its time limit", headed("curl https://x.invalid", "124", "command timed out after 10000 milliseconds"), "Bash/curl", "timeout"},
		{"a build at its time limit", headed("make", "124", "command timed out after 10000 milliseconds"), "Bash/make", "ignored"},
		{"an object of older versions", bash("gh pr list", `{"output":"HTTP 401: Bad credentials","metadata":{"exit_code":4,"duration_seconds":0.5}}`), "Bash/gh", "auth"},

		{"output alone", bash("cat log.txt", "12:00 connect ECONNREFUSED\n12:01 503 Service Unavailable"), "Bash/cat", "success"},
		{"output alone, of a client", bash("curl https://x.example", "<h1>503 Service Unavailable</h1>"), "Bash/curl", "success"},
		{"output alone, a client's message", bash("curl https://x.invalid", "curl: (6) Could not resolve host: x.invalid"), "Bash/curl", "network"},
		{"output alone, a client's message below", bash("curl https://x.invalid", "  % Total    % Received\n\r  0     0    0     0\ncurl: (28) Connection timed out after 3001 milliseconds\n"), "Bash/curl", "timeout"},
		{"output alone, a page that ends with a message", bash("curl https://x.example/log", "log of today: 503 Service Unavailable\nerror: parse failed"), "Bash/curl", "success"},
		{"output alone, git without DNS", bash("git fetch", "fatal: unable to access 'https://github.com/x/y/': Could not resolve host: github.com"), "Bash/git", "network"},
		{"output alone, a login of npm", bash("npm view x", "npm error code E401\nnpm error Unable to authenticate, your authentication token seems to be invalid."), "Bash/npm", "auth"},
		{"output alone, of a local program", bash("./check", "error: connection refused by the model"), "Bash/check", "network"},
		{"output alone, a missing program", bash("rg x", "/bin/bash: line 1: rg: command not found"), "Bash/rg", "tool_missing"},
		{"output alone, a missing program of zsh", bash("rg x", "zsh:1: command not found: rg"), "Bash/rg", "tool_missing"},
		{"output alone, a wrong argument", bash("ls /nope", "ls: cannot access '/nope': No such file or directory"), "Bash/ls", "success"},
		{"output alone, of nothing", bash("true", ""), "Bash/true", "success"},
		{"refused by the user", bash("rm x", "exec command rejected by user"), "Bash/rm", "ignored"},
		{"stopped by the user", bash("make", "Wall time: 3.2 seconds\naborted by user"), "Bash/make", "ignored"},
		{"our own denial", bash("curl https://x.invalid", "Command blocked by PreToolUse hook: expediter: SKIP. Bash/curl is open (network). Command: curl https://x.invalid"), "Bash/curl", "ignored"},
		{"our own denial, marked", Observation{Tool: "Bash", Input: args("command", "curl x"), Failed: true, Result: "Command blocked by PreToolUse hook: expediter: SKIP. Bash/curl is open (network)."}, "Bash/curl", "ignored"},

		{"a patch", told("apply_patch", args("command", "*** Begin Patch"), quote("Success. Updated the following files:\nM a.go")), "apply_patch", "success"},
		{"a patch that does not fit", told("apply_patch", args("command", "*** Begin Patch"), quote("apply_patch verification failed: Failed to find expected lines in a.go")), "apply_patch", "success"},

		{"a server's answer", told("mcp__db__query", in(`{"sql":"select 1"}`), in(`{"content":[{"type":"text","text":"connection refused"}],"isError":false}`)), "db/query", "success"},
		{"a server's error", told("mcp__db__query", in(`{"sql":"select 1"}`), in(`{"content":[{"type":"text","text":"HTTP 429 Too Many Requests"}],"isError":true}`)), "db/query", "rate_limit"},
		{"a server's bad arguments", told("mcp__db__query", in(`{"sql":"x"}`), in(`{"content":[{"type":"text","text":"syntax error at or near \"x\""}],"isError":true}`)), "db/query", "success"},
		{"a lost server", told("mcp__db__query", in(`{"sql":"x"}`), quote("tool call error: tool call failed for `db/query`\n\nCaused by:\n    Transport closed")), "db/query", "network"},
		{"a slow server", told("mcp__db__query", in(`{"sql":"x"}`), quote("tool call error: tool call failed for `db/query`\n\nCaused by:\n    timed out awaiting tools/call after 60s\n    deadline has elapsed")), "db/query", "timeout"},
	})
}
