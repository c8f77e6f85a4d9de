package classify

import (
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/expediter-go/expediter/internal/pattern"
)

// coldEnv names the call that a process of the test binary is to make, in the
// place of its tests.
const coldEnv = "CLASSIFY_COLD"

// coldCalls are first calls of a process, as those of hooks are. A process may
// compile so many patterns for one.
var coldCalls = []struct {
	name     string
	patterns int
	call     func() Verdict
}{
	{"key of a shell", 0, func() Verdict { return Verdict{Key: Key(bashCall("cd /w && npm test"))} }},
	{"key of a fetch", 0, func() Verdict {
		return Verdict{Key: Key(Observation{Tool: "WebFetch", Input: in(`{"url":"https://api.example.com/x"}`)})}
	}},
	{"success of a shell", 0, func() Verdict {
		o := bashCall("npm test")
		o.Payload = in(`{"stdout":"Error: connect ECONNREFUSED 127.0.0.1:5432 (exit 1)","stderr":"","interrupted":false}`)
		return Observe(o)
	}},
	{"unmarked success", 0, func() Verdict {
		return Observe(Observation{Protocol: Agent, Agent: Codex, Tool: "my_tool", Unmarked: true, Result: "3 errors found: connection refused (exit 1)"})
	}},
	{"success of Codex", 0, func() Verdict {
		return Observe(Observation{Protocol: Agent, Agent: Codex, Tool: "Bash", Input: in(`{"command":"curl https://x.example"}`),
			Payload: in(`"12:00 connect ECONNREFUSED: exit code 1"`)})
	}},
	{"success of Gemini", 0, func() Verdict {
		return Observe(Observation{Protocol: Agent, Agent: Gemini, Tool: "run_shell_command", Input: in(`{"command":"npm test"}`),
			Payload: in(`{"llmContent":"Output: error: x\nProcess Group PGID: 7","returnDisplay":"x"}`)})
	}},
	{"success of Copilot", 0, func() Verdict {
		return Observe(Observation{Protocol: Agent, Agent: Copilot, Tool: "bash", Input: in(`{"command":"npm test"}`),
			Payload: in(`{"resultType":"success","textResultForLlm":"error: x\n<exited with exit code 0>"}`)})
	}},
	{"missing module", 3, failedBash("npm test", "Exit code 1\nError: Cannot find module 'express'")},
	{"failing tests", 4, failedBash("go test ./...", "Exit code 1\n--- FAIL: TestParse (0.00s)\n    parse_test.go:31: got 3, want 4: invalid argument\nFAIL\texample.com/app/parse\t0.012s\nFAIL")},
	{"missing file", 5, failedBash("ls /nope", "Exit code 2\nls: cannot access '/nope': No such file or directory")},
	{"curl", 0, failedBash("curl -sS https://api.example.com/v1", "Exit code 7\ncurl: (7) Failed to connect to api.example.com port 443 after 12 ms: Could not connect to server")},
	{"401", 0, func() Verdict {
		return Observe(Observation{Protocol: Agent, Agent: ClaudeCode, Tool: "mcp__github__create_issue", Failed: true, Result: "Error: HTTP 401 Unauthorized: Bad credentials"})
	}},
	{"page with 503", 0, func() Verdict {
		return Observe(Observation{Protocol: Agent, Agent: ClaudeCode, Tool: "WebFetch", Input: in(`{"url":"https://api.example.com/x"}`),
			Payload: in(`{"bytes":10,"code":503,"codeText":"Service Unavailable","result":"sorry","durationMs":12}`)})
	}},
	{"wrong edit", 2, func() Verdict {
		return Observe(Observation{Protocol: Agent, Agent: ClaudeCode, Tool: "Edit", Failed: true, Result: "String to replace not found in file.\nString: x"})
	}},
	{"unknown text", 2, func() Verdict {
		return Observe(Observation{Protocol: Agent, Agent: ClaudeCode, Tool: "mcp__x__y", Failed: true, Result: "calling tool: 3 of the 17 widgets were not frobnicated properly this time"})
	}},
}

func bashCall(command string) Observation {
	input, _ := json.Marshal(map[string]string{"command": command})
	return Observation{Protocol: Agent, Agent: ClaudeCode, Tool: "Bash", Input: input}
}

func failedBash(command, text string) func() Verdict {
	o := bashCall(command)
	o.Failed, o.Result = true, text
	return func() Verdict { return Observe(o) }
}

// coldCost is what a first call cost its process.
type coldCost struct {
	Nanoseconds       int64
	AtStart, Compiled int // patterns
	Rule              string
}

func TestMain(m *testing.M) {
	name := os.Getenv(coldEnv)
	if name == "" {
		os.Exit(m.Run())
	}
	cost := coldCost{AtStart: pattern.Compiled()}
	for _, c := range coldCalls {
		if c.name == name {
			start := time.Now()
			v := c.call()
			cost.Nanoseconds, cost.Rule = time.Since(start).Nanoseconds(), v.Rule
		}
	}
	cost.Compiled = pattern.Compiled()
	if json.NewEncoder(os.Stdout).Encode(cost) != nil {
		os.Exit(1)
	}
}

// cold makes a call in a fresh process.
func cold(tb testing.TB, name string) (cost coldCost) {
	tb.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(slices.Clone(os.Environ()), coldEnv+"="+name)
	out, err := child.Output()
	if err == nil {
		err = json.Unmarshal(out, &cost)
	}
	if err != nil || cost.Nanoseconds == 0 {
		tb.Fatalf("%s: %v, printed %q", name, err, out)
	}
	return cost
}

// What a hook pays for is its first call. The time is that of BenchmarkCold;
// here it is the patterns, which do not depend on the machine.
func TestAFirstCallCompilesLittle(t *testing.T) {
	for _, c := range coldCalls {
		t.Run(c.name, func(t *testing.T) {
			if got := cold(t, c.name); got.AtStart != 0 || got.Compiled > c.patterns {
				t.Errorf("compiled %d at the start and %d until the end (by %s), want 0 and at most %d; give the rows that cannot match a lit or also",
					got.AtStart, got.Compiled, got.Rule, c.patterns)
			}
		})
	}
}

// BenchmarkCold reports the time of the first call in a process as cold-ns/op;
// ns/op is that of the whole process.
func BenchmarkCold(b *testing.B) {
	for _, c := range coldCalls {
		b.Run(c.name, func(b *testing.B) {
			total, n := int64(0), int64(0)
			for b.Loop() {
				total, n = total+cold(b, c.name).Nanoseconds, n+1
			}
			b.ReportMetric(float64(total)/float64(n), "cold-ns/op")
		})
	}
}
