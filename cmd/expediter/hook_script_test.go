package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	diff "github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/integration/hook"
	"github.com/expediter-go/expediter/internal/session"
	"github.com/expediter-go/expediter/internal/store"
)

// transcriptStep is one line of a transcript: what the agent tells its hook, and
// what comes of it. Nothing is said unless says or out tell of it, or the tool is
// denied or on trial.
type transcriptStep struct {
	In   json.RawMessage `json:"in"`
	Want string          `json:"want"` // CALL, SKIP, PROBE, PAUSE or DENY before a tool; else success, failure, ignored, cycle, or nothing
	Key  string          `json:"key"`  // the breaker of the decision or record; empty: not looked at
	Says []string        `json:"says"` // parts of what the agent or the user is told
	Out  *string         `json:"out"`  // the whole output, times of day as HH:MM:SSZ; absent: not looked at
}

// denials are how agents are told that a tool must not run: the member of the
// output, and its value. Copilot in VS Code has the form of Claude Code.
var denials = map[string][]struct {
	path  []string
	value any
}{
	"claude-code": {{[]string{"hookSpecificOutput", "permissionDecision"}, "deny"}},
	"codex":       {{[]string{"hookSpecificOutput", "permissionDecision"}, "deny"}},
	"gemini":      {{[]string{"decision"}, "deny"}},
	"cursor":      {{[]string{"permission"}, "deny"}},
	"copilot":     {{[]string{"permissionDecision"}, "deny"}, {[]string{"hookSpecificOutput", "permissionDecision"}, "deny"}},
	"cline":       {{[]string{"cancel"}, true}},
	"windsurf":    nil, // has exit codes alone
}

// silences are what hooks print that have nothing to say. For all others that is
// nothing; for Cursor it is a hook that has failed.
var silences = map[string][]string{"cursor": {"{}\n", `{"continue":true}` + "\n"}}

// transcript plays a session of an agent through the real command, a process for
// each event: transcript AGENT FILE. With AGENT/auto the agent is told by its input.
// That differs in the reading of an event alone, so it is done without processes.
func transcript(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: transcript AGENT FILE")
	}
	agent, auto := strings.CutSuffix(args[0], "/auto")
	if _, ok := denials[agent]; !ok {
		ts.Fatalf("nobody knows how to deny a tool to %q", agent)
	}
	p := player{ts: ts, agent: agent, auto: auto, seen: map[store.ID]uint64{}}
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
		if fault := p.play(step); fault != "" {
			ts.Fatalf("%s, line %d: %s\n%s", args[1], i+1, fault, line)
		}
	}
}

// player plays one transcript.
type player struct {
	ts    *testscript.TestScript
	agent string
	auto  bool
	seen  map[store.ID]uint64 // the number of the latest event of a session's journal
}

// play runs one step and says what is wrong with what came of it.
func (p player) play(step transcriptStep) string {
	id := store.ID{Agent: p.agent, Session: sessionOf(p.ts, step.In)}
	if _, ok := p.seen[id]; !ok {
		p.happened(id)
	}
	stdout, stderr, exit := p.run(step.In)
	denied, fault := p.denied(stdout, stderr, exit)
	if fault != "" {
		return fault
	}
	told := stdout + stderr
	if slices.Contains(silences[p.agent], told) {
		told = ""
	}
	last := p.happened(id)
	if got := cameOf(last, denied, told); got != step.Want {
		return fmt.Sprintf("came to %q, want %q: %s", got, step.Want, told)
	}
	return cmp.Or(step.key(last), step.told(told))
}

// run is one hook call, a process of its own.
func (p player) run(in []byte) (stdout, stderr string, exit int) {
	if p.auto {
		out, err := hook.Serve(context.Background(), p.store(), in, hook.Options{Agent: hook.Auto, Map: p.ts.Getenv("EXPEDITER_MAP"), Env: p.ts.Getenv}, time.Now())
		p.ts.Check(err)
		return string(out.Stdout), string(out.Stderr), out.Exit
	}
	var out, errs bytes.Buffer
	cmd := exec.Command(lookPath(p.ts, "expediter"), "hook", p.agent)
	cmd.Dir, cmd.Env = p.ts.MkAbs("."), environ(p.ts)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(in), &out, &errs
	if err := cmd.Run(); cmd.ProcessState == nil {
		p.ts.Fatalf("hook: %v", err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

func (p player) store() *store.Store { return store.Open(p.ts.Getenv("EXPEDITER_STORE")) }

// denied reports whether the agent takes the output for a denial, and what is
// wrong with its form: all but Windsurf get JSON and exit code 0.
func (p player) denied(stdout, stderr string, exit int) (denied bool, fault string) {
	if denied = p.agent == "windsurf" && exit == 2; denied {
		exit = 0
	}
	if exit != 0 || p.agent != "windsurf" && stderr != "" || p.agent == "windsurf" && stdout != "" || denied != (p.agent == "windsurf" && stderr != "") {
		return false, fmt.Sprintf("exit code %d, stdout %q, stderr %q", exit, stdout, stderr)
	}
	if stdout == "" {
		if silences[p.agent] != nil {
			fault = "no output, which is a failure"
		}
		return denied, fault
	}
	var v map[string]any
	if err := json.Unmarshal([]byte(stdout), &v); err != nil {
		return false, fmt.Sprintf("stdout is no JSON object: %v: %s", err, stdout)
	}
	for _, d := range denials[p.agent] {
		denied = denied || dig(v, d.path) == d.value
	}
	return denied, ""
}

func (step transcriptStep) key(last *journalEvent) string {
	if step.Key != "" && (last == nil || last.key != step.Key) {
		return fmt.Sprintf("its breaker is %+v, want %q", last, step.Key)
	}
	return ""
}

// Times in what agents are told.
var (
	timeOfDay = regexp.MustCompile(`\d\d:\d\d:\d\dZ`)
	howLong   = regexp.MustCompile(` \(\d+ (?:s|min|h) ago\)`)
)

func (step transcriptStep) told(told string) string {
	told = howLong.ReplaceAllString(timeOfDay.ReplaceAllString(told, "HH:MM:SSZ"), "")
	for _, part := range step.Says {
		if !strings.Contains(told, part) {
			return fmt.Sprintf("told %s\nwhich lacks %q", told, part)
		}
	}
	switch step.Want {
	case "SKIP", "PROBE", "PAUSE", "DENY":
	default:
		if step.Says == nil && step.Out == nil && told != "" {
			return "told what nobody wants: " + told
		}
	}
	if step.Out != nil && *step.Out != told {
		return "output: " + diff.Diff(*step.Out, told)
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

// sessionOf is the agent's id of the session that an input belongs to, as it is
// kept: without control characters.
func sessionOf(ts *testscript.TestScript, in []byte) string {
	var ids struct {
		Context struct {
			Root string `json:"rootSessionId"` // Cline's command line
		} `json:"sessionContext"`
		Conversation string `json:"conversation_id"` // Cursor
		Snake        string `json:"session_id"`
		Camel        string `json:"sessionId"`     // Copilot
		Task         string `json:"taskId"`        // Cline in VS Code
		Trajectory   string `json:"trajectory_id"` // Windsurf
	}
	ts.Check(json.Unmarshal(in, &ids))
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, cmp.Or(ids.Context.Root, ids.Conversation, ids.Snake, ids.Camel, ids.Task, ids.Trajectory))
}

// happened is the latest decision, record or cycle of a session since it was
// last asked for; nil: there is none.
func (p player) happened(id store.ID) *journalEvent {
	var last *journalEvent
	seen := p.seen[id]
	keys := map[expediter.CallID]string{}
	err := session.View(context.Background(), p.store(), id, time.Now(), func(s *session.Session) error {
		for line := range s.Journal() {
			var ev expediter.Event
			if err := json.Unmarshal(line, &ev); err != nil {
				return err
			}
			key := ev.Tool
			switch ev.Op {
			case expediter.OpDecide:
				keys[ev.Call] = ev.Tool
			case expediter.OpRecord:
				key = keys[ev.Call]
			case expediter.OpBeginCycle:
			default:
				continue
			}
			if p.seen[id] = ev.Seq; ev.Seq > seen {
				last = &journalEvent{ev, key}
			}
		}
		return nil
	})
	if !errors.Is(err, store.ErrNoSession) {
		p.ts.Check(err)
	}
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
	for _, name := range []string{"PATH", "HOME", "EXPEDITER_STORE", "EXPEDITER_MAP", "EXPEDITER_FLEET", "CLAUDE_PROJECT_DIR", "CURSOR_PROJECT_DIR", "GEMINI_PROJECT_DIR", "PWD", "GOCOVERDIR", "GORACE", "TMPDIR"} {
		if value := ts.Getenv(name); value != "" {
			list = append(list, name+"="+value)
		}
	}
	return list
}
