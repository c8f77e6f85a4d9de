package trace

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// maker makes up a transcript of Claude Code, mixed as real ones are: reads with
// long results, edits, commands that fail, progress.
type maker struct {
	bytes.Buffer
	i        int
	sessions int // that interleave
}

var someSource = strings.Repeat("\tif err := s.flush(ctx); err != nil {\n\t\treturn fmt.Errorf(\"flush %q: %w\", name, err)\n\t}\n", 60)

// next makes the lines of one call.
func (m *maker) next() {
	i := m.i
	m.i++
	text := quote(someSource[:1+i*97%len(someSource)])
	if i%50 == 0 {
		m.say(`"type":"user","uuid":"prompt-%08d-0001","message":{"role":"user","content":"Now the next part"}`, i)
	}
	m.say(`"type":"assistant","uuid":"say-%08d","message":{"id":"msg_%08d","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"I look at the next file and change what is wrong in it."}]}`, i, i)
	switch i % 4 {
	case 0:
		m.use("Read", `{"file_path":"/repo/a.go"}`)
		m.result(text, "")
	case 1:
		m.use("Bash", `{"command":"cd /repo && go test ./... 2>&1 | tail -20","description":"Run the tests"}`)
		m.say(`"type":"progress","data":{"type":"bash_progress","output":%s,"elapsedTimeSeconds":3},"toolUseID":"bash-progress-1","uuid":"p-%08d"`, text, i)
		m.result(quote("Exit code 1\n--- FAIL: TestFlush (0.01s)\nFAIL"), `,"is_error":true`)
	case 2:
		m.use("Edit", fmt.Sprintf(`{"file_path":"/repo/a.go","old_string":%s,"new_string":%s}`, text, text))
		m.result(quote("The file /repo/a.go has been updated."), "")
	case 3:
		m.use("Grep", `{"pattern":"flush","path":"/repo"}`)
		m.result(text, "")
	}
}

func (m *maker) say(format string, args ...any) {
	fmt.Fprintf(m, "{"+format, args...)
	fmt.Fprintf(m, `,"isSidechain":false,"userType":"external","cwd":"/repo","sessionId":"session-%d-%d","version":"2.0.0","timestamp":"2026-01-02T03:%02d:%02d.000Z"}`+"\n",
		m.i%m.sessions, m.i/m.sessions/500, m.i/60%60, m.i%60)
}

func (m *maker) use(tool, input string) {
	m.say(`"type":"assistant","uuid":"use-%08d","message":{"id":"msg_%08d","type":"message","role":"assistant","model":"m","content":[{"type":"tool_use","id":"toolu_%016d","name":%q,"input":%s}],"usage":{"input_tokens":4,"cache_read_input_tokens":12000,"output_tokens":230}}`, m.i, m.i, m.i, tool, input)
}

func (m *maker) result(text, rest string) {
	m.say(`"type":"user","uuid":"res-%08d","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_%016d","content":%s%s}]},"toolUseResult":{"type":"text","file":{"filePath":"/repo/a.go","content":%s,"numLines":3}}`, m.i, m.i, text, rest, text)
}

// transcript is a made-up transcript of at least n bytes.
func transcript(n int) []byte {
	m := &maker{sessions: 1}
	for m.Len() < n {
		m.next()
	}
	return m.Bytes()
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
