package trace

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// transcript is a made-up transcript of Claude Code of at least n bytes, mixed as
// real ones are: reads with long results, edits, commands, progress.
func transcript(n int) []byte {
	var b bytes.Buffer
	source := strings.Repeat("\tif err := s.flush(ctx); err != nil {\n\t\treturn fmt.Errorf(\"flush %q: %w\", name, err)\n\t}\n", 60)
	for i := 0; b.Len() < n; i++ {
		session := fmt.Sprintf("session-%d", i/500)
		common := fmt.Sprintf(`"isSidechain":false,"userType":"external","cwd":"/repo","sessionId":%q,"version":"2.0.0","timestamp":"2026-01-02T03:%02d:%02d.000Z"`, session, i/60%60, i%60)
		say := func(format string, args ...any) { fmt.Fprintf(&b, "{"+format+","+common+"}\n", args...) }
		text := quote(source[:1+i*97%len(source)])
		if i%50 == 0 {
			say(`"type":"user","uuid":"prompt-%08d-0001","message":{"role":"user","content":"Now the next part"}`, i)
		}
		use := func(tool, input string) {
			say(`"type":"assistant","uuid":"use-%08d","message":{"id":"msg_%08d","type":"message","role":"assistant","model":"m","content":[{"type":"tool_use","id":"toolu_%016d","name":%q,"input":%s}],"usage":{"input_tokens":4,"cache_read_input_tokens":12000,"output_tokens":230}}`, i, i, i, tool, input)
		}
		result := func(text, rest string) {
			say(`"type":"user","uuid":"res-%08d","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_%016d","content":%s%s}]},"toolUseResult":{"type":"text","file":{"filePath":"/repo/a.go","content":%s,"numLines":3}}`, i, i, text, rest, text)
		}
		say(`"type":"assistant","uuid":"say-%08d","message":{"id":"msg_%08d","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"I look at the next file and change what is wrong in it."}]}`, i, i)
		switch i % 4 {
		case 0:
			use("Read", `{"file_path":"/repo/a.go"}`)
			result(text, "")
		case 1:
			use("Bash", `{"command":"cd /repo && go test ./... 2>&1 | tail -20","description":"Run the tests"}`)
			say(`"type":"progress","data":{"type":"bash_progress","output":%s,"elapsedTimeSeconds":3},"toolUseID":"bash-progress-1","parentToolUseID":"toolu_%016d","uuid":"p-%08d"`, text, i, i)
			result(quote("Exit code 1\n--- FAIL: TestFlush (0.01s)\nFAIL"), `,"is_error":true`)
		case 2:
			use("Edit", fmt.Sprintf(`{"file_path":"/repo/a.go","old_string":%s,"new_string":%s}`, text, text))
			result(quote("The file /repo/a.go has been updated."), "")
		case 3:
			use("Grep", `{"pattern":"flush","path":"/repo"}`)
			result(text, "")
		}
	}
	return b.Bytes()
}

func quote(s string) string {
	raw, _ := json.Marshal(s)
	return string(raw)
}

const benchBytes = 16 << 20

func BenchmarkImport(b *testing.B) {
	data := transcript(benchBytes)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		stats, err := Read(b.Context(), "bench", bytes.NewReader(data), Options{}, func(*Event) error { return nil })
		if err != nil || stats.Calls == 0 {
			b.Fatal(stats, err)
		}
	}
}

func BenchmarkImportAll(b *testing.B) {
	data := transcript(benchBytes)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		sources := []Source{memory("bench", data)}
		stats, err := ReadAll(b.Context(), sources, Options{}, func(*Event) error { return nil })
		if err != nil || stats[0].Calls == 0 {
			b.Fatal(stats, err)
		}
	}
}

// BenchmarkDecodeOnly is what an import is measured against.
func BenchmarkDecodeOnly(b *testing.B) {
	data := transcript(benchBytes)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		for line := range bytes.Lines(data) {
			var v any
			if err := json.Unmarshal(line, &v); err != nil {
				b.Fatal(err)
			}
		}
	}
}
