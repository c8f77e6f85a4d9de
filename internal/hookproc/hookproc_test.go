package hookproc

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/expediter-go/expediter/integration/hook"
)

func TestRead(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("EXPEDITER_STORE", dir)
	tests := []struct {
		name string
		args []string
		want called
		err  string
	}{
		{"agent", []string{"codex"}, called{agent: "codex", dir: dir}, ""},
		{"flags behind", []string{"codex", "--map", "m.yaml", "--store", "/s"}, called{agent: "codex", mapFile: "m.yaml", dir: "/s"}, ""},
		{"flags before", []string{"--map=m.yaml", "--store=/s", "codex"}, called{agent: "codex", mapFile: "m.yaml", dir: "/s"}, ""},
		{"flags on both sides", []string{"--map=m.yaml", "codex", "--store=/s"}, called{agent: "codex", mapFile: "m.yaml", dir: "/s"}, ""},
		{"no agent", nil, called{dir: dir}, "hook takes one agent"},
		{"two agents", []string{"codex", "gemini"}, called{dir: dir}, "hook takes one agent"},
		{"unknown flag", []string{"codex", "--foo"}, called{dir: dir}, "--help"},
		{"flag without a value", []string{"codex", "--map"}, called{dir: dir}, "--help"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := read(tt.args, nil)
			if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("error %v, want %q", err, tt.err)
			}
			if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(called{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

const before = `{"session_id":"s","cwd":"/w","hook_event_name":"PreToolUse","tool_name":"Read","tool_input":{},"tool_use_id":"1"}`

// broken is standard input or output that fails.
type broken struct{}

func (broken) Read([]byte) (int, error)  { return 0, errors.New("no input for you") }
func (broken) Write([]byte) (int, error) { return 0, errors.New("nobody listens") }

func TestMainNeverBreaksTheAgent(t *testing.T) {
	tests := []struct {
		name  string
		args  []string
		stdin io.Reader
		log   string // empty: no log
	}{
		{"a call", []string{"claude-code"}, strings.NewReader(before), ""},
		{"unknown agent", []string{"\x1b[31mnobody"}, strings.NewReader(before), "unknown agent"},
		{"no agent", nil, strings.NewReader(before), "hook takes one agent"},
		{"no JSON", []string{"claude-code"}, strings.NewReader("Hello"), "not a JSON object"},
		{"too long", []string{"claude-code"}, io.LimitReader(zeros{}, hook.MaxInput+100), "longer than"},
		{"no input", []string{"claude-code"}, broken{}, "no input for you"},
		{"Cursor: no JSON", []string{"cursor"}, strings.NewReader("Hello"), "not a JSON object"},
		{"Cursor: no input", []string{"cursor"}, broken{}, "no input for you"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "store")
			t.Setenv("EXPEDITER_STORE", dir)
			var stdout bytes.Buffer
			want := "" // for Cursor that is a hook that has failed
			if slices.Contains(tt.args, "cursor") {
				want = "{}\n"
			}
			if status := Main(tt.args, tt.stdin, &stdout, io.Discard, nil); status != 0 || stdout.String() != want {
				t.Errorf("status %d, output %q, want %q", status, &stdout, want)
			}
			data, err := os.ReadFile(filepath.Join(dir, "hook.log"))
			if tt.log == "" {
				if !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("the log: %v, %s", err, data)
				}
				return
			}
			var line Entry
			if err := json.Unmarshal(data, &line); err != nil {
				t.Fatalf("the log: %v: %s", err, data)
			}
			if !strings.Contains(line.Error, tt.log) || line.Level != "error" || time.Since(line.Time) > time.Hour || strings.ContainsRune(line.Agent, 0x1b) {
				t.Errorf("the log: %+v, want %q", line, tt.log)
			}
		})
	}
}

// zeros is an endless input.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// An output that nobody reads is told in the log, and a call that says nothing
// does not touch it.
func TestMainWithoutAReader(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("EXPEDITER_STORE", dir)
	if status := Main([]string{"claude-code"}, strings.NewReader(before), broken{}, broken{}, nil); status != 0 {
		t.Errorf("status %d", status)
	}
	if _, err := os.Stat(filepath.Join(dir, "hook.log")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the log after a call that says nothing: %v", err)
	}
	confirm := strings.Replace(before, `"Read","tool_input":{}`, `"Bash","tool_input":{"command":"expediter confirm"}`, 1)
	if status := Main([]string{"claude-code"}, strings.NewReader(confirm), broken{}, broken{}, nil); status != 0 {
		t.Errorf("status %d", status)
	}
	if log, err := os.ReadFile(filepath.Join(dir, "hook.log")); err != nil || !bytes.Contains(log, []byte("nobody listens")) {
		t.Errorf("the log after a denial: %v: %s", err, log)
	}
}

// The log has a bound.
func TestTroubleIsBounded(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "hook.log")
	if err := os.WriteFile(path, make([]byte, maxLog+1), 0o600); err != nil {
		t.Fatal(err)
	}
	called{agent: "codex", dir: dir}.trouble(errors.New(strings.Repeat("long ", 100_000)), io.Discard)
	old, err := os.Stat(path + ".1")
	if err != nil || old.Size() != maxLog+1 {
		t.Errorf("the old log: %v, %v", old, err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() > maxText+200 {
		t.Errorf("the new log: %v, %v", info, err)
	}
}

// A fleet that cannot be had is trouble, and no reason not to decide.
func TestFleetOfAHook(t *testing.T) {
	none := errors.New("no such scheme")
	join := func(url string) (hook.Fleet, error) {
		if url == "bad" {
			return hook.Fleet{}, none
		}
		return hook.Fleet{ID: url}, nil
	}
	tests := []struct {
		name, env string
		args      []string
		join      func(string) (hook.Fleet, error)
		id, err   string
	}{
		{"none", "", []string{"codex"}, join, "", ""},
		{"by the flag", "", []string{"codex", "--fleet", "redis://one"}, join, "redis://one", ""},
		{"by the environment", "redis://two", []string{"codex"}, join, "redis://two", ""},
		{"by both", "redis://two", []string{"--fleet", "redis://one", "codex"}, join, "redis://one", ""},
		{"one that is none", "bad", []string{"codex"}, join, "", "no such scheme"},
		{"a program without", "redis://two", []string{"codex"}, nil, "", "--command expediter"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("EXPEDITER_FLEET", tt.env)
			got, err := read(tt.args, tt.join)
			if err != nil || got.fleet.ID != tt.id {
				t.Errorf("fleet %q, error %v; want fleet %q", got.fleet.ID, err, tt.id)
			}
			if (got.fleetErr == nil) != (tt.err == "") || got.fleetErr != nil && !strings.Contains(got.fleetErr.Error(), tt.err) {
				t.Errorf("trouble %v, want %q", got.fleetErr, tt.err)
			}
		})
	}
}
