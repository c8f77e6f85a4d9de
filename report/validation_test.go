package report_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
	"github.com/expediter-go/expediter/report"
	"github.com/expediter-go/expediter/report/freshness"
	"github.com/expediter-go/expediter/scope"
	"pgregory.net/rapid"
)

func TestValidation_StateTableIsInitialisedForEveryTool(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z]{1,20}(/[a-z]{1,8})?`), 0, 30, rapid.ID).Draw(t, "tools")
		var b bytes.Buffer
		if err := report.StateTable(&b, expediter.Status{Limit: 5, Tools: closedTools(names...)}); err != nil {
			t.Fatal(err)
		}
		rows := strings.Split(b.String(), "\n")[4:]
		for i, name := range names {
			if cells := strings.Fields(rows[i]); cells[1] != name || cells[3] != "CLOSED" || cells[5] != "0" {
				t.Fatalf("row %d: got %q, want %s CLOSED 0", i, rows[i], name)
			}
		}
	})
}

func TestValidation_FailureThresholdIsDeclared(t *testing.T) {
	policy := expediter.Policy{Policy: breaker.Policy{FailureThreshold: 7, Probe: breaker.Pacing{Every: 4}}, Budget: 9}
	st := expediter.Status{Policy: policy, Limit: 9}
	in := report.Input{Status: &st}
	reports := map[string]func(*bytes.Buffer) error{
		"state table":     func(b *bytes.Buffer) error { return report.StateTable(b, st) },
		"budget status":   func(b *bytes.Buffer) error { return report.BudgetStatus(b, st) },
		"pause":           func(b *bytes.Buffer) error { return report.Pause(b, in) },
		"systemic":        func(b *bytes.Buffer) error { return report.Systemic(b, st) },
		"scope reduction": func(b *bytes.Buffer) error { return report.ScopeReduction(b, scope.Result{}, &st) },
		"text":            func(b *bytes.Buffer) error { return report.New(in).Text(b) },
		"Markdown":        func(b *bytes.Buffer) error { return report.New(in).Markdown(b) },
		"HTML":            func(b *bytes.Buffer) error { return report.New(in).HTML(b) },
		"JSON":            func(b *bytes.Buffer) error { return report.New(in).JSON(b) },
	}
	for name, write := range reports {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"7 consecutive failures", "9 failures per cycle", "probe on the 4th request after opening"} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("the %s report does not declare %q", name, want)
			}
		}
	}
}

func TestValidation_ScopeReductionIsRecordedWithReasons(t *testing.T) {
	in := fullInput(t)
	var b bytes.Buffer
	if err := report.ScopeReduction(&b, *in.Scope, in.Status); err != nil {
		t.Fatal(err)
	}
	for _, it := range in.Scope.Items {
		if !strings.Contains(b.String(), fmt.Sprintf("%d. %s", it.Number, it.Title)) {
			t.Errorf("sub-task %d is not in the report", it.Number)
		}
		for _, n := range it.Needs {
			if !n.Blocked() {
				continue
			}
			for _, want := range append([]string{n.Tool + ": " + n.State + " — no alternative", n.Tool + " (" + n.Reason + ")"}, n.Unblock...) {
				if !strings.Contains(b.String(), want) {
					t.Errorf("sub-task %d is deferred, and the report does not say %q", it.Number, want)
				}
			}
		}
	}
}

func TestValidation_StatusReportHoldsWorkAndToolHealth(t *testing.T) {
	in := fullInput(t)
	in.Status.Paused = expediter.Budget
	var b bytes.Buffer
	if err := report.Pause(&b, in); err != nil {
		t.Fatal(err)
	}
	complete, rest, ok := strings.Cut(b.String(), "\nIncomplete work:\n")
	incomplete, health, ok2 := strings.Cut(rest, "\nTool health:\n")
	if !ok || !ok2 {
		t.Fatalf("the pause report lacks a section:\n%s", b.String())
	}
	for _, w := range in.Work {
		want, in := incomplete, "incomplete"
		if w.State == report.Succeeded {
			want, in = complete, "completed"
		}
		if !strings.Contains(want, ": "+w.Title+" ("+w.State.String()) {
			t.Errorf("%q is not among the %s work", w.Title, in)
		}
	}
	for _, tool := range in.Status.Tools {
		if !strings.Contains(health, "  "+tool.Tool+": ") {
			t.Errorf("tool health lacks %s", tool.Tool)
		}
	}
}

func TestValidation_NoSilentFailure(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var in report.Input
		for i := range rapid.IntRange(1, 8).Draw(t, "sub-tasks") {
			w := report.Work{Title: fmt.Sprintf("title%d.", i), State: rapid.SampledFrom([]report.WorkState{report.NotAttempted, report.Succeeded, report.Failed, report.Deferred, report.Started}).Draw(t, "state")}
			if w.State != report.Succeeded {
				w.Reason = fmt.Sprintf("reason%d.", i)
			}
			if rapid.Bool().Draw(t, "degraded") {
				w.Degraded = []report.Degradation{{Tool: "A", Through: "B", Label: capability.Partial, Lost: fmt.Sprintf("lost%d.", i)}}
			}
			in.Work = append(in.Work, w)
		}
		for _, f := range formats {
			var b bytes.Buffer
			if err := f.write(report.New(in), &b); err != nil {
				t.Fatal(err)
			}
			for _, w := range in.Work {
				facts := []string{w.Title, w.State.String(), w.Reason}
				for _, d := range w.Degraded {
					facts = append(facts, d.Lost, d.Label.String())
				}
				for _, fact := range facts {
					if !strings.Contains(b.String(), fact) {
						t.Fatalf("the %s report does not say %q of %q", f.ext, fact, w.Title)
					}
				}
			}
		}
	})
}

// Stale data reaches the reader with its label beside it, in every format.
func TestValidation_StaleDataIsNotPresentedAsCurrent(t *testing.T) {
	label := string(freshness.Unknown)
	r := report.New(report.Input{Work: []report.Work{{Title: "Look", State: report.Succeeded, Data: []report.Datum{
		{Tool: "Web", Label: label, Text: "old news"}, {Tool: "Read", Text: "fresh news"}}}}})
	for _, f := range formats {
		got := f.decode(render(t, r, f.write))
		at, old, fresh := strings.Index(got, label), strings.Index(got, "old news"), strings.Index(got, "fresh news")
		if at < 0 || at > old || old > fresh || strings.Count(got, label) != 1 {
			t.Errorf("%s: label at %d, its data at %d, fresh data at %d, of which the label must come first and once", f.ext, at, old, fresh)
		}
	}
}

func TestRoutingNoteSection8(t *testing.T) {
	tests := []struct {
		name string
		give report.Routing
		want string
	}{
		{"no substitute", report.Routing{Entry: capability.Entry{Tool: "Approve", NoSubstitute: true, Fallback: "ask",
			Alternatives: []capability.Alternative{{Tool: "Bash"}}}, Reason: "unavailable", Task: "approve the release"}, `Tool needed: Approve (unavailable)
Task: approve the release

Route 1: Scope reduction
  → Remove "approve the release" from task scope
  → Document: "SKIPPED: approve the release — no tools available"
`},
		{"unknown degradation, fallback in the map's words", report.Routing{Entry: capability.Entry{Tool: "Edit", Fallback: "output the file", Alternatives: []capability.Alternative{
			{Tool: "Write", Degradation: "unknown — test before relying on this route"}}}}, `Tool needed: Edit (circuit OPEN)

Route 1: Write
  → Degradation: unknown — test before relying on this route
  → Decision: UNVERIFIED — test before relying on this route

If Write also OPEN:
Route 2: Ask user
  → output the file
  → Decision: FALLBACK — user provides the information

If user unavailable:
Route 3: Scope reduction
  → Remove "the sub-task" from task scope
  → Document: "SKIPPED: the sub-task — no tools available"
`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var b bytes.Buffer
			if err := report.RoutingNote(&b, tt.give); err != nil {
				t.Fatal(err)
			}
			if b.String() != tt.want {
				t.Errorf("routing note:\n got %s\nwant %s", b.String(), tt.want)
			}
		})
	}
}

func TestScopeView(t *testing.T) {
	st := expediter.Status{User: true, Tools: []expediter.ToolStatus{
		{Tool: "Closed", State: breaker.Closed},
		{Tool: "Away", State: breaker.Closed, Score: capability.Unavailable, ViableRoute: &capability.Route{Kind: capability.UseAlternative, Tool: "Closed"}},
		{Tool: "Weak", State: breaker.Closed, Score: capability.Degraded},
		{Tool: "Trial", State: breaker.HalfOpen},
		{Tool: "Off", State: breaker.Open, Disabled: true},
	}}
	tests := []struct {
		tool   string
		strict bool
		state  string
		usable bool
		reason string
		unlock int
	}{
		{"Closed", false, "CLOSED", true, "", 0},
		{"Away", false, "unavailable", false, "unavailable", 1},
		{"Weak", false, "CLOSED", true, "", 0},
		{"Trial", false, "HALF-OPEN", false, "circuit HALF-OPEN", 1},
		{"Off", false, "OPEN", true, "", 0},
		{"New", false, "CLOSED", true, "", 0},
		{"New", true, "unknown tool", false, "unknown tool", 1},
	}
	for _, tt := range tests {
		st.Strict = tt.strict
		got := report.ScopeView(&st)(tt.tool)
		if got.State != tt.state || got.Usable != tt.usable || got.Reason != tt.reason || len(got.Unblock) != tt.unlock {
			t.Errorf("%s, strict %v: got %+v, want %+v", tt.tool, tt.strict, got, tt)
		}
	}
	if got := report.ScopeView(&st)("Away").Alternative; got != "Closed" {
		t.Errorf("alternative of Away: got %q, want Closed", got)
	}
}

func ExampleNew() {
	st := expediter.Status{Limit: 5, Consumed: 3, User: true, Tools: []expediter.ToolStatus{{Tool: "Read", State: breaker.Closed}}}
	r := report.New(report.Input{Task: "audit", Status: &st, Work: []report.Work{
		{Title: "Read configuration files", State: report.Succeeded},
		{Title: "Run test suite", State: report.Deferred, Reason: "Bash circuit OPEN"},
	}})
	fmt.Println(r.Outcome, "—", r.Summary)
	fmt.Println(r.Recommendations)
	// Output:
	// reduced — 1 of 2 sub-tasks done, 1 deferred
	// [Resume from sub-task 2]
}

func ExampleRoutingNote() {
	grep := capability.Entry{Tool: "Grep", Fallback: "ask the user which files to examine", Alternatives: []capability.Alternative{
		{Tool: "Bash", Method: "rg or grep command", Degradation: "loses output formatting"},
	}}
	if err := report.RoutingNote(os.Stdout, report.Routing{Entry: grep, Task: "find API keys"}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// Tool needed: Grep (circuit OPEN)
	// Task: find API keys
	//
	// Route 1: Bash with rg or grep command
	//   → Degradation: loses output formatting
	//   → Decision: ACCEPTABLE — use this route
	//
	// If Bash also OPEN:
	// Route 2: Ask user
	//   → ask the user which files to examine
	//   → Decision: FALLBACK — user provides the information
	//
	// If user unavailable:
	// Route 3: Scope reduction
	//   → Remove "find API keys" from task scope
	//   → Document: "SKIPPED: find API keys — no tools available"
}
