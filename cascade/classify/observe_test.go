package classify

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/expediter-go/expediter/cascade"
)

func code(n int) *int { return &n }

func TestErrnoAndItsTextAgree(t *testing.T) {
	// Text comes from shells, where these two are mostly the agent's own
	// second server and its own long command told by another program.
	differ := map[string]bool{"EADDRINUSE": true, "E2BIG": true}
	for _, r := range errnoRules {
		err := &os.PathError{Op: "open", Path: "f", Err: r.errno}
		if got := FromError(err, nil); got.Class != r.class.String() {
			t.Errorf("%s: got %s by %s, want %s", r.name, got.Class, got.Rule, r.class)
		}
		got := observeText("open f: " + r.errno.Error())
		if (got.Class == r.class.String()) == differ[r.name] {
			t.Errorf("%s as text %q: got %s by %s, errno is %s", r.name, r.errno, got.Class, got.Rule, r.class)
		}
	}
}

func TestGoErrorTraps(t *testing.T) {
	slow := &url.Error{Op: "Get", URL: "http://127.0.0.1", Err: context.DeadlineExceeded}
	killed := errors.New("signal: killed")
	cause := errors.New("tool deadline")
	tests := []struct {
		name     string
		err, ctx error
		want     string
	}{
		{"no error", nil, nil, "ok"},
		{"late success", nil, context.DeadlineExceeded, "ok"},
		{"caller cancelled", context.Canceled, context.Canceled, "cancelled"},
		{"upstream cancelled, the caller did not", context.Canceled, nil, "upstream"},
		{"caller cancelled, wrapped", fmt.Errorf("get: %w", context.Canceled), context.Canceled, "cancelled"},
		{"client timeout", slow, nil, "timeout"},
		{"CommandContext says only signal: killed", killed, context.DeadlineExceeded, "timeout"},
		{"the same without a deadline", killed, nil, "resource"},
		{"cause hides the deadline", cause, errors.Join(context.DeadlineExceeded, cause), "timeout"},
		{"a cancelled program", killed, context.Canceled, "cancelled"},
		{"EAGAIN is no timeout", &os.PathError{Op: "fork/exec", Path: "x", Err: syscall.EAGAIN}, nil, "resource"},
		{"missing absolute path", &os.PathError{Op: "fork/exec", Path: "/nope", Err: syscall.ENOENT}, nil, "tool_missing"},
		{"forbidden program", &os.PathError{Op: "fork/exec", Path: "/etc/passwd", Err: syscall.EACCES}, nil, "permission"},
		{"missing file", &os.PathError{Op: "open", Path: "/nope", Err: syscall.ENOENT}, nil, "invalid_input"},
		{"refused", &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}, nil, "network"},
		{"slow DNS", &net.DNSError{Err: "i/o timeout", IsTimeout: true}, nil, "timeout"},
		{"EOF", fmt.Errorf("read: %w", io.EOF), nil, "network"},
		{"gRPC status", errors.New("rpc error: code = InvalidArgument desc = timeout must not be zero"), nil, "invalid_input"},
		{"gRPC message before an overloaded status", errors.New("rpc error: code = Unknown desc = 429 Too Many Requests"), nil, "rate_limit"},
		{"gRPC overloaded status alone", errors.New("rpc error: code = Unavailable desc = try later"), nil, "network"},
		{"nothing known", errors.New("boom"), nil, "unknown"},
		{"a panic's value", errors.New("panic: boom"), nil, "unknown"},
		{"empty", errors.New(""), nil, "unknown"},
		{"an error that panics", (*os.SyscallError)(nil), nil, "unknown"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := FromError(tt.err, tt.ctx); got.Class != tt.want {
				t.Errorf("got %s by %s, want %s", got.Class, got.Rule, tt.want)
			}
		})
	}
}

func TestExitErrorOfARealProgram(t *testing.T) {
	_, err := exec.Command("sh", "-c", "echo 'connect: Connection refused' >&2; exit 3").Output()
	got := FromError(err, nil)
	want := Verdict{Category: cascade.Network, Class: "network", Signature: "exit status #", Rule: "text:connection refused"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	_, err = exec.Command("sh", "-c", "exit 127").Output()
	if got := FromError(err, nil); got.Category != cascade.ToolMissing {
		t.Errorf("exit 127: got %s by %s", got.Class, got.Rule)
	}
	if got := FromError(exec.Command("nosuch-program-xyz").Run(), nil); got.Category != cascade.ToolMissing {
		t.Errorf("no such program: got %s by %s", got.Class, got.Rule)
	}
}

func TestExitRulesDecideForTheirProgram(t *testing.T) {
	for _, r := range exitRules {
		argv := strings.Fields(r.program)
		if r.program == "" {
			argv = []string{"sometool"}
		}
		got := Observe(Observation{Argv: argv, ExitCode: code(r.code)})
		if got.Class != r.class.String() || got.Rule != r.name() {
			t.Errorf("%s: got %s by %s, want %s", r.name(), got.Class, got.Rule, r.class)
		}
	}
}

func TestExitCodes(t *testing.T) {
	tests := []struct {
		name, shell, text string
		exit              int
		want              string
	}{
		{"no match of rg", "rg nope src", "", 1, "ok"},
		{"no match of rg, wrapped", "LC_ALL=C timeout 5 rg nope", "", 1, "ok"},
		{"a pipeline's 1 is anybody's", "cat log | grep x", "", 1, "invalid_input"},
		{"a pipeline's 28 is not curl's", "curl x | jq .", "", 28, "invalid_input"},
		{"curl alone", "curl -s https://x.invalid > out.txt 2>&1", "", 28, "timeout"},
		{"curl -f: the text has the status", "curl -f https://x.invalid", "curl: (22) The requested URL returned error: 503", 22, "upstream"},
		{"curl's 404", "curl -f https://x.invalid", "curl: (22) The requested URL returned error: 404", 22, "invalid_input"},
		{"git 128 reads the text", "git fetch", "fatal: unable to access 'x': Could not resolve host: x", 128, "network"},
		{"git 128 otherwise", "git log nope", "fatal: your current branch has no commits", 128, "invalid_input"},
		{"git push over ssh", "git push", "git@github.com: Permission denied (publickey).", 128, "auth"},
		{"psql without a server", "psql -c x", "", 2, "network"},
		{"psql with a wrong password", "psql -c x", `FATAL:  password authentication failed for user "a"`, 2, "auth"},
		{"127 beats No such file", "/nope/bin/x", "bash: line 1: /nope/bin/x: No such file or directory", 127, "tool_missing"},
		{"126 of a directory", "/tmp", "bash: /tmp: Is a directory", 126, "invalid_input"},
		{"126 without a text", "./x", "", 126, "permission"},
		{"tests that fail", "go test ./...", "--- FAIL: TestX", 1, "invalid_input"},
		{"tests that print ECONNREFUSED", "npm test", "connect ECONNREFUSED 127.0.0.1:5432", 1, "invalid_input"},
		{"tests that miss a module", "npm test", "Error: Cannot find module 'left-pad'", 1, "invalid_input"},
		{"tests on a full disk", "npm test", "ENOSPC: no space left on device", 1, "filesystem"},
		{"a client that prints ECONNREFUSED", "node fetch.js", "connect ECONNREFUSED 127.0.0.1:5432", 1, "network"},
		{"unknown text", "frobnicate", "it did not work out", 1, "invalid_input"},
		{"no text at all", "frobnicate", "", 1, "invalid_input"},
		{"success", "frobnicate", "connect ECONNREFUSED", 0, "ok"},
		{"out of memory", "make", "", 137, "resource"},
		{"interrupted", "make", "", 130, "cancelled"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Observe(Observation{Tool: "Bash", Shell: tt.shell, Result: tt.text, ExitCode: code(tt.exit)})
			if got.Class != tt.want {
				t.Errorf("got %s by %s, want %s", got.Class, got.Rule, tt.want)
			}
		})
	}
}

// TestAmbiguousTexts holds the texts that look like one thing and are another.
func TestAmbiguousTexts(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"missing program of a Python subprocess", "FileNotFoundError: [Errno 2] No such file or directory: 'nosuch-xyz' (subprocess.run)", "tool_missing"},
		{"missing program of a traceback", "Traceback (most recent call last):\n  File \"/usr/lib/python3.11/subprocess.py\", line 1950, in _execute_child\nFileNotFoundError: [Errno 2] No such file or directory: 'rg'", "tool_missing"},
		{"missing file of a script", "FileNotFoundError: [Errno 2] No such file or directory: 'data.csv'", "invalid_input"},
		{"env's missing program", "/usr/bin/env: 'x': No such file or directory", "tool_missing"},
		{"spawn ENOENT", "spawn rg ENOENT", "tool_missing"},
		{"inotify limit", "ENOSPC: System limit for number of file watchers reached", "filesystem"},
		{"harness's full disk", "Command output was lost: temp filesystem at /tmp is full (0MB free)", "filesystem"},
		{"agent's empty exit 1", "Exit code 1", "invalid_input"},
		{"pip without a registry", "ERROR: Could not find a version that satisfies the requirement x", "network"},
		{"npx 404", "npm error 404  The requested resource 'x@*' could not be found or you do not have permission to access it.", "tool_missing"},
		{"publickey", "git@github.com: Permission denied (publickey)", "auth"},
		{"secondary rate limit", "HTTP 403: You have exceeded a secondary rate limit", "rate_limit"},
		{"expired login as invalid request", "MCP error -32600: Authentication tokens are no longer valid", "auth"},
		{"invalid_grant in a 400", "oauth2: cannot fetch token: 400 Bad Request Response: {\"error\":\"invalid_grant\"}", "auth"},
		{"locked database as internal error", "-32603: database is locked", "filesystem"},
		{"lost session as bad request", "-32000 Bad Request: No valid session ID provided", "network"},
		{"lost session as invalid request", "-32600 Session not found", "network"},
		{"hidden cause of a task group", "unhandled errors in a TaskGroup (1 sub-exception)", "network"},
		{"empty error object", "Error calling tool execute_sql: {}", "none"},
		{"safety preflight", "Unable to verify if domain X is safe to fetch", "network"},
		{"missing module of the tool", "Error: Cannot find module 'nosuch-mod'", "tool_missing"},
		{"missing module of the agent's code", "a.ts(1,1): error TS2307: Cannot find module 'x'", "invalid_input"},
		{"killed", "signal: killed", "resource"},
		{"killed, as a code", "Process exited with code 137", "resource"},
		{"an answer, as a code", "Process exited with code 1", "invalid_input"},
		{"a message beyond the limit", "rpc error: code = ResourceExhausted desc = grpc: received message larger than max (5 vs. 4)", "invalid_input"},
		{"browser of the server died", "Target page, context or browser has been closed", "network"},
		{"529 without a reason", "requests 529 Server Error:  for url", "rate_limit"},
		{"lock of another git", "fatal: Unable to create '/w/.git/index.lock': File exists.", "filesystem"},
		{"unknown tool as invalid params", "MCP error -32602: Unknown tool: x", "tool_missing"},
		{"a bare number is no status", "processed 429 of 503 rows in 500 ms", "none"},
		{"a count is no status", "the query returned 500 rows", "none"},
		{"FileNotFoundError is no ENOTFOUND", "FileNotFoundError: x", "invalid_input"},
		{"a room is no OOM", "the meeting room is taken", "none"},
		{"titles are no TLS", "the titles: differ", "none"},
		{"our own denial", "expediter SKIP: Grep is open (network)", "none"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := observeText(tt.text); got.Class != tt.want {
				t.Errorf("got %s by %s, want %s", got.Class, got.Rule, tt.want)
			}
		})
	}
}

func TestCodes(t *testing.T) {
	tests := []struct {
		name string
		o    Observation
		want string
	}{
		{"WebFetch's 503 in a success", Observation{HTTPStatus: 503}, "upstream"},
		{"200", Observation{HTTPStatus: 200, Result: "429 Too Many Requests"}, "ok"},
		{"404", Observation{HTTPStatus: 404}, "invalid_input"},
		{"404 of a lost session", Observation{HTTPStatus: 404, Result: "Session not found"}, "network"},
		{"400 with an expired grant", Observation{HTTPStatus: 400, Result: `{"error":"invalid_grant"}`}, "auth"},
		{"422 that mentions a timeout", Observation{HTTPStatus: 422, Result: "timeout out of range"}, "invalid_input"},
		{"403", Observation{HTTPStatus: 403}, "permission"},
		{"403 of a rate limit", Observation{HTTPStatus: 403, Result: "secondary rate limit"}, "rate_limit"},
		{"507", Observation{HTTPStatus: 507}, "upstream"},
		{"526", Observation{HTTPStatus: 526}, "network"},
		{"outside the table", Observation{HTTPStatus: 999, Failed: true, Result: "x"}, "unknown"},
		{"MCP: request timed out", Observation{Protocol: MCP, RPCCode: -32001}, "timeout"},
		{"A2A: task not found", Observation{Protocol: A2A, RPCCode: -32001}, "invalid_input"},
		{"MCP: capability", Observation{Protocol: MCP, RPCCode: -32021, Result: "timeout"}, "config"},
		{"A2A: unauthorized", Observation{Protocol: A2A, RPCCode: -31403}, "permission"},
		{"internal error, locked", Observation{Protocol: MCP, RPCCode: -32603, Result: "database is locked"}, "filesystem"},
		{"internal error", Observation{Protocol: MCP, RPCCode: -32603}, "upstream"},
		{"an unknown MCP answer", Observation{Protocol: MCP, Failed: true, Result: "boom"}, "none"},
		{"an unknown hook text", Observation{Protocol: Agent, Failed: true, Result: "boom"}, "none"},
		{"a failure that says nothing", Observation{Failed: true}, "none"},
		{"410 of an MCP endpoint", Observation{Protocol: MCP, HTTPStatus: 410}, "tool_missing"},
		{"404 of an MCP endpoint", Observation{Protocol: MCP, HTTPStatus: 404, Result: "404 page not found"}, "tool_missing"},
		{"404 with a session", Observation{Protocol: MCP, HTTPStatus: 404, Header: header("Mcp-Session-Id", "x")}, "network"},
		{"401, whatever the text", Observation{HTTPStatus: 401, Result: "server error"}, "auth"},
		{"504, whatever the text", Observation{HTTPStatus: 504, Result: "internal server error"}, "timeout"},
		{"404 of a peer", Observation{Protocol: A2A, HTTPStatus: 404}, "tool_missing"},
		{"404 of a peer's task", Observation{Protocol: A2A, HTTPStatus: 404, Result: "TASK_NOT_FOUND"}, "invalid_input"},
		{"MCP: client is closing", Observation{Protocol: MCP, RPCCode: -32003}, "network"},
		{"A2A: no push notifications", Observation{Protocol: A2A, RPCCode: -32003}, "tool_missing"},
		{"MCP: rejected by transport", Observation{Protocol: MCP, RPCCode: -32005, Result: "Too Many Requests"}, "rate_limit"},
		{"A2A: content type", Observation{Protocol: A2A, RPCCode: -32005}, "invalid_input"},
		{"cancelled request", Observation{RPCCode: -32800}, "cancelled"},
		{"gRPC by number", Observation{GRPCCode: 16}, "auth"},
		{"gRPC of Python", Observation{Failed: true, Result: "status = StatusCode.NOT_FOUND details = \"timed out\""}, "invalid_input"},
		{"gRPC of Node", Observation{Failed: true, Result: "Error: 7 PERMISSION_DENIED: timed out"}, "permission"},
		{"gRPC of Java", Observation{Failed: true, Result: "io.grpc.StatusRuntimeException: UNAUTHENTICATED: x"}, "auth"},
		{"gRPC of C#", Observation{Failed: true, Result: `Status(StatusCode="Unavailable", Detail="x")`}, "network"},
		{"gRPC of Rust", Observation{Failed: true, Result: `status: Cancelled, message: "x"`}, "cancelled"},
		{"gRPC with a number that nobody knows", Observation{GRPCCode: 99}, "none"},
		{"the deadline", Observation{DeadlineHit: true}, "timeout"},
		{"an answer that is no failure", Observation{Result: "connection refused"}, "ok"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Observe(tt.o); got.Class != tt.want {
				t.Errorf("got %s by %s, want %s", got.Class, got.Rule, tt.want)
			}
		})
	}
}

func TestRetryAfter(t *testing.T) {
	tests := []struct {
		text string
		want time.Duration
	}{
		{"429 Too Many Requests, Retry-After: 120", 2 * time.Minute},
		{"rate limit reached. Please try again in 20s", 20 * time.Second},
		{"rate limit reached. Please try again in 1.5 minutes", 90 * time.Second},
		{"rate limit: retry in 250ms", 250 * time.Millisecond},
		{"HTTP 503: retry after 9999999 hours", maxRetryAfter},
		{"429 Too Many Requests", 0},
		{"connection refused, retry in 5s", 0},
	}
	for _, tt := range tests {
		if got := observeText(tt.text).RetryAfter; got != tt.want {
			t.Errorf("%q: got %v, want %v", tt.text, got, tt.want)
		}
	}
	got := Observe(Observation{HTTPStatus: 429, RetryAfter: time.Minute, Result: "retry in 5s"}).RetryAfter
	if got != time.Minute {
		t.Errorf("the header: got %v, want 1m", got)
	}
}

func TestOwnRules(t *testing.T) {
	rules, err := Compile([]Rule{
		{Match: `(?i)frobnicator is cold`, Category: "upstream"},
		{ExitCode: code(7), Outcome: "success"},
		{Match: "ignore me", Outcome: "ignored"},
	})
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		o    Observation
		want Verdict
	}{
		{"text", Observation{Failed: true, Result: "Frobnicator is cold: connection refused"},
			Verdict{Category: cascade.Upstream, Class: "upstream", Signature: "Frobnicator is cold: connection refused", Rule: "own:1"}},
		{"exit code", Observation{ExitCode: code(7), Result: "x"}, Verdict{Outcome: cascade.Succeeded, Class: "invalid_input", Signature: "x", Rule: "own:2"}},
		{"ignored", Observation{Failed: true, Result: "ignore me"}, Verdict{Outcome: cascade.Ignored, Class: "none", Signature: "ignore me", Rule: "own:3"}},
		{"the deadline is not theirs", Observation{DeadlineHit: true, Result: "ignore me"}, Verdict{Category: cascade.Timeout, Class: "timeout", Signature: "ignore me", Rule: "context:deadline"}},
		{"no failure", Observation{Result: "ignore me"}, Verdict{Outcome: cascade.Succeeded, Class: "ok", Rule: "ok"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.o.Rules = rules
			if diff := cmp.Diff(tt.want, Observe(tt.o)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCompileReportsEveryProblem(t *testing.T) {
	_, err := Compile([]Rule{
		{},
		{Match: "(", Outcome: "maybe"},
		{Match: "x", ExitCode: code(1)},
		{ExitCode: code(0)},
		{Match: "x", Outcome: "success", Category: "network"},
		{Match: "x", Category: "weather"},
		{Match: strings.Repeat("x", maxPattern+1)},
	})
	var got []string
	for _, e := range err.(interface{ Unwrap() []error }).Unwrap() {
		var r *RuleError
		if !errors.As(e, &r) {
			t.Fatalf("%v is no RuleError", e)
		}
		got = append(got, fmt.Sprintf("%d %s", r.Index, r.Field))
	}
	want := []string{"0 match", "1 match", "1 outcome", "2 match", "3 exit_code", "4 category", "5 category", "6 match"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestErrorText(t *testing.T) {
	tests := []struct {
		name string
		o    Observation
		want string
	}{
		{"a success", Observation{Result: "x"}, ""},
		{"a text", Observation{Failed: true, Result: "  connection refused\x1b[0m\n"}, "connection refused"},
		{"a Go error", Observation{Err: errors.New("connection refused")}, "connection refused"},
		{"a server's result", Observation{Agent: Codex, Tool: "mcp__db__query", Payload: in(`{"isError":true,"content":[{"type":"text","text":"HTTP 503"}]}`)}, "HTTP 503"},
		{"without its head", Observation{Agent: Codex, Tool: "Bash", Payload: in(`"Process exited with code 7\nFinal output:\nconnection refused"`)}, "connection refused"},
		{"a status", Observation{Agent: ClaudeCode, Tool: "WebFetch", Payload: in(`{"code":503,"codeText":"Service Unavailable"}`)}, "HTTP 503 Service Unavailable"},
		{"nothing that is wrong", Observation{Agent: ClaudeCode, Tool: "WebFetch", Payload: in(`{"code":200}`)}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := ErrorText(tt.o); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
