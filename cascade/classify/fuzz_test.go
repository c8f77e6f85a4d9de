package classify

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/expediter-go/expediter/cascade"
)

func FuzzObserve(f *testing.F) {
	f.Add("Bash", `{"command":"rg x | head"}`, "", "rg: x: No such file or directory", 2, 0, 0, byte(3))
	f.Add("WebFetch", "", "", "429 Too Many Requests; retry-after: 1e99", 0, 429, 0, byte(0))
	f.Add("mcp__db__query", "{", "", "-32602 Invalid arguments", 0, 0, -32602, byte(1))
	f.Add("", "", "A='x sudo \"", "\x1b[31m\x00\xff", -1, 999, 1, byte(2))
	f.Fuzz(func(t *testing.T, tool, input, shell, text string, exit, status, rpc int, protocol byte) {
		o := Observation{
			Protocol: Protocol(protocol % 4), Tool: tool, Input: []byte(input), Shell: shell, Result: text,
			ExitCode: &exit, HTTPStatus: status, RPCCode: rpc,
		}
		checkVerdict(t, Observe(o))
		checkVerdict(t, Observe(Observation{Err: errors.New(text)}))
		checkVerdict(t, Observe(Observation{Tool: tool, Failed: true, Result: text}))
	})
}

// FuzzPayload throws structured results, headers and classes at every shape.
func FuzzPayload(f *testing.F) {
	f.Add("Bash", `{"stdout":"","interrupted":true,"timedOutAfterMs":1}`, "", "", 0, byte(0), false)
	f.Add("WebFetch", `{"code":503,"codeText":"x"}`, "x", "0", 0, byte(1), true)
	f.Add("shell", `"{\"output\":\"x\",\"metadata\":{\"exit_code\":7}}"`, "Process exited with code 7\nOutput:\nx", "Sat, 01 Aug 2026 10:00:30 GMT", 14, byte(2), false)
	f.Add("run_shell_command", `{"llmContent":"x\nExit Code: 6","error":{"type":"no_space_left","message":"x"}}`, "Traceback (most recent call last)", "1e999", 3, byte(3), true)
	f.Add("x", `{"jsonrpc":"2.0","error":{"code":-32001,"message":"x","data":[{"reason":"y"}]},"result":{"task":{"status":{"state":"failed"}}}}`, "test_build", "6m0s", 16, byte(9), true)
	f.Add("mcp__a__b", `{"content":[{"text":"x"},3,[]],"isError":true}`, "", "NaN", -1, byte(10), true)
	f.Add("bash", `{"resultType":"success","textResultForLlm":"x\n<exited with exit code 6>"}`, "[bash for 'x'] Result:\nCommand x\nExit code: 6\nOutput:\n", "", 0, byte(4), true)
	f.Add("execute_command", `{"success":true,"result":"The tool execution failed with the following error:\n<error>\nx"}`, `{"status":"error","message":"The tool execution failed"}`, "", 0, byte(5), false)
	f.Add("WebSearch", `{"results":["Web search error: unavailable",{}]}`, "", "", 0, byte(0), false)
	f.Add("web_fetch", `{"llmContent":[{"text":"x"},{"text":"Exit Code: 6\nSignal:"}]}`, "curl: (6) x\ncurl: (7) y", "", 0, byte(2), true)
	agents := []AgentName{ClaudeCode, Codex, Gemini, Cursor, Copilot, Cline, Windsurf, SWEAgent, OpenHands, "", "other", Inspect}
	at := time.Date(2026, 8, 1, 10, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, tool, payload, text, value string, grpc int, agent byte, unmarked bool) {
		for p := Plain; p <= Agent; p++ {
			o := Observation{
				Protocol: p, Agent: agents[int(agent)%len(agents)], Tool: tool, Payload: []byte(payload), Result: text, Class: text,
				GRPCCode: grpc, Unmarked: unmarked, At: at,
				Header: http.Header{"Retry-After": {value}, "X-Ratelimit-Remaining": {"0"}, "X-Ratelimit-Reset": {value}, "Ratelimit": {value}},
			}
			first := Observe(o)
			checkVerdict(t, first)
			if second := Observe(o); second != first {
				t.Errorf("not the same twice: %+v, %+v", first, second)
			}
			if headerWait(o.Header, at) < 0 {
				t.Error("a negative wait")
			}
		}
	})
}

func checkVerdict(t *testing.T, v Verdict) {
	t.Helper()
	checkBounds(t, v.Signature)
	checkKey(t, v.Key)
	if v.RetryAfter < 0 || v.RetryAfter > maxRetryAfter {
		t.Errorf("retry after %v", v.RetryAfter)
	}
	failed := v.Outcome == cascade.Failed
	if failed != (v.Class == v.Category.String()) || !failed && v.Category != cascade.Unknown || v.Rule == "" {
		t.Errorf("inconsistent verdict %+v", v)
	}
	switch v.Class {
	case "invalid_input", "ok":
		if v.Outcome != cascade.Succeeded {
			t.Errorf("%s is %s", v.Class, v.Outcome)
		}
	case "cancelled", "user_denied", "config", "none":
		if v.Outcome != cascade.Ignored {
			t.Errorf("%s is %s", v.Class, v.Outcome)
		}
	}
}

func checkKey(t *testing.T, key string) {
	t.Helper()
	if len(key) > maxTool+maxProgram+1 || !utf8.ValidString(key) || strings.ContainsFunc(key, unicode.IsControl) {
		t.Errorf("bad key %q", key)
	}
}

func BenchmarkObserve(b *testing.B) {
	b.Run("success", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			Observe(Observation{Tool: "Read", Result: "ordinary output"})
		}
	})
	for name, text := range map[string]string{
		"first":   "cp: error writing '/dev/full': No space left on device",
		"typical": `Get "https://api.example.com/v1/items": dial tcp 10.0.0.1:443: connect: connection refused`,
		"last":    "calling tool: 3 of the 17 widgets were not frobnicated properly this time",
		"4kB":     strings.Repeat("line 12 of some output 503 that says nothing at all\n", 80),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Observe(Observation{Tool: "fetch", Failed: true, Result: text})
			}
		})
	}
}
