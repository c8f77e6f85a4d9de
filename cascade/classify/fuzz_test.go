package classify

import (
	"errors"
	"strings"
	"testing"
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

func checkVerdict(t *testing.T, v Verdict) {
	t.Helper()
	checkSignature(t, v.Signature)
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
