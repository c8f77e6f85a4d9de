package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/cascade/classify"
	"github.com/expediter-go/expediter/internal/trace"
)

// The recordings lie beside the repository and are no part of it.
const recordingsDir = "../../../shared/data"

// recording is one session, or one incident that somebody reported.
type recording struct {
	name  string
	calls []recorded
}

// recorded is one call, reduced to facts: of a text there is but a class and a
// signature.
type recorded struct {
	File      string `json:"f"`
	Session   string `json:"s"`
	Tool      string `json:"tool"`
	Program   string `json:"sub"`
	Status    string `json:"st"` // ok, fail, denied, open
	Class     string `json:"cls"`
	Signature string `json:"sig"`

	verdict classify.Verdict // as analyze judges it
}

// doomed: the tool was broken, and a call that was not made would have spared
// that failure.
func (c recorded) doomed() bool { return c.Status == "fail" && c.verdict.Outcome == cascade.Failed }

// good: the tool worked.
func (c recorded) good() bool { return c.Status == "ok" }

// recordingFile is one of the files, unpacked; without it the test is skipped.
func recordingFile(t testing.TB, name string) []byte {
	t.Helper()
	f, err := os.Open(filepath.Join(recordingsDir, name))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("the recordings are not here: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var r io.Reader = f
	if filepath.Ext(name) == ".gz" {
		if r, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func recordedSessions(t testing.TB) []recording {
	t.Helper()
	data := recordingFile(t, "sessions.jsonl.gz")
	var list []recording
	at := map[string]int{}
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		var c recorded
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(c.File+"/"+c.Session, "/")
		if _, ok := at[name]; !ok {
			at[name] = len(list)
			list = append(list, recording{name: name})
		}
		r := &list[at[name]]
		r.calls = append(r.calls, c)
	}
	judge(t, "sessions", data, list)
	return list
}

func recordedIncidents(t testing.TB) []recording {
	t.Helper()
	data := recordingFile(t, "incidents.json")
	var incidents []struct {
		ID    string
		Model [][4]string // tool, F or S, class, signature
	}
	if err := json.Unmarshal(data, &incidents); err != nil {
		t.Fatal(err)
	}
	var list []recording
	for _, in := range incidents {
		r := recording{name: in.ID}
		for _, m := range in.Model {
			c := recorded{Tool: m[0], Status: "ok", Class: m[2], Signature: m[3]}
			if m[1] == "F" {
				c.Status = "fail"
			}
			r.calls = append(r.calls, c)
		}
		list = append(list, r)
	}
	judge(t, "incidents", data, list)
	return list
}

// judge takes over what the importer of facts says of each call.
func judge(t testing.TB, name string, data []byte, list []recording) {
	t.Helper()
	verdicts := map[string]map[int]classify.Verdict{}
	if _, err := trace.Read(t.Context(), name, bytes.NewReader(data), trace.Options{}, func(e *trace.Event) error {
		if e.Kind == trace.Result {
			if verdicts[e.Session] == nil {
				verdicts[e.Session] = map[int]classify.Verdict{}
			}
			verdicts[e.Session][e.Call] = e.Verdict
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for _, r := range list {
		for i := range r.calls {
			v, ok := verdicts[r.name][i]
			if r.calls[i].verdict = v; !ok && r.calls[i].Status != "open" {
				t.Fatalf("%s: the importer knows no result of call %d", r.name, i)
			}
		}
	}
}

// The hook events of one call, as Claude Code sends them.

type hookInput struct {
	Session  string `json:"session_id"`
	Cwd      string `json:"cwd"`
	Event    string `json:"hook_event_name"`
	Tool     string `json:"tool_name,omitempty"`
	Input    any    `json:"tool_input,omitempty"`
	ID       string `json:"tool_use_id,omitempty"`
	Response any    `json:"tool_response,omitempty"`
	Error    string `json:"error,omitempty"`
	Subagent string `json:"agent_id,omitempty"`
	Prompt   string `json:"prompt,omitempty"`
	Source   string `json:"source,omitempty"`
	Duration int    `json:"duration_ms,omitempty"`
}

func (in hookInput) json() []byte {
	data, err := json.Marshal(in)
	if err != nil {
		panic(err) // of strings and maps of strings
	}
	return data
}

// before is the event before the call.
func (c recorded) before(session, id string) hookInput {
	return hookInput{Session: session, Cwd: "/w", Event: "PreToolUse", Tool: c.Tool, Input: c.input(), ID: id}
}

// after is the event after it; false: Claude Code sends none, since the user or
// a rule refused the call, or it was cancelled.
func (c recorded) after(session, id string) (hookInput, bool) {
	in := c.before(session, id)
	in.Duration = 1000
	switch c.Status {
	case "ok":
		in.Event, in.Response = "PostToolUse", c.response()
	case "fail":
		in.Event, in.Error = "PostToolUseFailure", c.said()
	default:
		return in, false
	}
	return in, true
}

func (c recorded) shell() bool { return c.Tool == "Bash" || c.Tool == "PowerShell" }

func (c recorded) input() any {
	switch {
	case c.shell() && c.Program == "":
		return map[string]string{"command": "ls -la"} // the recording does not say
	case c.shell():
		return map[string]string{"command": c.Program + " --all"}
	case c.Tool == "WebFetch":
		return map[string]string{"url": "https://docs.example.com/page", "prompt": "what does it say"}
	}
	return map[string]string{"file_path": "/w/main.go"}
}

func (c recorded) response() any {
	switch {
	case c.shell():
		return map[string]any{"stdout": "done", "stderr": "", "interrupted": false, "isImage": false}
	case c.Tool == "WebFetch":
		return map[string]any{"bytes": 12, "code": 200, "codeText": "OK", "result": "text", "durationMs": 900}
	case strings.HasPrefix(c.Tool, "mcp__"):
		return []any{map[string]string{"type": "text", "text": "done"}}
	}
	return map[string]any{"filePath": "/w/main.go", "success": true}
}

// blanks are what signatures have in the place of what differs, and what may
// have stood there.
var blanks = strings.NewReplacer("(http #)", "(HTTP 404)", "status code #", "status code 404", "#", "7",
	"<p>", "/src/main.go", "<q>", `"query"`, "<h>", "4f2a9c1", "<u>", "0b5d62a4-5b0e-4c52-9d0b-6a1f3e0f7a11")

// said is an error text with the signature, as Claude Code gives it: a shell
// tells the exit code first.
func (c recorded) said() string {
	text := blanks.Replace(c.Signature)
	if _, err := strconv.Atoi(c.Signature); err == nil {
		text = "HTTP " + c.Signature // nobody gives a status alone
	}
	switch {
	case !c.shell():
		return text
	case c.Class == "timeout":
		return strings.TrimSuffix("Exit code 143\nCommand timed out after 2m 0s\n"+text, "\n")
	case c.Class == "no_command":
		return strings.TrimSuffix("Exit code 127\n"+text, "\n")
	case strings.HasPrefix(c.Signature, "exit code"):
		return "Exit code 1"
	}
	return strings.TrimSuffix("Exit code 1\n"+text, "\n")
}
