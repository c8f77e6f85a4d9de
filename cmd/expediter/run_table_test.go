package main

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
	"github.com/expediter-go/expediter/internal/runner"
	"github.com/expediter-go/expediter/internal/task"
)

func tableOf(b *bytes.Buffer, tools ...expediter.ToolStatus) *table {
	return &table{w: b, events: &lines{w: b, column: 4, checked: map[string]capability.Score{}}, total: 2, fleet: func() string { return "" },
		status: func() expediter.Status { return expediter.Status{Consumed: 1, Limit: 5, Tools: tools} },
		height: func() int { return 10 }}
}

func deciding(title string) runner.Progress {
	return runner.Progress{Kind: runner.Decided, Step: 3, Tool: "Bash", Decision: expediter.Decision{Verb: expediter.Call},
		Work: &runner.Work{Subtask: task.Subtask{Title: title}}}
}

func TestTableShowsTools(t *testing.T) {
	var b bytes.Buffer
	tableOf(&b, expediter.ToolStatus{Tool: "Bash", State: breaker.Closed, Consecutive: 1},
		expediter.ToolStatus{Tool: "Web", State: breaker.HalfOpen, Run: 3, Score: capability.Degraded}).progress(deciding("Build"))
	want := noWrap + `
  Bash  CLOSED     fails 1
  Web   HALF-OPEN  fails 3  degraded
  budget 1 / 5   pass 3   0 of 2 sub-tasks settled
  now: Build (Bash)
` + wrap
	if got := b.String(); got != want {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
}

// Each drawing goes up by as many lines as the one before it had, so that
// nothing of it stays on the screen.
func TestTableIsRedrawnInPlace(t *testing.T) {
	var b bytes.Buffer
	tab := tableOf(&b, expediter.ToolStatus{Tool: "Bash", State: breaker.Open, Run: 3})
	for _, p := range []runner.Progress{deciding("one"), {Kind: runner.Checked, Tool: "Bash", Score: capability.Unavailable}, deciding("two\x1b[9A\nlines")} {
		tab.progress(p)
	}
	tab.end()
	drawings := regexp.MustCompile(`(?s)\x1b\[\?7l(.*?)\x1b\[\?7h`).FindAllStringSubmatch(b.String(), -1)
	ups := regexp.MustCompile(`\x1b\[(\d+)A`).FindAllStringSubmatch(b.String(), -1)
	if len(drawings) != 3 || len(ups) != 3 {
		t.Fatalf("%d drawings, %d moves up, want 3 and 3 in %q", len(drawings), len(ups), b.String())
	}
	for i, up := range ups {
		if want := fmt.Sprint(strings.Count(drawings[i][1], "\n")); up[1] != want {
			t.Errorf("after drawing %d: up %s lines, want %s", i, up[1], want)
		}
	}
}

func TestTableColours(t *testing.T) {
	for state, want := range map[breaker.State]string{breaker.Open: "\x1b[31mOPEN     \x1b[0m", breaker.Closed: "\x1b[32mCLOSED   \x1b[0m"} {
		if got := (&table{colour: true}).state(expediter.ToolStatus{State: state}); got != want {
			t.Errorf("%s: got %q, want %q", state, got, want)
		}
	}
}

func TestTableFitsTheTerminal(t *testing.T) {
	var tools []expediter.ToolStatus
	for i := range 50 {
		tool := expediter.ToolStatus{Tool: fmt.Sprint("T", i), State: breaker.Closed}
		if i == 40 {
			tool.State = breaker.Open
		}
		tools = append(tools, tool)
	}
	var b bytes.Buffer
	tab := tableOf(&b, tools...)
	tab.progress(deciding("Build"))
	if got := b.String(); tab.drawn > 10 || !strings.Contains(got, "T40") || !strings.Contains(got, "and 49 more") {
		t.Errorf("%d lines: %q", tab.drawn, got)
	}
}
