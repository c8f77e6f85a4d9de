package runner

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/internal/task"
	"github.com/expediter-go/expediter/report"
	"github.com/expediter-go/expediter/scope"
)

// work runs a task with passes of a millisecond in a folder of its own.
func work(t *testing.T, cfg Config, text string) (Account, []string) {
	t.Helper()
	f, err := task.Read("task.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var seen []string
	cfg.Task, cfg.Pace = f, time.Millisecond
	if cfg.Base == "" {
		cfg.Base = t.TempDir()
	}
	if cfg.Policy, err = f.Effective(""); err != nil {
		t.Fatal(err)
	}
	cfg.Progress = func(p Progress) {
		if p.Kind == Decided {
			seen = append(seen, fmt.Sprintf("%d %s %s", p.Step, p.Decision.Verb, p.Tool))
		}
	}
	r, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	a, err := r.Do(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return a, seen
}

func states(a Account) string {
	var list []string
	for _, w := range a.Work {
		list = append(list, w.State.String())
	}
	return strings.Join(list, " ")
}

const tools = `
name: T
capability_map:
  - tool: Web
    provides: pages
    alternatives: [{tool: Sh, method: local, degradation: old, level: high}]
    fallback: ask
  - {tool: Sh, provides: commands, fallback: ask}
  - {tool: Lone, provides: nothing else has, fallback: ask}
tools:
  Web: {command: [sh, -c, "echo connection refused >&2; exit 7"]}
  Lone: {command: [sh, -c, "${command}"]}
  Sh: {command: [sh, -c, "${command}"]}
subtasks:
`

// SPEC sections 3 and 10, at the default policy: three failures open the
// circuit, two requests are skipped, the third is the probe, and what nothing
// can stand in for is deferred once it has failed.
func TestDeferredOnceTheProbeHasFailed(t *testing.T) {
	a, seen := work(t, Config{}, tools+`
  - calls: [{tool: Web}]
`)
	want := []string{"1 CALL Web", "2 CALL Web", "3 CALL Web", "4 SKIP Web", "5 SKIP Web", "6 PROBE Web"}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("decisions (-want +got):\n%s", diff)
	}
	if got := states(a); got != "deferred" {
		t.Errorf("states: got %s, want deferred", got)
	}
	if a.Status.Consumed != 4 {
		t.Errorf("budget: got %d, want 4", a.Status.Consumed)
	}
}

func TestNothingIsRetriedInOnePass(t *testing.T) {
	_, seen := work(t, Config{}, tools+`
  - calls: [{tool: Lone, with: {command: "test -e there || { touch there; echo timed out >&2; exit 1; }"}}, {tool: Sh, with: {command: "true"}}]
`)
	want := []string{"1 CALL Lone", "2 CALL Lone", "2 CALL Sh"}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("decisions (-want +got):\n%s", diff)
	}
}

func TestRouteIsTakenWithItsDegradation(t *testing.T) {
	a, seen := work(t, Config{}, tools+`
  - calls: [{tool: Web, or: {Sh: {command: echo local}}}]
`)
	want := []string{"1 CALL Web", "2 CALL Web", "3 CALL Web", "4 SKIP Web", "4 CALL Sh"}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("decisions (-want +got):\n%s", diff)
	}
	in := a.Input()
	if got := in.Work[0].Degraded; in.Work[0].State != report.Succeeded || len(got) != 1 || got[0].Through != "Sh" || got[0].Lost != "old" {
		t.Errorf("got %+v, want success through Sh", in.Work[0])
	}
}

// A probe that fails does not cost a sub-task the route it can take.
func TestProbeBeforeTheRoute(t *testing.T) {
	a, seen := work(t, Config{}, tools+`
  - calls: [{tool: Web}]
  - calls: [{tool: Web, or: {Sh: {command: echo local}}}]
`)
	if got := states(a); got != "deferred done" {
		t.Errorf("states: got %s after %q, want deferred done", got, seen)
	}
}

func TestAnswerIsNotRetried(t *testing.T) {
	a, seen := work(t, Config{}, tools+`
  - calls: [{tool: Sh, with: {command: "echo 'error: unknown option --frob' >&2; exit 2"}}]
  - after: [1]
    calls: [{tool: Sh, with: {command: "true"}}]
`)
	if got := states(a); got != "failed deferred" || len(seen) != 1 {
		t.Errorf("got %s after %q, want failed deferred after one call", got, seen)
	}
	if a.Status.Consumed != 0 {
		t.Errorf("budget: got %d, want 0: the tool worked", a.Status.Consumed)
	}
	if want := "depends on sub-task 1, which failed"; a.Work[1].Reason != want {
		t.Errorf("reason: got %q, want %q", a.Work[1].Reason, want)
	}
}

func TestDependenciesInAnyOrder(t *testing.T) {
	a, seen := work(t, Config{}, tools+`
  - {after: [b], calls: [{tool: Lone, with: {command: "true"}}]}
  - {id: b, calls: [{tool: Sh, with: {command: "true"}}]}
`)
	if diff := cmp.Diff([]string{"1 CALL Sh", "2 CALL Lone"}, seen); diff != "" || states(a) != "done done" {
		t.Errorf("%s; decisions (-want +got):\n%s", states(a), diff)
	}
}

// SPEC section 10: the scope report says what the run says, whatever
// alternatives the map has that the task does not use.
func TestScopeSaysWhatTheRunSays(t *testing.T) {
	a, _ := work(t, Config{}, tools+`
  - calls: [{tool: Web}]
  - calls: [{tool: Sh, with: {command: "true"}}]
`)
	s := a.Input().Scope
	if got := s.Numbers(scope.Deferred); !cmp.Equal(got, []int{1}) {
		t.Errorf("deferred: got %v, want [1]", got)
	}
	if n := s.Items[0].Needs[0]; !n.Blocked() || len(n.Unblock) == 0 {
		t.Errorf("need: got %+v, want blocked, and what would unblock it", n)
	}
}

// SPEC section 9: a check that finds the tool missing costs no budget.
func TestUnavailableToolIsDeferredAfterTwoChecks(t *testing.T) {
	a, seen := work(t, Config{}, strings.Replace(tools, `Lone: {command: [sh, -c, "${command}"]}`,
		`Lone: {command: [sh, -c, "${command}"], precheck: {file: there}}`, 1)+`
  - calls: [{tool: Lone, with: {command: "true"}}]
`)
	if diff := cmp.Diff([]string{"1 SKIP Lone", "2 SKIP Lone"}, seen); diff != "" || states(a) != "deferred" || a.Status.Consumed != 0 {
		t.Errorf("%s, budget %d; decisions (-want +got):\n%s", states(a), a.Status.Consumed, diff)
	}
}

func TestToolThatComesBackIsCalled(t *testing.T) {
	a, seen := work(t, Config{}, strings.Replace(tools, `Lone: {command: [sh, -c, "${command}"]}`,
		`Lone: {command: [sh, -c, "${command}"], precheck: {file: there}}`, 1)+`
  - calls: [{tool: Lone, with: {command: "true"}}]
  - calls: [{tool: Sh, with: {command: touch there}}]
`)
	if diff := cmp.Diff([]string{"1 SKIP Lone", "1 CALL Sh", "2 CALL Lone"}, seen); diff != "" || states(a) != "done done" {
		t.Errorf("%s; decisions (-want +got):\n%s", states(a), diff)
	}
}

func TestPauseLeavesTheRestUnattempted(t *testing.T) {
	a, _ := work(t, Config{}, strings.Replace(tools, "subtasks:", "expediter: {budget: 1}\nsubtasks:", 1)+`
  - calls: [{tool: Web}]
  - calls: [{tool: Sh, with: {command: "touch called"}}]
`)
	if got := states(a); got != "failed not_attempted" || a.Status.Paused != expediter.Budget {
		t.Errorf("got %s, paused %q; want failed not_attempted, paused by the budget", got, a.Status.Paused)
	}
}

// A trial that is further away than a run should last is not waited for.
func TestIdleSubtaskIsDeferred(t *testing.T) {
	a, seen := work(t, Config{}, strings.Replace(tools, "subtasks:",
		"expediter: {failure_threshold: 1, probe: {unit: time, every: 3600000, max: 3600000}}\nsubtasks:", 1)+`
  - calls: [{tool: Web}]
`)
	if states(a) != "deferred" || len(seen) != 1+maxIdle || a.Work[0].Reason != "Web had no trial within 60 passes" {
		t.Errorf("got %s (%s) after %d requests, want deferred after %d", states(a), a.Work[0].Reason, len(seen), 1+maxIdle)
	}
}

// SPEC section 7, confirm_after_ms: a run without a human goes on by itself.
func TestIncidentThatConfirmsItself(t *testing.T) {
	a, _ := work(t, Config{}, strings.Replace(tools, "subtasks:",
		"expediter: {failure_threshold: 1, budget: 9, cascade: {confirm_after_ms: 50}}\nsubtasks:", 1)+`
  - calls: [{tool: Web}]
  - calls: [{tool: Lone, with: {command: "echo connection refused >&2; exit 7"}}]
  - calls: [{tool: Sh, with: {command: "true"}}]
`)
	if got := states(a); a.Work[2].State != Done || a.Status.Paused != expediter.NoReason {
		t.Errorf("got %s, paused %q; want the last one done", got, a.Status.Paused)
	}
	if len(a.History) == 0 {
		t.Error("the history has no incident")
	}
}

// SPEC section 11: the same call with the same output is labelled.
func TestRepeatedOutputIsLabelled(t *testing.T) {
	a, _ := work(t, Config{}, tools+`
  - calls: [{tool: Sh, with: {command: echo x}}, {tool: Sh, with: {command: echo x}}]
`)
	data := a.Input().Work[0].Data
	if len(data) != 2 || data[0].Label != "" || !strings.HasPrefix(data[1].Label, "[CACHED RESULT — Sh returned identical results") {
		t.Errorf("got %+v, want a label on the second result alone", data)
	}
}

func TestMapRulesComeFirst(t *testing.T) {
	a, _ := work(t, Config{}, strings.Replace(tools, "nothing else has,", "nothing else has, classify: [{match: on holiday, category: upstream}],", 1)+`
  - calls: [{tool: Lone, with: {command: "test -e there || { touch there; echo on holiday; exit 2; }"}}]
`)
	if states(a) != "done" || a.Status.Consumed != 1 {
		t.Errorf("got %s, budget %d; want one failure, then success", states(a), a.Status.Consumed)
	}
}

func TestAToolsRulesComeBeforeThoseOfItsEntry(t *testing.T) {
	text := strings.NewReplacer("nothing else has,", "nothing else has, classify: [{match: on holiday, outcome: success}],",
		"Lone: {", "Lone: {classify: [{match: on holiday, category: upstream}], ").Replace(tools)
	a, _ := work(t, Config{}, text+`
  - calls: [{tool: Lone, with: {command: "test -e there || { touch there; echo on holiday; exit 2; }"}}]
`)
	if states(a) != "done" || a.Status.Consumed != 1 {
		t.Errorf("got %s, budget %d; want one failure, then success", states(a), a.Status.Consumed)
	}
}

func TestFoldersAreRelativeToTheTask(t *testing.T) {
	base := t.TempDir()
	if err := os.MkdirAll(filepath.Join(base, "a", "b"), 0o755); err != nil {
		t.Fatal(err)
	}
	a, _ := work(t, Config{Base: base}, strings.NewReplacer("Sh: {", "Sh: {dir: b, ", "subtasks:", "dir: a\nsubtasks:").Replace(tools)+`
  - calls: [{tool: Sh, with: {command: pwd}}]
`)
	if got := strings.TrimSpace(a.Work[0].Outputs[0].Text); !strings.HasSuffix(got, filepath.Join("a", "b")) {
		t.Errorf("folder: got %q, want …/a/b", got)
	}
}

func TestInterruptedRunAccountsForEverything(t *testing.T) {
	f, err := task.Read("task.yaml", []byte(tools+`
  - calls: [{tool: Sh, with: {command: "echo $$ > started; sleep 60"}}]
  - calls: [{tool: Sh, with: {command: "true"}}]
`))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	r, err := New(Config{Task: f, Base: t.TempDir(), Progress: func(p Progress) {
		if p.Kind == Decided {
			time.AfterFunc(50*time.Millisecond, cancel)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	a, err := r.Do(ctx)
	if err != nil || !a.Interrupted || states(a) != "failed not_attempted" || a.Status.Consumed != 0 {
		t.Errorf("got %s, interrupted %v, budget %d, error %v", states(a), a.Interrupted, a.Status.Consumed, err)
	}
}
