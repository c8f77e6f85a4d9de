package classify

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestHooksOfGemini(t *testing.T) {
	told := func(tool string, input json.RawMessage, response string) Observation {
		return Observation{Tool: tool, Input: input, Payload: in(response)}
	}
	shell := func(command, content string) Observation {
		return told("run_shell_command", args("command", command), `{"llmContent":`+string(quote(content))+`,"returnDisplay":"x"}`)
	}
	served := func(response string) Observation {
		o := told("mcp_my_db_query", in(`{"sql":"x"}`), response)
		o.Server = "my-db"
		return o
	}
	page := args("prompt", "sum up https://api.example.com/v1 and tell what is new")
	testHooks(t, Gemini, []hooked{
		{"a command", shell("npm test", "Output: connect ECONNREFUSED\nProcess Group PGID: 71"), "run_shell_command/npm", "success"},
		{"a command of older versions", shell("npm test", "Command: npm test\nDirectory: (root)\nStdout: ok\nStderr: (empty)\nError: (none)\nExit Code: 0\nSignal: (none)\nBackground PIDs: (none)\nProcess Group PGID: 71"), "run_shell_command/npm", "success"},
		{"a wrong argument", shell("ls /nope", "Output: ls: cannot access '/nope': No such file or directory\nExit Code: 2\nProcess Group PGID: 71"), "run_shell_command/ls", "success"},
		{"tests that fail", shell("go test ./...", "Output: --- FAIL: TestX\nconnection refused\nExit Code: 1\nProcess Group PGID: 71"), "run_shell_command/go", "success"},
		{"a missing program", shell("rg x", "Output: bash: rg: command not found\nExit Code: 127\nProcess Group PGID: 71"), "run_shell_command/rg", "tool_missing"},
		{"no DNS", shell("curl https://x.invalid", "Output: curl: (6) Could not resolve host: x.invalid\nExit Code: 6\nProcess Group PGID: 71"), "run_shell_command/curl", "network"},
		{"a client at its time limit", shell("curl https://x.invalid", "Command was automatically cancelled because it exceeded the timeout of 5.0 minutes without output. There was no output before it was cancelled."), "run_shell_command/curl", "timeout"},
		{"a build at its time limit", shell("make", "Command was automatically cancelled because it exceeded the timeout of 5.0 minutes without output. Below is the output before it was cancelled:\nconnection refused"), "run_shell_command/make", "ignored"},
		{"stopped by the user", shell("make", "Command was cancelled by user before it could complete. Below is the output before it was cancelled:\nx"), "run_shell_command/make", "ignored"},
		{"a shell that does not start", told("run_shell_command", args("command", "ls"), `{"llmContent":"Output: (empty)\nError: spawn bash ENOENT","returnDisplay":"x","error":{"type":"shell_execute_error","message":"spawn bash ENOENT"}}`), "run_shell_command/ls", "tool_missing"},

		{"a page", told("web_fetch", page, `{"llmContent":"The page says 503 Service Unavailable","returnDisplay":"x"}`), "web_fetch/api.example.com", "success"},
		{"a page with 503", told("web_fetch", page, `{"llmContent":"Error: All fallback fetch attempts failed","returnDisplay":"x","error":{"type":"web_fetch_fallback_failed","message":"All fallback fetch attempts failed: https://api.example.com/v1: Request failed with status code 503 Service Unavailable"}}`), "web_fetch/api.example.com", "upstream"},
		{"a page with 401", told("web_fetch", page, `{"llmContent":"x","error":{"type":"web_fetch_fallback_failed","message":"https://api.example.com/v1: Request failed with status code 401 Unauthorized"}}`), "web_fetch/api.example.com", "auth"},
		{"a page with 429", told("web_fetch", page, `{"llmContent":"x","error":{"type":"web_fetch_processing_error","message":"Error processing web content: Request failed with status code 429 Too Many Requests"}}`), "web_fetch/api.example.com", "rate_limit"},
		{"a page without DNS", told("web_fetch", page, `{"llmContent":"x","error":{"type":"web_fetch_fallback_failed","message":"fetch failed: getaddrinfo ENOTFOUND api.example.com"}}`), "web_fetch/api.example.com", "network"},
		{"a page, for no known reason", told("web_fetch", page, `{"llmContent":"x","error":{"type":"web_fetch_fallback_failed","message":"odd"}}`), "web_fetch/api.example.com", "upstream"},
		{"a page of the machine's own", told("web_fetch", page, `{"llmContent":"x","error":{"type":"web_fetch_processing_error","message":"Access to blocked or private host http://10.0.0.1 is not allowed."}}`), "web_fetch/api.example.com", "success"},
		{"pages of two hosts", told("web_fetch", args("prompt", "compare https://a.example/x and https://b.example/y"), `{"llmContent":"x"}`), "web_fetch", "success"},
		{"two pages of a host", told("web_fetch", args("prompt", "compare https://a.example/x, (https://a.example/y)."), `{"llmContent":"x"}`), "web_fetch/a.example", "success"},
		{"no page", told("web_fetch", args("prompt", "news"), `{"llmContent":"x","error":{"type":"web_fetch_no_url_in_prompt","message":"The prompt must contain at least one valid URL"}}`), "web_fetch", "success"},
		{"a search", told("google_web_search", args("query", "x"), `{"llmContent":"x","error":{"type":"web_search_failed","message":"got status: 429 Too Many Requests"}}`), "google_web_search", "rate_limit"},

		{"a file that is not there", told("read_file", args("file_path", "/w/a"), `{"llmContent":"Could not read file","error":{"type":"file_not_found","message":"File not found: /w/a"}}`), "read_file", "success"},
		{"a wrong edit", told("replace", args("file_path", "/w/a"), `{"llmContent":"x","error":{"type":"edit_no_occurrence_found","message":"Failed to edit, 0 occurrences found"}}`), "replace", "success"},
		{"a full disk", told("write_file", args("file_path", "/w/a"), `{"llmContent":"x","error":{"type":"no_space_left","message":"No space left on device: /w/a"}}`), "write_file", "filesystem"},
		{"no permission", told("write_file", args("file_path", "/w/a"), `{"llmContent":"x","error":{"type":"permission_denied","message":"Permission denied writing to file: /w/a"}}`), "write_file", "permission"},
		{"a file that cannot be written", told("write_file", args("file_path", "/w/a"), `{"llmContent":"x","error":{"type":"file_write_failure","message":"Error writing to file: EISDIR: illegal operation on a directory"}}`), "write_file", "success"},
		{"a tool that is not there", told("nope", in(`{}`), `{"llmContent":"x","error":{"type":"tool_not_registered","message":"Tool \"nope\" not found in registry."}}`), "nope", "tool_missing"},
		{"refused by a policy", told("run_shell_command", args("command", "rm x"), `{"llmContent":"x","error":{"type":"policy_violation","message":"Tool execution denied by policy."}}`), "run_shell_command/rm", "ignored"},
		{"refused by the user", told("run_shell_command", args("command", "rm x"), `{"llmContent":"x","error":{"type":"execution_denied","message":"User denied execution."}}`), "run_shell_command/rm", "ignored"},
		{"stopped", told("read_many_files", in(`{}`), `{"llmContent":"[Operation Cancelled] Reason: User cancelled the operation.","error":{"type":"unhandled_exception","message":"[Operation Cancelled] Reason: User cancelled the operation."}}`), "read_many_files", "ignored"},
		{"our own denial", told("run_shell_command", args("command", "curl x"), `{"llmContent":"x","error":{"type":"execution_failed","message":"Tool execution blocked: expediter: SKIP. run_shell_command/curl is open (network: connection refused)."}}`), "run_shell_command/curl", "ignored"},

		{"a server's answer", served(`{"llmContent":[{"text":"503 Service Unavailable"}],"returnDisplay":"x"}`), "my-db/query", "success"},
		{"a server's error", served(`{"llmContent":"x","error":{"type":"mcp_tool_error","message":"MCP tool 'query' reported tool error for function call: {\"name\":\"query\"} with response: [{\"functionResponse\":{\"response\":{\"error\":{\"isError\":true,\"content\":[{\"text\":\"503 Service Unavailable\"}]}}}}]"}}`), "my-db/query", "upstream"},
		{"a server's error of no known kind", served(`{"llmContent":"x","error":{"type":"mcp_tool_error","message":"MCP tool 'query' reported tool error for function call: {\"name\":\"query\"}"}}`), "my-db/query", "ignored"},
		{"a lost server", served(`{"llmContent":"x","error":{"type":"unhandled_exception","message":"MCP error -32000: Connection closed"}}`), "my-db/query", "network"},
		{"a slow server", served(`{"llmContent":"x","error":{"type":"unhandled_exception","message":"MCP error -32001: Request timed out"}}`), "my-db/query", "timeout"},
		{"a command that is a part", told("run_shell_command", args("command", "rg x"), `{"llmContent":[{"text":"Output: bash: rg: command not found\nExit Code: 127"}]}`), "run_shell_command/rg", "tool_missing"},
	})
}

func TestHooksOfCursor(t *testing.T) {
	told := func(tool string, input json.RawMessage, output string) Observation {
		return Observation{Tool: tool, Input: input, Payload: quote(output)}
	}
	failed := func(tool string, input json.RawMessage, kind, text string) Observation {
		return Observation{Tool: tool, Input: input, Failed: true, Result: text, Payload: args("failure_type", kind, "error_message", text)}
	}
	shell := func(command string) json.RawMessage {
		return args("command", command, "working_directory", "/project")
	}
	interrupted := failed("Shell", shell("make"), "error", "Command was interrupted")
	interrupted.Payload = in(`{"failure_type":"error","error_message":"Command was interrupted","is_interrupt":true}`)
	named := func(o Observation) Observation { o.Server = "db"; return o }
	testHooks(t, Cursor, []hooked{
		{"a command", told("Shell", shell("npm test"), `{"exitCode":0,"stdout":"All tests passed: ECONNREFUSED"}`), "Shell/npm", "success"},
		{"a file", told("Read", args("path", "a.go"), `{"content":"503 Service Unavailable"}`), "Read", "success"},
		{"a wrong argument", told("Shell", shell("ls /nope"), `{"exitCode":2,"stdout":"","stderr":"ls: cannot access '/nope': No such file or directory"}`), "Shell/ls", "success"},
		{"tests that fail", told("Shell", shell("npm test"), `{"exitCode":1,"stdout":"1 failed: connect ECONNREFUSED"}`), "Shell/npm", "success"},
		{"a missing program", told("Shell", shell("rg x"), `{"exitCode":127,"stdout":"","stderr":"bash: rg: command not found"}`), "Shell/rg", "tool_missing"},
		{"no DNS", told("Shell", shell("curl https://x.invalid"), `{"exitCode":6,"stdout":"","stderr":"curl: (6) Could not resolve host: x.invalid"}`), "Shell/curl", "network"},
		{"a status", told("Shell", shell("curl -f https://x.example"), `{"exitCode":22,"stderr":"curl: (22) The requested URL returned error: 429"}`), "Shell/curl", "rate_limit"},
		{"an output that is no JSON", told("Shell", shell("npm test"), "connect ECONNREFUSED"), "Shell/npm", "success"},
		{"a failed command", failed("Shell", shell("curl https://x.invalid"), "error", "curl: (6) Could not resolve host: x.invalid"), "Shell/curl", "network"},
		{"failed tests", failed("Shell", shell("npm test"), "error", "Command failed with exit code 1: connect ECONNREFUSED"), "Shell/npm", "success"},
		{"a client at its time limit", failed("Shell", shell("curl https://x.invalid"), "timeout", "Command timed out after 30s"), "Shell/curl", "timeout"},
		{"a build at its time limit", failed("Shell", shell("make"), "timeout", "Command timed out after 30s"), "Shell/make", "ignored"},
		{"refused by the user", failed("Shell", shell("rm x"), "permission_denied", "User rejected the command"), "Shell/rm", "ignored"},
		{"an interrupt", interrupted, "Shell/make", "ignored"},
		{"a wrong edit", failed("Write", args("path", "a.go"), "error", "The string to replace was not found in the file."), "Write", "success"},
		{"a full disk", failed("Write", args("path", "a.go"), "error", "ENOSPC: no space left on device, write"), "Write", "filesystem"},
		{"a page", told("WebFetch", args("url", "https://api.example.com/x"), `{"content":"503"}`), "WebFetch/api.example.com", "success"},
		{"a page with 503", failed("WebFetch", args("url", "https://api.example.com/x"), "error", "Failed to fetch: HTTP 503 Service Unavailable"), "WebFetch/api.example.com", "upstream"},
		{"our own denial", failed("Shell", shell("curl x"), "error", "expediter: SKIP. Shell/curl is open (network)."), "Shell/curl", "ignored"},

		{"a server's answer", told("MCP:query", in(`{"sql":"x"}`), `{"content":[{"type":"text","text":"connection refused"}]}`), "MCP:query", "success"},
		{"a server's error", told("MCP:query", in(`{"sql":"x"}`), `{"content":[{"type":"text","text":"HTTP 401 Unauthorized"}],"isError":true}`), "MCP:query", "auth"},
		{"a server with its name", named(told("MCP:query", in(`{"sql":"x"}`), `{"content":[{"type":"text","text":"502 Bad Gateway"}],"isError":true}`)), "db/query", "upstream"},
		{"a lost server", named(failed("MCP:query", in(`{"sql":"x"}`), "error", "MCP error -32000: Connection closed")), "db/query", "network"},
		{"a slow server", named(failed("MCP:query", in(`{"sql":"x"}`), "timeout", "Request timed out")), "db/query", "timeout"},
	})
}

func TestHooksOfCopilot(t *testing.T) {
	told := func(tool string, input json.RawMessage, kind, text string) Observation {
		return Observation{Tool: tool, Input: input, Payload: args("resultType", kind, "textResultForLlm", text)}
	}
	pascal := func(tool string, input json.RawMessage, kind, text string) Observation {
		return Observation{Tool: tool, Input: input, Payload: args("result_type", kind, "text_result_for_llm", text)}
	}
	plain := func(tool string, input json.RawMessage, text string) Observation { // VS Code
		return Observation{Tool: tool, Input: input, Payload: quote(text)}
	}
	failed := func(tool string, input json.RawMessage, text string) Observation {
		return Observation{Tool: tool, Input: input, Failed: true, Result: text}
	}
	bash := func(command string) json.RawMessage { return args("command", command, "description", "x") }
	named := func(o Observation) Observation { o.Server = "github"; return o }
	testHooks(t, Copilot, []hooked{
		{"a command", told("bash", bash("npm test"), "success", "connect ECONNREFUSED\n<exited with exit code 0>"), "bash/npm", "success"},
		{"a command that goes on", told("bash", bash("npm start"), "success", "<command with shellId: 1 is still running after 30 seconds>"), "bash/npm", "success"},
		{"a wrong argument", told("bash", bash("ls /nope"), "success", "ls: cannot access '/nope': No such file or directory\n<exited with exit code 2>"), "bash/ls", "success"},
		{"tests that fail", told("bash", bash("npm test"), "success", "connect ECONNREFUSED\n1 failed\n<exited with exit code 1>"), "bash/npm", "success"},
		{"a missing program", told("bash", bash("rg x"), "success", "bash: rg: command not found\n<exited with exit code 127>"), "bash/rg", "tool_missing"},
		{"no DNS", told("bash", bash("curl https://x.invalid"), "success", "curl: (6) Could not resolve host: x.invalid\n<exited with exit code 6>\n"), "bash/curl", "network"},
		{"no DNS, the other spelling", pascal("Bash", bash("curl https://x.invalid"), "success", "curl: (6) Could not resolve host: x.invalid\n<exited with exit code 6>"), "Bash/curl", "network"},
		{"no login", told("bash", bash("gh pr list"), "success", "HTTP 401: Bad credentials\n<exited with exit code 4>"), "bash/gh", "auth"},
		{"a shell that goes on", told("read_bash", args("shellId", "1"), "success", "connect ECONNREFUSED\n<exited with exit code 1>"), "read_bash", "network"},
		{"a text alone", plain("run_in_terminal", bash("rg x"), "bash: rg: command not found\n<exited with exit code 127>"), "run_in_terminal/rg", "tool_missing"},
		{"a file that ends with the mark", told("view", args("path", "log"), "success", "connection refused\n<exited with exit code 1>"), "view", "success"},
		{"an output that has the mark within", told("bash", bash("cat log"), "success", "<exited with exit code 1>\nconnection refused\n<exited with exit code 0>"), "bash/cat", "success"},
		{"a failure", told("bash", bash("curl https://x.invalid"), "failure", "curl: (7) Failed to connect to x.invalid"), "bash/curl", "network"},
		{"a failure event", failed("bash", bash("curl https://x.invalid"), "curl: (7) Failed to connect to x.invalid"), "bash/curl", "network"},
		{"a client at its time limit", failed("bash", bash("curl https://x.invalid"), "Command timed out after 120 seconds"), "bash/curl", "timeout"},
		{"a build at its time limit", failed("bash", bash("make"), "Command timed out after 120 seconds"), "bash/make", "success"},
		{"refused by the user", told("bash", bash("rm x"), "rejected", "The user rejected this tool call."), "bash/rm", "ignored"},
		{"denied", told("bash", bash("rm x"), "denied", "connection refused"), "bash/rm", "ignored"},
		{"an interrupt", failed("bash", bash("make"), "Operation aborted by user"), "bash/make", "ignored"},
		{"our own denial", told("bash", bash("curl x"), "denied", "Denied by preToolUse hook: expediter: SKIP. bash/curl is open (network)."), "bash/curl", "ignored"},
		{"our own denial, as a failure", failed("bash", bash("curl x"), "Denied by preToolUse hook: expediter: SKIP. bash/curl is open (network: connection refused)."), "bash/curl", "ignored"},
		{"a wrong edit", failed("edit", args("path", "a.go"), "No match found for old_str in a.go"), "edit", "success"},
		{"a full disk", failed("create", args("path", "a.go"), "ENOSPC: no space left on device, write"), "create", "filesystem"},
		{"a page", told("web_fetch", args("url", "https://api.example.com/x"), "success", "503 Service Unavailable"), "web_fetch/api.example.com", "success"},
		{"a page with 503", told("web_fetch", args("url", "https://api.example.com/x"), "failure", "Failed to fetch https://api.example.com/x: status code 503"), "web_fetch/api.example.com", "upstream"},
		{"a page with 429", failed("web_fetch", args("url", "https://api.example.com/x"), "Failed to fetch https://api.example.com/x: 429 Too Many Requests"), "web_fetch/api.example.com", "rate_limit"},
		{"a page of VS Code", plain("fetch_webpage", in(`{"urls":["https://api.example.com/x"],"query":"x"}`), "x"), "fetch_webpage/api.example.com", "success"},

		{"a server's answer", named(told("github-get_issue", in(`{"number":7}`), "success", "503 Service Unavailable")), "github/get_issue", "success"},
		{"a server's error", named(told("github-get_issue", in(`{"number":7}`), "failure", "failed to get issue: GET https://api.github.com/x: 401 Bad credentials []")), "github/get_issue", "auth"},
		{"a server's error, an object", named(Observation{Tool: "github-get_issue", Payload: in(`{"error":{"code":"failure","message":"503 Service Unavailable"},"success":false}`)}), "github/get_issue", "upstream"},
		{"a lost server", named(failed("github-get_issue", in(`{"number":7}`), "MCP error -32000: Connection closed")), "github/get_issue", "network"},
		{"a server without its name", failed("github-get_issue", in(`{"number":7}`), "MCP error -32001: Request timed out"), "github-get_issue", "timeout"},
	})
}

func TestHooksOfWindsurf(t *testing.T) {
	told := func(tool string, input json.RawMessage, payload string) Observation {
		return Observation{Tool: tool, Input: input, Payload: in(payload)}
	}
	query := in(`{"mcp_server_name":"db","mcp_tool_name":"query","mcp_tool_arguments":{"sql":"x"}}`)
	testHooks(t, Windsurf, []hooked{
		{"a command", told("run_command", args("command_line", "npm test", "cwd", "/w"), ""), "run_command/npm", "success"},
		{"a file", told("read_code", args("file_path", "/w/a.go"), ""), "read_code", "success"},
		{"a server's answer", told("mcp_tool_use", query, `{"mcp_result":"502 Bad Gateway"}`), "db/query", "success"},
		{"a server's answer as an object", told("mcp_tool_use", query, `{"mcp_result":{"content":[{"type":"text","text":"502 Bad Gateway"}]}}`), "db/query", "success"},
		{"a server's error", told("mcp_tool_use", query, `{"mcp_result":{"content":[{"type":"text","text":"502 Bad Gateway"}],"isError":true}}`), "db/query", "upstream"},
		{"a server's error in a text", told("mcp_tool_use", query, `{"mcp_result":"{\"content\":[{\"type\":\"text\",\"text\":\"HTTP 429\"}],\"isError\":true}"}`), "db/query", "rate_limit"},
		{"a server's bad arguments", told("mcp_tool_use", query, `{"mcp_result":{"content":[{"type":"text","text":"Invalid arguments: sql is required"}],"isError":true}}`), "db/query", "success"},
	})
}

func TestHooksOfCline(t *testing.T) {
	told := func(tool string, input json.RawMessage, success bool, result string) Observation {
		return Observation{Tool: tool, Input: input, Result: result, Failed: !success}
	}
	raw := func(tool string, input json.RawMessage, payload string) Observation { // the fields as they are
		return Observation{Tool: tool, Input: input, Payload: in(payload)}
	}
	shell := func(command string) json.RawMessage {
		return args("command", command, "requires_approval", "false")
	}
	const ended = "Command executed in terminal within working directory '/w'. Command execution was not successful, inspect the cause and adjust as needed.\nExit code: "
	failure := func(text string) string {
		return "The tool execution failed with the following error:\n<error>\n" + text + "\n</error>"
	}
	query := args("server_name", "db", "tool_name", "query", "arguments", `{"sql":"x"}`)
	testHooks(t, Cline, []hooked{
		{"a command", told("execute_command", shell("npm test"), true, "Command executed.\nOutput:\nconnect ECONNREFUSED\nExit code: 1"), "execute_command/npm", "success"},
		{"a wrong argument", told("execute_command", shell("ls /nope"), true, ended+"2\nOutput:\nls: cannot access '/nope': No such file or directory"), "execute_command/ls", "success"},
		{"tests that fail", told("execute_command", shell("npm test"), false, ended+"1\nOutput:\n1 failed: connect ECONNREFUSED"), "execute_command/npm", "success"},
		{"a missing program", told("execute_command", shell("rg x"), true, ended+"127\nOutput:\nbash: rg: command not found"), "execute_command/rg", "tool_missing"},
		{"no DNS", told("execute_command", shell("curl https://x.invalid"), true, ended+"6\nOutput:\ncurl: (6) Could not resolve host: x.invalid"), "execute_command/curl", "network"},
		{"no DNS, the fields", raw("execute_command", shell("curl https://x.invalid"), `{"success":false,"result":"curl: (6) Could not resolve host: x.invalid"}`), "execute_command/curl", "network"},
		{"no DNS, under a heading", told("execute_command", shell("curl https://x.invalid"), true, "[execute_command for 'curl https://x.invalid'] Result:\n"+ended+"6\nOutput:\ncurl: (6) Could not resolve host: x.invalid"), "execute_command/curl", "network"},
		{"a client at its time limit", told("execute_command", shell("curl https://x.invalid"), false, failure("Command timed out after 30 seconds.")), "execute_command/curl", "timeout"},
		{"a build at its time limit", told("execute_command", shell("make"), false, failure("Command timed out after 30 seconds.")), "execute_command/make", "success"},
		{"a file that begins like a command's end", told("read_file", args("path", "a.log"), true, "Command run.\nExit code: 7\nOutput:\nconnection refused"), "read_file", "success"},
		{"a file that is not there", told("read_file", args("path", "b.go"), false, failure("Error reading file: ENOENT: no such file or directory, open '/w/b.go'")), "read_file", "success"},
		{"a full disk", told("write_to_file", args("path", "b.go"), true, failure("Error writing file: ENOSPC: no space left on device, write")), "write_to_file", "filesystem"},
		{"tests that fail, by the terminal", told("execute_command", shell("npm test"), true, "Command failed with exit code 1.\nOutput:\n1 failed: connect ECONNREFUSED"), "execute_command/npm", "success"},
		{"tests that pass, by the terminal", told("execute_command", shell("npm test"), true, "Command executed successfully (exit code 0).\nOutput:\nconnect ECONNREFUSED"), "execute_command/npm", "success"},
		{"no DNS, by the terminal", told("execute_command", shell("curl https://x.invalid"), true, "Command failed with exit code 6.\nOutput:\ncurl: (6) Could not resolve host: x.invalid"), "execute_command/curl", "network"},
		{"a client that goes on behind", told("execute_command", shell("curl https://x.invalid"), true, "Command timed out after 30 seconds. Running in background.\nOutput so far:\n"), "execute_command/curl", "timeout"},
		{"a build that goes on behind", told("execute_command", shell("make"), true, "Command execution timed out after 30 seconds. \nOutput so far:\ncc a.c"), "execute_command/make", "ignored"},
		{"a command that the user stopped", told("execute_command", shell("curl https://x.invalid"), true, "Command cancelled. \nOutput captured before cancellation:\nconnection refused"), "execute_command/curl", "ignored"},
		{"a missing parameter", told("read_file", in(`{}`), false, "Missing value for required parameter 'path'. Please retry with complete response."), "read_file", "success"},
		{"an ignored file", told("read_file", args("path", "x"), false, "Access to x is blocked by the .clineignore file settings. You must try to continue in the task without using this file, or ask the user to update the .clineignore file."), "read_file", "ignored"},
		{"refused by the user", told("execute_command", shell("rm x"), false, "The user denied this operation."), "execute_command/rm", "ignored"},
		{"refused with feedback", told("execute_command", shell("rm x"), true, "The user denied this operation and provided the following feedback:\n<feedback>\nconnection refused\n</feedback>"), "execute_command/rm", "ignored"},
		{"left alone", told("read_file", args("path", "x"), true, "Tool [read_file] was not executed because a tool has already been used in this message."), "read_file", "ignored"},
		{"our own denial", told("execute_command", shell("curl x"), false, "expediter: SKIP. execute_command/curl is open (network)."), "execute_command/curl", "ignored"},
		{"our own denial, as an error", told("execute_command", shell("curl x"), false, failure("PreToolUse hook cancelled: expediter: SKIP. execute_command/curl is open (network: connection refused).")), "execute_command/curl", "ignored"},
		{"a page", told("web_fetch", args("url", "https://api.example.com/x", "prompt", "p"), true, "503 Service Unavailable"), "web_fetch/api.example.com", "success"},
		{"a page with 503", told("web_fetch", args("url", "https://api.example.com/x", "prompt", "p"), false, failure("Error fetching web content: Request failed with status code 503")), "web_fetch/api.example.com", "upstream"},
		{"a page with 429", told("web_fetch", args("url", "https://api.example.com/x", "prompt", "p"), true, failure("Error fetching web content: Request failed with status code 429")), "web_fetch/api.example.com", "rate_limit"},

		{"a page with 503, called a success", told("web_fetch", args("url", "https://api.example.com/x", "prompt", "p"), true, "Error fetching web content: Request failed with status code 503"), "web_fetch/api.example.com", "upstream"},
		{"a search without DNS", told("web_search", args("query", "x"), true, "Error performing web search: getaddrinfo ENOTFOUND api.example.com"), "web_search", "network"},
		{"a file with such a line", told("read_file", args("path", "a.log"), true, "Error fetching web content: getaddrinfo ENOTFOUND api.example.com"), "read_file", "success"},

		{"a server's answer", told("use_mcp_tool", query, true, "502 Bad Gateway"), "db/query", "success"},
		{"a server's error", told("use_mcp_tool", query, true, "Error:\n502 Bad Gateway"), "db/query", "upstream"},
		{"a server's failure", told("use_mcp_tool", query, false, failure("Error executing MCP tool: HTTP 401 Unauthorized")), "db/query", "auth"},
		{"a lost server", told("use_mcp_tool", query, false, failure("Error executing MCP tool: MCP error -32000: Connection closed")), "db/query", "network"},
		{"a lost server, called a success", told("use_mcp_tool", query, true, "Error executing MCP tool: MCP error -32000: Connection closed"), "db/query", "network"},
		{"a slow server", told("use_mcp_tool", query, false, failure("Error executing MCP tool: MCP error -32001: Request timed out")), "db/query", "timeout"},

		{"Roo Code's failure", told("mcp--db--query", in(`{"sql":"x"}`), true, `{"status":"error","message":"The tool execution failed","error":"connect ECONNREFUSED 127.0.0.1:7700"}`), "db/query", "network"},
		{"Roo Code's refusal", told("execute_command", shell("rm x"), true, `{"status":"denied","message":"The user denied this operation."}`), "execute_command/rm", "ignored"},
		{"an object of another", told("mcp--db--query", in(`{"sql":"x"}`), true, `{"status":"error","message":"connection refused"}`), "db/query", "success"},

		{"the command line: one command", told("run_commands", in(`{"commands":["cd /w","npm test"]}`), true, "connect ECONNREFUSED"), "run_commands/npm", "success"},
		{"the command line: a command in parts", told("run_commands", in(`{"commands":[{"command":"curl","args":["-sS","https://x.invalid"]}]}`), false, "curl: (6) Could not resolve host: x.invalid"), "run_commands/curl", "network"},
		{"the command line: a text", told("run_commands", in(`{"commands":"ls -l"}`), true, "x"), "run_commands/ls", "success"},
		{"the command line: tests that fail", raw("run_commands", in(`{"commands":["npm test"]}`), `[{"query":"npm test","result":"1 failed: connect ECONNREFUSED","error":"Command failed: Command exited with code 1","success":false}]`), "run_commands/npm", "success"},
		{"the command line: tests that fail, without a word", raw("run_commands", in(`{"commands":["npm test"]}`), `[{"query":"npm test","result":"","error":"Command failed: Command exited with code 1","success":false}]`), "run_commands/npm", "success"},
		{"the command line: no DNS", raw("run_commands", in(`{"commands":["curl https://x.invalid"]}`), `[{"query":"curl https://x.invalid","result":"curl: (6) Could not resolve host: x.invalid","error":"Command failed: Command exited with code 6","success":false}]`), "run_commands/curl", "network"},
		{"the command line: one of two", raw("run_commands", in(`{"commands":["curl https://x.invalid","ls"]}`), `[{"query":"curl https://x.invalid","result":"curl: (6) Could not resolve host: x.invalid","error":"Command failed: Command exited with code 6","success":false},{"query":"ls","result":"a","success":true}]`), "run_commands/curl", "success"},
		{"the command line: a file that is not there", raw("read_files", in(`{"files":["/w/x"]}`), `[{"query":"/w/x","result":"","error":"Error reading file: ENOENT: no such file or directory, open '/w/x'","success":false}]`), "read_files", "success"},
		{"the command line: no match", raw("search_codebase", in(`{"queries":["x"]}`), `[{"query":"x","result":"No results found","success":false}]`), "search_codebase", "success"},
		{"the command line: a page with 503", raw("fetch_web_content", in(`{"requests":[{"url":"https://api.example.com/x","prompt":"p"}]}`), `[{"query":"https://api.example.com/x","result":"","error":"Error fetching web content: HTTP 503: Service Unavailable","success":false}]`), "fetch_web_content/api.example.com", "upstream"},
		{"the command line: not approved", told("run_commands", in(`{"commands":["git push"]}`), false, `{"error":"Tool \"run_commands\" was not approved"}`), "run_commands/git", "ignored"},
		{"the command line: a page", told("fetch_web_content", in(`{"requests":[{"url":"https://api.example.com/x","prompt":"p"}]}`), false, "HTTP 503"), "fetch_web_content/api.example.com", "upstream"},
	})
}

func TestCodesInTheTextOfAnAgent(t *testing.T) {
	tests := []struct {
		name string
		read func(string) (int, bool)
		text string
		want int
		ok   bool
	}{
		{"Copilot", copilotTail, "FAIL\n<exited with exit code 127>", 127, true},
		{"Copilot, white space after it", copilotTail, "<exited with exit code 0>\n", 0, true},
		{"Copilot, not at the end", copilotTail, "<exited with exit code 1>\nmore", 0, false},
		{"Copilot, no number", copilotTail, "<exited with exit code >", 0, false},
		{"Copilot, a long output", copilotTail, strings.Repeat("x", 3*window) + "\n<exited with exit code 3>", 3, true},
		{"Cline", clineExit, "Command executed in terminal. Command execution was not successful, inspect the cause and adjust as needed.\nExit code: 1\nOutput:\nExit code: 9", 1, true},
		{"Cline, same line", clineExit, "Command executed in terminal within working directory '/srv'. Exit code: 0\nOutput:\n", 0, true},
		{"Cline, in the output only", clineExit, "Command executed.\nOutput:\nExit code: 1", 0, false},
		{"Cline, no number", clineExit, "Exit code: <undefined, notify user>\nOutput:\n", 0, false},
		{"Codex", codexCode, "Wall time: 1 seconds\nExit code: -1", -1, true},
		{"Codex, no number", codexCode, "Exit code: none\nProcess exited with code 3\r", 3, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got, ok := tt.read(tt.text); got != tt.want || ok != tt.ok {
				t.Errorf("got %d, %v, want %d, %v", got, ok, tt.want, tt.ok)
			}
		})
	}
}
