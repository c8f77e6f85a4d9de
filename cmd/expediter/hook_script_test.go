package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/internal/session"
	"github.com/expediter-go/expediter/internal/store"
)

// transcriptStep is one line of a transcript: what the agent tells its hook, and
// what comes of it.
type transcriptStep struct {
	In   json.RawMessage `json:"in"`
	Want string          `json:"want"` // CALL, SKIP, PROBE, PAUSE or DENY before a tool; else success, failure, ignored, or nothing
	Key  string          `json:"key"`  // the breaker of the decision or record; empty: not looked at
	Says []string        `json:"says"` // parts of what the agent is told
	Out  *string         `json:"out"`  // the whole output; absent: not looked at
}

// denials are how agents are told that a tool must not run: the member of the
// output, and its value.
var denials = map[string]struct {
	path  []string
	value any
}{
	"claude-code": {[]string{"hookSpecificOutput", "permissionDecision"}, "deny"},
	"codex":       {[]string{"hookSpecificOutput", "permissionDecision"}, "deny"},
	"gemini":      {[]string{"decision"}, "deny"},
	"cursor":      {[]string{"permission"}, "deny"},
	"copilot":     {[]string{"permissionDecision"}, "deny"},
	"cline":       {[]string{"cancel"}, true},
}

// transcript plays a session of an agent through the real command, a process for
// each event: transcript AGENT FILE. AGENT/auto runs `hook auto`.
func transcript(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: transcript AGENT FILE")
	}
	agent, auto := strings.CutSuffix(args[0], "/auto")
	as := agent
	if auto {
		as = "auto"
	}
	for i, line := range strings.Split(strings.TrimSpace(ts.ReadFile(args[1])), "\n") {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		var step transcriptStep
		dec := json.NewDecoder(strings.NewReader(line))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&step); err != nil {
			ts.Fatalf("%s, line %d: %v", args[1], i+1, err)
		}
		if fault := step.play(ts, agent, as); fault != "" {
			ts.Fatalf("%s, line %d: %s\n%s", args[1], i+1, fault, line)
		}
	}
}

// play runs one step and says what is wrong with what came of it.
func (step transcriptStep) play(ts *testscript.TestScript, agent, as string) string {
	var seen uint64
	if last := lastEvent(ts, agent, step.In); last != nil {
		seen = last.Seq
	}
	var stdout, stderr bytes.Buffer
	cmd := exec.Command("expediter", "hook", as)
	cmd.Path = ts.MkAbs(lookPath(ts, "expediter"))
	cmd.Dir, cmd.Env = ts.Getenv("WORK"), environ(ts)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(step.In), &stdout, &stderr
	err := cmd.Run()
	exit := cmd.ProcessState.ExitCode()
	denied := exit == 2 && agent == "windsurf"
	if err != nil && !denied {
		return fmt.Sprintf("%v: %s", err, stderr.String())
	}
	told := stdout.String() + stderr.String()
	if deny, ok := denials[agent]; ok && stdout.Len() > 0 {
		var v any
		if err := json.Unmarshal(stdout.Bytes(), &v); err != nil {
			return fmt.Sprintf("stdout is no JSON: %v: %s", err, stdout.String())
		}
		denied = dig(v, deny.path) == deny.value
	}
	last := lastEvent(ts, agent, step.In)
	if last != nil && last.Seq == seen {
		last = nil
	}
	if got := cameOf(last, denied, told); got != step.Want {
		return fmt.Sprintf("came to %q, want %q: %s", got, step.Want, told)
	}
	if step.Key != "" && (last == nil || last.key != step.Key) {
		return fmt.Sprintf("its breaker is %+v, want %q", last, step.Key)
	}
	for _, part := range step.Says {
		if !strings.Contains(told, part) {
			return fmt.Sprintf("the agent was told %s\nwhich lacks %q", told, part)
		}
	}
	if step.Out != nil && *step.Out != stdout.String() {
		return "output: " + cmp.Diff(*step.Out, stdout.String())
	}
	return ""
}

// journalEvent is the last event of a session's journal.
type journalEvent struct {
	expediter.Event
	key string
}

// cameOf is what a step came to: by the agent's own channel where a tool was
// denied, by the journal else.
func cameOf(last *journalEvent, denied bool, told string) string {
	switch {
	case denied && strings.Contains(told, "expediter: PAUSE"):
		return "PAUSE"
	case denied && strings.Contains(told, "for the user alone"):
		return "DENY"
	case denied:
		return "SKIP"
	case last == nil:
		return ""
	case last.Op == expediter.OpDecide:
		return last.Decided.Decision.String()
	case last.Op == expediter.OpRecord:
		return last.Result.String()
	case last.Op == expediter.OpBeginCycle:
		return "cycle"
	}
	return ""
}

// lastEvent is the last decision, record or cycle of the session that an input
// belongs to; nil: there is none.
func lastEvent(ts *testscript.TestScript, agent string, in []byte) *journalEvent {
	var ids struct {
		A string `json:"session_id"`
		B string `json:"conversation_id"`
		C string `json:"sessionId"`
		D string `json:"taskId"`
		E string `json:"trajectory_id"`
	}
	ts.Check(json.Unmarshal(in, &ids))
	id := store.ID{Agent: agent, Session: ids.A + ids.B + ids.C + ids.D + ids.E}
	var last *journalEvent
	keys := map[expediter.CallID]string{}
	err := session.View(context.Background(), store.Open(ts.Getenv("EXPEDITER_STORE")), id, time.Now(), func(s *session.Session) error {
		for line := range s.Journal() {
			var ev expediter.Event
			if err := json.Unmarshal(line, &ev); err != nil {
				return err
			}
			switch ev.Op {
			case expediter.OpDecide:
				keys[ev.Call] = ev.Tool
				last = &journalEvent{ev, ev.Tool}
			case expediter.OpRecord:
				last = &journalEvent{ev, keys[ev.Call]}
			case expediter.OpBeginCycle:
				last = &journalEvent{ev, ""}
			}
		}
		return nil
	})
	if err != nil && last == nil {
		return nil // no session yet
	}
	ts.Check(err)
	return last
}

func dig(v any, path []string) any {
	for _, name := range path {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	return v
}

// lookPath finds a command on the script's own PATH.
func lookPath(ts *testscript.TestScript, name string) string {
	for _, dir := range strings.Split(ts.Getenv("PATH"), ":") {
		if path, err := exec.LookPath(dir + "/" + name); err == nil {
			return path
		}
	}
	ts.Fatalf("no %s on the PATH", name)
	return ""
}

// environ is what a hook of the script is run with.
func environ(ts *testscript.TestScript) []string {
	var list []string
	for _, name := range []string{"PATH", "HOME", "EXPEDITER_STORE", "EXPEDITER_MAP", "CLAUDE_PROJECT_DIR", "CURSOR_PROJECT_DIR", "GOCOVERDIR", "TMPDIR"} {
		if value := ts.Getenv(name); value != "" {
			list = append(list, name+"="+value)
		}
	}
	return list
}
