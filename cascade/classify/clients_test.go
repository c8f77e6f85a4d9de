package classify

import (
	"testing"

	"github.com/expediter-go/expediter/cascade"
)

func TestTimeLimitOfAShell(t *testing.T) {
	const limit = "Command timed out after 2m 0s"
	tests := []struct {
		name string
		o    Observation
		want string
	}{
		{"a build", Observation{Tool: "Bash", Shell: "cmake --build out", Result: limit, Failed: true}, "none"},
		{"a server", Observation{Tool: "Bash", Shell: "cd app && node server.js", Result: limit, Failed: true}, "none"},
		{"no command known", Observation{Tool: "Bash", Result: limit, Failed: true}, "none"},
		{"a program in a variable", Observation{Tool: "Bash", Shell: "$X y", Result: limit, Failed: true}, "none"},
		{"a download", Observation{Tool: "Bash", Shell: "curl -sO https://a.example/x", Result: limit, Failed: true}, "timeout"},
		{"git push", Observation{Tool: "Bash", Shell: "git add . && git push", Result: limit, Failed: true}, "none"},
		{"git push first", Observation{Tool: "Bash", Shell: "git push && git status", Result: limit, Failed: true}, "timeout"},
		{"git log", Observation{Tool: "Bash", Shell: "git log -S x", Result: limit, Failed: true}, "none"},
		{"npm ci", Observation{Tool: "Bash", Shell: "npm ci", Result: limit, Failed: true}, "timeout"},
		{"npm start", Observation{Tool: "Bash", Shell: "npm start", Result: limit, Failed: true}, "none"},
		{"pip of a Python", Observation{Tool: "Bash", Shell: "python3 -m pip install x", Result: limit, Failed: true}, "timeout"},
		{"a client that was told to wait", Observation{Tool: "Bash", Shell: "gh pr checks 1 --watch", Result: limit, Failed: true}, "none"},
		{"a client after a sleep", Observation{Tool: "Bash", Shell: "sleep 300; gh run view 1", Result: limit, Failed: true}, "none"},
		{"a client in a loop that sleeps", Observation{Tool: "Bash", Shell: "until curl -s x; do sleep 5; done", Result: limit, Failed: true}, "none"},
		{"the caller's deadline", Observation{Tool: "Bash", Shell: "make", DeadlineHit: true}, "none"},
		{"the caller's deadline on a client", Observation{Tool: "Bash", Shell: "psql -c x", DeadlineHit: true}, "timeout"},
		{"timeout(1)", Observation{Tool: "Bash", Shell: "timeout 60 make", ExitCode: code(124)}, "none"},
		{"no shell", Observation{Tool: "Search", Result: limit, Failed: true}, "timeout"},
		{"no tool", Observation{Shell: "cmake --build out", Result: limit, Failed: true}, "timeout"},
		{"a shell of an MCP server", Observation{Protocol: MCP, Server: "host", Tool: "bash", Result: limit, Failed: true}, "timeout"},
		{"another failure of a build", Observation{Tool: "Bash", Shell: "make", Result: "No space left on device", Failed: true}, "filesystem"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Observe(tt.o)
			if got.Class != tt.want || (got.Rule == "shell-limit") != (tt.want == "none") {
				t.Errorf("got %s by %s, want %s", got.Class, got.Rule, tt.want)
			}
		})
	}
}

func TestLostOutput(t *testing.T) {
	tests := []struct {
		name, shell, text string
		exit              int
		want              bool
	}{
		{"ls", "ls src", "", 1, true},
		{"ls, Claude Code", "ls src", "Exit code 1", 1, true},
		{"ls, Claude Code, no output", "ls src", "Exit code 1\n(no output)", 1, true},
		{"ls, Codex", "ls src", "Chunk ID: a1b2\nWall time: 0.01 seconds\nProcess exited with code 1\nOriginal token count: 0\nOutput:\n", 1, true},
		{"ls, empty brackets", "ls src", "<no output>", 1, true},
		{"echo after cd", "cd x && echo hi", "", 1, true},
		{"git status", "git status", "", 1, true},
		{"go build joined", "go build ./... 2>&1", "", 1, true},
		{"ls that says why", "ls nope", "ls: cannot access 'nope': No such file or directory", 1, false},
		{"another exit code", "ls src", "", 2, false},
		{"to a file", "ls src > out 2>&1", "", 1, false},
		{"errors to nowhere", "ls src 2>/dev/null", "", 1, false},
		{"quiet", "go test -q ./...", "", 1, false},
		{"git diff", "git diff --quiet", "", 1, false},
		{"git merge-base", "git merge-base --is-ancestor a b", "", 1, false},
		{"git with a hook", "git commit -m x", "", 1, false},
		{"grep", "grep -q x f", "", 1, false},
		{"a test", "test -f x", "", 1, false},
		{"a test of the shell", "[[ -f x ]]", "", 1, false},
		{"pgrep", "pgrep x", "", 1, false},
		{"false", "false", "", 1, false},
		{"own script", "./check.sh", "", 1, false},
		{"an interpreter", "python x.py", "", 1, false},
		{"make", "make -s", "", 1, false},
		{"a list", "ls src; grep -q x f", "", 1, false},
		{"a pipe", "cat f | grep x", "", 1, false},
		{"a program in a variable", "$X y", "", 1, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Observe(Observation{Tool: "Bash", Shell: tt.shell, Result: tt.text, Failed: true, ExitCode: code(tt.exit)})
			if (got.Rule == noOutputRule) != tt.want || tt.want && (got.Category != cascade.Filesystem || got.Signature != noOutputSignature) {
				t.Errorf("got %+v, want lost output: %v", got, tt.want)
			}
		})
	}
}

func TestLostOutputOfAnUnknownCommand(t *testing.T) {
	lost := Observation{Protocol: Agent, Tool: "Bash", Result: "Exit code 1", Failed: true}
	if got := Observe(lost); got.Rule != noOutputRule || got.Key != "Bash" {
		t.Errorf("got %+v, want lost output of Bash", got)
	}
	lost.Tool = "Search"
	if got := Observe(lost); got.Outcome != cascade.Succeeded {
		t.Errorf("got %+v, want an answer of a tool that is no shell", got)
	}
}
