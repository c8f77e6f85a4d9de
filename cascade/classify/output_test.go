package classify

import (
	"strings"
	"testing"
)

func TestOutputIsNoMessage(t *testing.T) {
	long := strings.Repeat("ok\n", 20)
	tests := []struct {
		name, shell, text string
		exit              int
		want              string
	}{
		{"matches of a search", "grep -rn ECONNREFUSED src nope", "src/a.go:1: connect ECONNREFUSED\ngrep: nope: No such file or directory", 2, "invalid_input"},
		{"the search's own trouble", "grep -rn x /mnt", "/mnt/a: x\ngrep: /mnt/b: Input/output error", 2, "filesystem"},
		{"by its path", "/usr/bin/grep -rn x /mnt", "/usr/bin/grep: /mnt/b: Input/output error", 2, "filesystem"},
		{"the shell's own trouble", "cat a", "bash: fork: Cannot allocate memory", 1, "resource"},
		{"a log that was read", "tail app.log nope", "429 Too Many Requests\ntail: cannot open 'nope' for reading: No such file or directory", 1, "invalid_input"},
		{"history", "git log nope..main", "deadbeef fix: connection refused\nfatal: bad revision 'nope..main'", 128, "invalid_input"},
		{"a local program that says so in the middle", "python3 report.py", long + "connection refused\n" + long, 1, "invalid_input"},
		{"a local program that ends with it", "python3 report.py", long + "ConnectionRefusedError: [Errno 111] Connection refused", 1, "network"},
		{"a client may say it anywhere", "gh pr list", long + "connection refused\n" + long, 1, "network"},
		{"nobody knows the program", "", long + "connection refused\n" + long, 1, "network"},
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

// What an unmarked result printed is no report, however it reads.
func TestPrintedIsNoReport(t *testing.T) {
	tests := []struct {
		name, shell, text, want string
	}{
		{"a log", "cat error.log", "Error: connect ECONNREFUSED 127.0.0.1:5432", "ok"},
		{"the end of a log", "tail -n 5 app.log", "Traceback (most recent call last):\nConnectionError: refused", "ok"},
		{"a log that git wrote", "head git.log", "fatal: unable to access 'https://example.com/': Could not resolve host", "ok"},
		{"an answer that was kept", "jq . last.json", `{"error":{"code":429,"message":"rate limit exceeded"}}`, "ok"},
		{"a search", "grep -rhn ECONN src", "503 Service Unavailable", "ok"},
		{"the shell", "cat error.log", "bash: fork: Cannot allocate memory", "ok"}, // no form of a report
		{"no such program", "rg x", "bash: line 1: rg: command not found", "tool_missing"},
		{"git itself", "git log", "fatal: not a git repository", "invalid_input"},
		{"a client", "psql -c 'select 1'", "Error: connect ECONNREFUSED 127.0.0.1:5432", "network"},
		{"a list of commands", "curl -s localhost; cat x", "Error: connect ECONNREFUSED 127.0.0.1:5432", "network"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Observe(Observation{Tool: "bash", Protocol: Agent, Shell: tt.shell, Result: tt.text, Unmarked: true})
			if got.Class != tt.want {
				t.Errorf("got %s by %s, want %s", got.Class, got.Rule, tt.want)
			}
		})
	}
}
