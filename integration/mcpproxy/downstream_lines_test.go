package mcpproxy

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// linesOf are what is passed on of a client's bytes, and what is answered.
func linesOf(t testing.TB, in string) (passed, answered string) {
	t.Helper()
	var out bytes.Buffer
	data, err := io.ReadAll(newClientLines(io.NopCloser(strings.NewReader(in)), &out))
	if err != nil {
		t.Fatal(err)
	}
	return string(data), out.String()
}

func TestClientLines(t *testing.T) {
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	refused := func(id, code, why string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"error":{"code":` + code + `,"message":"` + why + `"}}` + "\n"
	}
	noJSON, noMessage := refused("null", "-32700", "the line is no JSON"), "not a message of JSON-RPC 2.0"
	tests := []struct{ name, in, passed, answered string }{
		{"a message", ping + "\n", ping + "\n", ""},
		{"with carriage return", ping + "\r\n\r\n\n", ping + "\n", ""},
		{"no JSON", "hello\n" + ping + "\n", ping + "\n", noJSON},
		{"cut off", ping[:20] + "\n" + ping + "\n", ping + "\n", noJSON},
		{"two in a line", ping + ping + "\n", "", noJSON},
		{"control characters", "\x00\x1b[31m\xff\n", "", noJSON},
		{"no end", ping, "", ""},
		{"no version", `{"id":7,"method":"ping"}` + "\n", "", refused("7", "-32600", noMessage)},
		{"an id that is none", `{"jsonrpc":"2.0","id":{},"method":"ping"}` + "\n", "", refused("null", "-32600", noMessage)},
		{"a word", `"ping"` + "\n", "", refused("null", "-32600", noMessage)},
		{"a batch", "[" + ping + "," + ping + "]\n", ping + "\n" + ping + "\n", ""},
		{"a batch with a stray", "[" + ping + ",7]\n", ping + "\n", refused("null", "-32600", noMessage)},
		{"an empty batch", "[]\n", "", refused("null", "-32600", noMessage)},
		{"too long", `{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("x", maxBody) + "\"}\n" + ping + "\n", ping + "\n",
			refused("null", "-32600", "a message may have 16777216 bytes at most")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			passed, answered := linesOf(t, tt.in)
			if diff := cmp.Diff([]string{tt.passed, tt.answered}, []string{passed, answered}); diff != "" {
				t.Errorf("passed on and answered (-want +got):\n%s", diff)
			}
		})
	}
}

func TestClientLinesThatCannotBeAnswered(t *testing.T) {
	broken := errors.New("nobody reads")
	out := &failingWriter{broken}
	if _, err := io.ReadAll(newClientLines(io.NopCloser(strings.NewReader("x\n")), out)); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

type failingWriter struct{ err error }

func (w *failingWriter) Write([]byte) (int, error) { return 0, w.err }

func FuzzClientLines(f *testing.F) {
	for _, seed := range []string{`{"jsonrpc":"2.0","id":1,"method":"ping"}`, "[{}]\n{", "[[[]]]", "\xff", `[{"jsonrpc":"2.0","method":"n"},7]`, "{\"id\":\"\\ud800\"}\r"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		passed, answered := linesOf(t, in+"\n")
		for line := range strings.Lines(passed + answered) {
			var err error
			if !strings.Contains(answered, line) {
				_, err = jsonrpc.DecodeMessage([]byte(line))
			} else if field([]byte(line), "error") == nil {
				err = errNotObject
			}
			if err != nil || !strings.HasSuffix(line, "\n") {
				t.Errorf("%q: the line %q: %v", in, line, err)
			}
		}
	})
}
