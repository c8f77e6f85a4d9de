package trace

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestClineMarkupCalls(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string // tool, then the input
	}{
		{"one", "I look.\n<read_file>\n<path>a.go</path>\n</read_file>", []string{"read_file", `{"path":"a.go"}`}},
		{"no call", "if a < b && c <d> then <nothing>x</nothing>", nil},
		{"without its end", "<execute_command>\n<command>ls\n", []string{"execute_command", `{"command":"ls"}`}},
		{"two", "<read_file><path>a</path></read_file><list_files><path>.</path></list_files>",
			[]string{"read_file", `{"path":"a"}`, "list_files", `{"path":"."}`}},
		{"tags in a value", "<write_to_file><path>a</path><content><b>x</b> <read_file></content></write_to_file>",
			[]string{"write_to_file", `{"content":"\u003cb\u003ex\u003c/b\u003e \u003cread_file\u003e","path":"a"}`}},
		{"of a server", "<use_mcp_tool><server_name>s</server_name><tool_name>find</tool_name><arguments>{\"q\":1}</arguments></use_mcp_tool>",
			[]string{"find", `{"q":1}`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, c := range new(clineMarkup).calls(tt.text) {
				got = append(got, c.tool, string(c.input))
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
}

func TestWhen(t *testing.T) {
	noon := time.Date(2026, 1, 2, 12, 0, 0, 500e6, time.UTC)
	tests := []struct {
		name, raw string
		want      time.Time
	}{
		{"with a zone", `"2026-01-02T13:00:00.5+01:00"`, noon},
		{"without one", `"2026-01-02T12:00:00.500000"`, noon},
		{"milliseconds", `1767355200500`, noon},
		{"milliseconds as a text", `"1767355200500"`, noon},
		{"no time", `"soon"`, time.Time{}},
		{"null", `null`, time.Time{}},
		{"absent", ``, time.Time{}},
		{"below zero", `-5`, time.Time{}},
		{"too far", `1e300`, time.Time{}},
		{"no number", `"NaN"`, time.Time{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := when(json.RawMessage(tt.raw)); !got.Equal(tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func TestForeignDataIsNotClaimed(t *testing.T) {
	tests := []struct{ name, data string }{
		{"an audit log", `[{"id":"1","timestamp":"2026-01-01T00:00:00Z","source":"web","action":"login"}]`},
		{"a request for embeddings", `{"model":"m","input":["a","b"]}`},
		{"another API's messages", `[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"x","input":{}}]}]`},
		{"another API's response", `{"object":"thing","output":[1,2]}`},
		{"lines with a role", `{"role":"admin","content":"x"}` + "\n"},
		{"lines with a type", `{"type":"message","text":"x"}` + "\n" + `{"type":"init","id":1}` + "\n"},
		{"events of an application", `{"type":"user.created","data":{"id":1}}` + "\n"},
		{"a session of another program", `{"version":2,"sessionId":"s","items":[]}`},
		{"numbers", `[1,2,3]`},
		{"no JSON", "hello\n<task>\n"},
		{"nothing", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h, _, err := readHead(strings.NewReader(tt.data))
			if err != nil {
				t.Fatal(err)
			}
			if f := recognise(h); f != nil {
				t.Errorf("%s claims it", f.name)
			}
		})
	}
}
