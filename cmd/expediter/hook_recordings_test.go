package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/expediter-go/expediter/cascade/classify"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/integration/hook"
	"github.com/expediter-go/expediter/internal/session"
	"github.com/expediter-go/expediter/internal/store"
)

// rehearsal replays recordings as hook calls, all in one store.
type rehearsal struct {
	t        testing.TB
	store    *store.Store
	attended bool                                               // after a PAUSE the user confirms and speaks; else nobody is there
	serve    func(in []byte, at time.Time) (hook.Output, error) // answers a hook call; nil: hook.Serve
}

func (r rehearsal) answer(in hookInput, at time.Time) (hook.Output, error) {
	if r.serve != nil {
		return r.serve(in.json(), at)
	}
	return hook.Serve(r.t.Context(), r.store, in.json(), claude, at)
}

// outcome is what came of one recording.
type outcome struct {
	calls, doomed   int
	made            int // doomed calls that got through
	skipped, paused int // calls
	lost            int // denied calls that had succeeded
	probes, prompts int
	tools           map[string]bool // keys of doomed calls
	told, same      int             // failures told, and those judged as by the importer of facts
	different       []string        // how the others were judged
	problem         error
}

var claude = hook.Options{Agent: string(classify.ClaudeCode)}

// epoch is when replays begin.
var epoch = time.Date(2026, 8, 1, 9, 0, 0, 0, time.UTC)

// replay replays one recording. Each call takes a second, and the next one
// comes two seconds later.
func (r rehearsal) replay(rec recording) outcome {
	out := outcome{tools: map[string]bool{}}
	at := epoch
	serve := func(in hookInput) string {
		o, err := r.answer(in, at)
		if err != nil && out.problem == nil {
			out.problem = fmt.Errorf("%s: %s: %w", rec.name, in.Event, err)
		}
		return reasonOf(o)
	}
	serve(hookInput{Session: rec.name, Cwd: "/w", Event: "SessionStart", Source: "startup"})
	serve(hookInput{Session: rec.name, Cwd: "/w", Event: "UserPromptSubmit", Prompt: "go on"})
	for i, c := range rec.calls {
		at = at.Add(2 * time.Second)
		id := fmt.Sprintf("toolu_%05d", i)
		out.calls++
		if c.doomed() {
			out.doomed++
			out.tools[classify.Key(observed(c.before(rec.name, id)))] = true
		}
		if reason := serve(c.before(rec.name, id)); reason != "" {
			out.denied(c, reason)
			if strings.Contains(reason, "PAUSE") && r.attended {
				r.goOn(rec.name, at, serve)
				out.prompts++
			}
			continue
		}
		at = at.Add(time.Second)
		if c.doomed() {
			out.made++
		}
		if in, ok := c.after(rec.name, id); ok {
			serve(in)
			out.judged(c, in)
		}
	}
	out.probes = r.probes(rec.name)
	return out
}

func (o *outcome) denied(c recorded, reason string) {
	if strings.Contains(reason, "PAUSE") {
		o.paused++
	} else {
		o.skipped++
	}
	if c.good() {
		o.lost++
	}
}

// judged compares what a hook makes of a failure with what the facts say.
func (o *outcome) judged(c recorded, in hookInput) {
	if c.Status != "fail" {
		return
	}
	o.told++
	v := classify.Observe(observed(in))
	if v.Outcome == c.verdict.Outcome && v.Category == c.verdict.Category {
		o.same++
		return
	}
	o.different = append(o.different, fmt.Sprintf("%s %s: %s (%s) by its text %.60q, %s (%s) by the facts",
		c.Tool, c.Class, v.Class, v.Rule, in.Error, c.verdict.Class, c.verdict.Rule))
}

func observed(in hookInput) classify.Observation {
	e, err := hook.Decode(claude.Agent, in.json(), nil)
	if err != nil {
		panic(err) // of our own making
	}
	return e.Call.Observation
}

// goOn is what the user does at a PAUSE: confirms where that is asked for, and
// speaks.
func (r rehearsal) goOn(name string, at time.Time, serve func(hookInput) string) {
	err := session.Update(r.t.Context(), r.store, store.ID{Agent: claude.Agent, Session: name}, at, nil, func(s *session.Session) error {
		if s.Status().Paused == expediter.Systemic {
			_, err := s.Engine().ConfirmRecovery("", s.Step(), at)
			return err
		}
		return nil
	})
	if err != nil {
		r.t.Error(err)
	}
	serve(hookInput{Session: name, Cwd: "/w", Event: "UserPromptSubmit", Prompt: "go on"})
}

// reasonOf is why an output denies the call; empty: it does not.
func reasonOf(o hook.Output) string {
	var said struct {
		Specific struct {
			Decision string `json:"permissionDecision"`
			Reason   string `json:"permissionDecisionReason"`
		} `json:"hookSpecificOutput"`
	}
	if len(o.Stdout) > 0 && json.Unmarshal(o.Stdout, &said) != nil {
		return "PAUSE: no JSON: " + string(o.Stdout)
	}
	if said.Specific.Decision == "deny" {
		return said.Specific.Reason
	}
	return ""
}

// probes counts the trials that the journal has.
func (r rehearsal) probes(name string) (n int) {
	err := session.View(r.t.Context(), r.store, store.ID{Agent: claude.Agent, Session: name}, epoch, func(s *session.Session) error {
		for line := range s.Journal() {
			var ev expediter.Event
			if err := json.Unmarshal(line, &ev); err != nil {
				return err
			}
			if ev.Decided != nil && ev.Decided.Decision == expediter.Probe {
				n++
			}
		}
		return nil
	})
	if err != nil {
		r.t.Error(err)
	}
	return n
}

// brokenTools are the incidents in which a tool was broken. In the others it was
// not: a script that ran into a time limit, and calls that all succeeded.
var brokenTools = map[string]bool{"I1": true, "I2": true, "I8": true, "I11": true, "I13": true, "I16": true}

// Incidents: doomed calls that get through are at most the threshold of each
// broken tool and the trials, and where no tool was broken none is denied.
func TestHookIncidents(t *testing.T) {
	alone := rehearsal{t: t, store: store.Open(t.TempDir())}
	attended := rehearsal{t: t, store: store.Open(t.TempDir()), attended: true}
	for _, rec := range recordedIncidents(t) {
		out := alone.replay(rec)
		out.check(t, rec)
		if out.paused > 0 {
			out = attended.replay(rec)
			out.check(t, rec)
		}
	}
}

// check prints what came of an incident, and holds it to the bounds.
func (o outcome) check(t *testing.T, rec recording) {
	t.Helper()
	t.Logf("%-3s %3d calls, %3d doomed of %d tools: %2d got through, %2d trials, %3d skipped, %d paused, %d prompts; %d of %d failures judged as the facts",
		rec.name, o.calls, o.doomed, len(o.tools), o.made, o.probes, o.skipped, o.paused, o.prompts, o.same, o.told)
	for _, d := range o.different {
		t.Errorf("%s: the text that was made up is not judged as recorded: %s", rec.name, d)
	}
	threshold := expediter.Interactive().FailureThreshold
	switch broken := brokenTools[rec.name]; {
	case o.problem != nil:
		t.Error(o.problem)
	case broken != (o.doomed > 0):
		t.Errorf("%s: %d doomed calls; a tool was broken: %v", rec.name, o.doomed, broken)
	case !broken && o.skipped+o.paused > 0:
		t.Errorf("%s: denied %d calls of a tool that works", rec.name, o.skipped+o.paused)
	case o.made > threshold*len(o.tools)+o.probes:
		t.Errorf("%s: %d doomed calls got through, want at most %d of each of %d tools, and %d trials", rec.name, o.made, threshold, len(o.tools), o.probes)
	}
}

var allSessions = flag.Bool("all-sessions", false, "replay every recorded session through the hook, not one of thirty-two")

// Sessions: of the calls that had succeeded, fewer than 1 in 5,000 are denied.
// Nobody is there after a PAUSE, so one that is wrong costs the whole rest of
// its session.
func TestHookSessions(t *testing.T) {
	list := recordedSessions(t)
	if !*allSessions {
		list = oneOf(32, list)
	}
	var sum outcome
	for i, out := range replayAll(rehearsal{t: t, store: store.Open(t.TempDir())}, list) {
		sum.calls += out.calls
		sum.doomed += out.doomed
		sum.made += out.made
		sum.skipped += out.skipped
		sum.paused += out.paused
		sum.lost += out.lost
		sum.probes += out.probes
		sum.told += out.told
		sum.same += out.same
		if out.problem != nil {
			t.Error(out.problem)
		}
		if out.skipped+out.paused > 0 {
			t.Logf("%s: %d skipped, %d paused", list[i].name, out.skipped, out.paused)
		}
	}
	t.Logf("%d calls in %d sessions, %d doomed: %d got through; %d skipped, %d paused; %d of the denied had succeeded; %d trials; %d of %d failures judged as the facts",
		sum.calls, len(list), sum.doomed, sum.made, sum.skipped, sum.paused, sum.lost, sum.probes, sum.same, sum.told)
	if sum.lost*5000 >= sum.calls {
		t.Errorf("%d of %d calls denied that had succeeded, want under 1 in 5,000", sum.lost, sum.calls)
	}
	if sum.same*100 < sum.told*95 {
		t.Errorf("%d of %d failures are judged as recorded, want 95 in 100: the texts are made up badly", sum.same, sum.told)
	}
}

// oneOf is every n-th recording.
func oneOf(n int, list []recording) []recording {
	var some []recording
	for i := 0; i < len(list); i += n {
		some = append(some, list[i])
	}
	return some
}

// replayAll replays recordings side by side, as agents would.
func replayAll(r rehearsal, list []recording) []outcome {
	outs := make([]outcome, len(list))
	next := make(chan int)
	var wg sync.WaitGroup
	for range 2 * runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := range next {
				outs[i] = r.replay(list[i])
			}
		})
	}
	for i := range list {
		next <- i
	}
	close(next)
	wg.Wait()
	return outs
}
