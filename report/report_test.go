package report_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"html"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"
	"unicode"

	"github.com/expediter-go/expediter/budget"
	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
	"github.com/expediter-go/expediter/report"
	"github.com/expediter-go/expediter/report/freshness"
	"github.com/expediter-go/expediter/scope"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// base is 2026-03-01 09:00:00Z in milliseconds.
const base = 1_772_355_600_000

func second(n int64) int64 { return base + n*1000 }

// fullStatus is an engine in the middle of much trouble.
func fullStatus() expediter.Status {
	grep := expediter.ToolStatus{Tool: "Grep", State: breaker.Open, Declared: true, Run: 3, Next: 2, OpenedStep: 4, OpenedAt: second(40),
		RunFailures: []expediter.Moment{{Category: cascade.ToolMissing, Text: "rg: not found"}, {Category: cascade.ToolMissing, Text: "rg: not found"}, {Category: cascade.ToolMissing, Text: "rg: not found"}}, Trip: cascade.Failure{Category: cascade.ToolMissing}, FailedProbes: 1,
		LastFailure: &expediter.Moment{Step: 6, At: second(60), Category: cascade.ToolMissing, Text: "rg: not found"}, LastSuccess: &expediter.Moment{Step: 1, At: second(-86400)},
		ViableRoute: grepRoute, Entry: capability.Entry{Fallback: "ask the user which files to examine"}}
	web := expediter.ToolStatus{Tool: "WebSearch", State: breaker.HalfOpen, Run: 1, OpenedStep: 5, OpenedAt: second(50), Policy: breaker.Policy{FailureThreshold: 1},
		RunFailures: []expediter.Moment{{Category: cascade.Network, Text: "dial tcp 10.0.0.1:443: connection refused"}}, Trip: cascade.Failure{Category: cascade.Network},
		Entry: capability.Entry{KnownIssues: "refuses connections at night", Fallback: "state what information is needed"}}
	deploy := expediter.ToolStatus{Tool: "Deploy", State: breaker.Open, Unverified: 1, Entry: capability.Entry{Provides: "releases", SideEffects: capability.Destructive}, Forced: true, Reason: "release freeze", OpenedStep: 2}
	fetch := expediter.ToolStatus{Tool: "検索ツール", State: breaker.Closed, Consecutive: 2, LastFailure: &expediter.Moment{Step: 7, Category: cascade.Timeout, Text: "timeout after 30s"}}
	lint := expediter.ToolStatus{Tool: "Lint", State: breaker.Closed, Score: capability.Unavailable}
	return expediter.Status{
		User: true, Step: 9, At: second(90), Cycle: 2, Consumed: 4, Limit: 5,
		Tools: append(closedTools("Bash", "Read"), grep, web, deploy, fetch, lint),
		Charges: []expediter.Charge{
			{Tool: "Grep", Step: 4, At: second(40), Category: cascade.ToolMissing, Text: "rg: not found", Counts: true},
			{Tool: "WebSearch", Step: 5, At: second(50), Category: cascade.Network, Text: "dial tcp 10.0.0.1:443: connection refused", Counts: true, Folded: true},
			{Tool: "Grep", Step: 6, At: second(60), Category: cascade.Unknown, Folded: true},
			{Tool: "検索ツール", Step: expediter.NoStep, At: second(70), Category: cascade.Timeout, Text: "timeout after 30s", Counts: true},
			{Tool: "Read", Step: 8, Category: cascade.Filesystem, Counts: true},
		},
		Incidents: []expediter.Incident{{Cause: "network", Pattern: "connection refused", Members: []string{"WebSearch"}, Flagged: []string{"Fetch", "WebSearch"}, Step: 5, At: second(50)}},
		Unverified: []expediter.Unverified{
			{Tool: "Deploy", Moment: expediter.Moment{Step: 1, At: second(10), Category: cascade.Timeout, Text: "no answer in 60s"}},
			{Tool: "Read", Moment: expediter.Moment{Step: 8, Category: cascade.Network}},
		},
		Suspected: &expediter.SystemicOutput{Cause: "filesystem", Members: []string{"Edit", "Read", "Write"}},
		Counts:    expediter.Counts{Calls: 12, Probes: 3, Skips: 7, Pauses: 1},
		Routes: []expediter.RouteTaken{
			{Tool: "Grep", Step: 5, At: second(50), Route: grepRoute},
			{Tool: "Deploy", Step: 6, At: second(60), Route: capability.Reduced()},
			{Tool: "WebSearch", Step: 6, At: second(60), Route: &capability.Route{Kind: capability.UseFallback, Label: capability.Fallback, Ask: "state what information is needed"}},
			{Tool: "Grep", Step: 7, At: second(70), Route: grepRoute},
		},
	}
}

var grepRoute = &capability.Route{Kind: capability.UseAlternative, Label: capability.Acceptable, Tool: "Bash",
	Method: "rg or grep command", Degradation: "loses output formatting"}

func fullInput(t *testing.T) report.Input {
	t.Helper()
	st := fullStatus()
	task := scope.Task{Name: "audit", Subtasks: []scope.Subtask{
		{Title: "Count lines", Tools: []string{"Read"}, Done: true},
		{Title: "Find 未完成 markers", Tools: []string{"Grep"}},
		{Title: "Look up the latest release", Tools: []string{"WebSearch"}},
		{Title: "Deploy the docs", Tools: []string{"Deploy", "Read"}},
		{Title: "Announce it", After: []string{"4"}},
		{Title: "Lint", Tools: []string{"Lint"}},
	}}
	res, err := scope.Reduce(task, report.ScopeView(&st))
	if err != nil {
		t.Fatal(err)
	}
	return report.Input{Task: "audit", Status: &st, Scope: &res, Substitutes: []expediter.Substitute{
		{Tool: "WebSearch", Used: "last_good", Label: "[STALE DATA — retrieved at 2026-03-01T09:00:00Z, may not reflect current state]",
			Lost: "what has changed since", Cause: "503 <Service>\x1b[31m Unavailable, token=hunter2hunter2", Step: 5, Times: 2},
	}, History: []expediter.IncidentEvent{
		{Kind: expediter.IncidentFlagged, Cause: "network", Members: []string{"Fetch", "WebSearch"}, Step: 5, At: second(50)},
		{Kind: expediter.IncidentConfirmed, Cause: "network", Step: 8, At: second(80)},
	}, Work: []report.Work{
		{Title: "Count lines", State: report.Succeeded, Data: []report.Datum{
			{Tool: "Read", Label: string(freshness.Cached("Read", "filesystem")), Text: "  1024 report.go\n\n   512 clean.go\n"}}},
		{Title: "Find 未完成 markers", State: report.Succeeded, Degraded: []report.Degradation{
			{Tool: "Grep", Through: "Bash", Label: capability.Acceptable, Lost: "loses output formatting"}}},
		{ID: "web", Title: "Look up the latest release", State: report.Failed, Reason: "the user has not answered", Degraded: []report.Degradation{{Tool: "WebSearch", Label: capability.Fallback}}},
		{Title: "Deploy the docs", State: report.Deferred, Reason: "Deploy circuit OPEN", Unblock: []string{"an operator must reset it"}},
		{Title: "Announce it", State: report.Deferred, Reason: "waits for sub-task 4"},
		{Title: "Lint", Reason: "its pre-call check failed"},
	}}
}

// formats are the ways in which a report prints itself.
var formats = []struct {
	ext    string
	write  func(report.Report, io.Writer) error
	decode func(string) string // to compare texts
}{
	{"txt", report.Report.Text, func(s string) string { return s }},
	{"md", report.Report.Markdown, unescapeMarkdown},
	{"html", report.Report.HTML, html.UnescapeString},
	{"json", report.Report.JSON, unescapeJSON},
}

func unescapeMarkdown(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && unicode.IsPunct(rune(s[i+1])) {
			i++
		}
		b.WriteByte(s[i])
	}
	return html.UnescapeString(b.String())
}

func unescapeJSON(s string) string {
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&", `\"`, `"`).Replace(s)
}

func render(t *testing.T, r report.Report, write func(report.Report, io.Writer) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := write(r, &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestGolden(t *testing.T) {
	r := report.New(fullInput(t))
	for _, f := range formats {
		t.Run(f.ext, func(t *testing.T) {
			got, path := render(t, r, f.write), "testdata/full."+f.ext
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("%s (-want +got; -update writes it anew):\n%s", path, diff)
			}
		})
	}
}

// What one format says, all say (section 12).
func TestFormatsSayTheSameSection12(t *testing.T) {
	r := report.New(fullInput(t))
	facts := []string{
		"audit", "Count lines", "Find 未完成 markers", "Look up the latest release", "Deploy the docs", "Announce it",
		"SUCCESS", "FAILED", "DEFERRED", "NOT ATTEMPTED", "the user has not answered", "waits for sub-task 4",
		"loses output formatting", "ACCEPTABLE", "FALLBACK", "SKIPPED", "an operator must reset it",
		"[CACHED RESULT — Read returned identical results to previous call; filesystem may have changed since]", "1024 report.go", "   512 clean.go",
		"HALF-OPEN", "3 consecutive failures — rg: not found", "release freeze", "検索ツール", "unavailable by its pre-call check",
		"3 consecutive failures", "5 failures per cycle", "probe on the 3rd request after opening, or after 30s", "1 consecutive failure",
		"Multiple tools failing with connection refused — likely network issue", "Fetch", "confirmed", "flagged",
		"Edit, Read and Write worked before and now fail alike (filesystem)", "refuses connections at night",
		"rg or grep command", "ask the user which files to examine", "state what information is needed", "filesystem",
		"Install Grep or the program it needs", "Reset Deploy when its operator agrees", "Make Lint available: its pre-call check fails", "Check network connectivity for WebSearch", "Resume from sub-task 6 after resolution",
	}
	for _, f := range formats {
		got := f.decode(render(t, r, f.write))
		for _, fact := range facts {
			if !strings.Contains(got, fact) {
				t.Errorf("the %s report does not say %q", f.ext, fact)
			}
		}
	}
}

func TestJSONReadsBackSection12(t *testing.T) {
	want := report.New(fullInput(t))
	var got report.Report
	dec := json.NewDecoder(strings.NewReader(render(t, want, report.Report.JSON)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("after a round trip (-want +got):\n%s", diff)
	}
	for _, f := range formats {
		if diff := cmp.Diff(render(t, want, f.write), render(t, got, f.write)); diff != "" {
			t.Errorf("the %s of the report that was read back (-want +got):\n%s", f.ext, diff)
		}
	}
}

// fillStrings sets every text in a value that reflection can reach.
func fillStrings(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.Type().Elem() == reflect.TypeFor[capability.Route]() && v.IsNil() {
			v.Set(reflect.ValueOf(&capability.Route{Kind: capability.UseAlternative}))
		}
		if !v.IsNil() {
			fillStrings(v.Elem(), text)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fillStrings(v.Field(i), text)
		}
	case reflect.Slice:
		for i := range v.Len() {
			fillStrings(v.Index(i), text)
		}
	case reflect.String:
		v.SetString(text)
	}
}

func TestHostileTextSection12(t *testing.T) {
	const hostile = "\x1b[2J\x1b]0;x\x07<script>alert(1)</script> | `code` **b**\n# head\n- item [l](http://evil.example) www.evil.example \u202e" +
		"\x00 Authorization: Bearer topsecretvalue {{.}} ]]> --> \xff"
	in := fullInput(t)
	grep := *grepRoute
	in.Status.Tools[2].ViableRoute = &grep
	for i := range in.Status.Routes {
		route := *in.Status.Routes[i].Route
		in.Status.Routes[i].Route = &route
	}
	fillStrings(reflect.ValueOf(&in).Elem(), hostile)
	in.Work[0].Data[0].Text = "```\n````\n# head \x1b[2J\x00 Bearer topsecretvalue </pre><script>"
	r := report.New(in)
	for _, f := range formats {
		got := render(t, r, f.write)
		for _, bad := range []string{"\x1b", "\x00", "\u202e", "topsecretvalue", "\xff"} {
			if strings.Contains(got, bad) {
				t.Errorf("the %s report holds %q", f.ext, bad)
			}
		}
	}
	if got := render(t, r, report.Report.HTML); strings.Contains(got, "<script") || strings.Count(got, "</pre>") != 1 {
		t.Error("text got out of its place in the HTML report")
	}
	md := render(t, r, report.Report.Markdown)
	const data = "\n`````\n```\n````\n# head  Bearer [masked] </pre><script>\n`````\n"
	if !strings.Contains(md, data) {
		t.Errorf("the Markdown report does not hold the data fenced in:\n%s", data)
	}
	md = strings.Replace(md, data, "", 1)
	for _, bad := range []string{"<script", "[l](", "http://", "www.", "\n# head", "\n- item", "`code`", "**b**"} {
		if strings.Contains(md, bad) {
			t.Errorf("the Markdown report holds %q", bad)
		}
	}
}

func TestMarkdownTableKeepsItsColumns(t *testing.T) {
	in := fullInput(t)
	fillStrings(reflect.ValueOf(in.Status).Elem().FieldByName("Tools"), "a|b\\|c")
	rows := 0
	for l := range strings.Lines(render(t, report.New(in), report.Report.Markdown)) {
		if !strings.HasPrefix(l, "| ") {
			continue
		}
		rows++
		cells := strings.Count(l, "|") - strings.Count(l, `\|`)
		if cells != 7 {
			t.Errorf("a row has %d borders, not 7: %s", cells, l)
		}
	}
	if want := len(in.Status.Tools) + 2; rows != want {
		t.Errorf("table rows: got %d, want %d", rows, want)
	}
}

func TestMissingPartsSection12(t *testing.T) {
	full := fullInput(t)
	for mask := range 8 {
		in, lacks := report.Input{}, 3
		if mask&1 != 0 {
			in.Status, lacks = full.Status, lacks-1
		}
		if mask&2 != 0 {
			in.Work, lacks = full.Work, lacks-1
		}
		if mask&4 != 0 {
			in.Scope, lacks = full.Scope, lacks-1
		}
		r := report.New(in)
		if len(r.Missing) != lacks {
			t.Errorf("parts %03b: %d are said to be missing, want %d: %q", mask, len(r.Missing), lacks, r.Missing)
		}
		for _, f := range formats {
			got := f.decode(render(t, r, f.write))
			for _, m := range r.Missing {
				if !strings.Contains(got, m) {
					t.Errorf("parts %03b: the %s report does not say that it lacks %q", mask, f.ext, m)
				}
			}
		}
		var b bytes.Buffer
		if err := report.Pause(&b, in); err != nil || !strings.Contains(b.String(), "Completed work:") {
			t.Errorf("parts %03b: pause report %q, error %v", mask, b.String(), err)
		}
	}
}

func TestSystemicSection12(t *testing.T) {
	st := fullStatus()
	st.Paused = expediter.Systemic
	st.Incidents[0].Active = true
	st.Incidents[0].Members = []string{"Fetch", "WebSearch"}
	var b bytes.Buffer
	if err := report.Systemic(&b, st); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"SYSTEMIC FAILURE — PAUSING\n\nMultiple tools failing with connection refused — likely network issue\n",
		"State: every call is paused until its recovery is confirmed",
		"  1. Check network connectivity for Fetch and WebSearch\n  2. Confirm the recovery once the cause is gone; probes resume only then\n",
		"Threshold: 3 consecutive failures",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the systemic report does not say %q:\n%s", want, b.String())
		}
	}
	b.Reset()
	if err := report.Systemic(&b, expediter.Status{}); err != nil || !strings.HasPrefix(b.String(), "NO SYSTEMIC FAILURE\n") {
		t.Errorf("without an incident: %q, error %v", b.String(), err)
	}
}

func TestUnlimitedBudget(t *testing.T) {
	st := expediter.Status{Consumed: 7, Limit: budget.Unlimited, Policy: expediter.Policy{Budget: budget.Unlimited}}
	var b bytes.Buffer
	if err := report.BudgetStatus(&b, st); err != nil {
		t.Fatal(err)
	}
	want := "Failure Budget Enforcement:\n\nBudget: unlimited\nCurrent: 7 consumed\n\nStatus: no limit, no mandatory pause\n"
	if !strings.HasPrefix(b.String(), want) || strings.Contains(b.String(), "-1") {
		t.Errorf("budget status:\n got %s\nwant %s", b.String(), want)
	}
}

func TestManyChargesAreBounded(t *testing.T) {
	st := expediter.Status{Consumed: 250, Limit: 300, Cycle: 1}
	for i := range 250 {
		st.Charges = append(st.Charges, expediter.Charge{Tool: "T", Text: fmt.Sprint("error ", i), Counts: true})
	}
	var b bytes.Buffer
	if err := report.BudgetStatus(&b, st); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"(150 older failures not listed)\n  Failure 151: T — \"error 150\"", "Failure 250: T — \"error 249\""} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the budget status does not say %q", want)
		}
	}
	if strings.Contains(b.String(), "error 149") {
		t.Error("more charges are listed than the bound allows")
	}
}

func TestOutcomes(t *testing.T) {
	done := report.Work{State: report.Succeeded}
	through := report.Work{State: report.Succeeded, Degraded: []report.Degradation{{Tool: "A", Through: "B"}}}
	paused := &expediter.Status{Paused: expediter.Budget}
	tests := []struct {
		name string
		in   report.Input
		want report.Outcome
	}{
		{"nothing known", report.Input{}, report.Unclear},
		{"complete", report.Input{Work: []report.Work{done}}, report.Complete},
		{"degraded", report.Input{Work: []report.Work{done, through}}, report.Degraded},
		{"deferred", report.Input{Work: []report.Work{done, {State: report.Deferred}, {State: report.Failed}}}, report.Reduced},
		{"failed", report.Input{Work: []report.Work{done, {State: report.Failed}}}, report.Incomplete},
		{"in progress", report.Input{Work: []report.Work{done, {State: report.Started}}}, report.Incomplete},
		{"not attempted", report.Input{Work: []report.Work{{}}}, report.Incomplete},
		{"paused", report.Input{Status: paused, Work: []report.Work{{}}}, report.Paused},
		{"paused, no work list", report.Input{Status: paused}, report.Paused},
		{"paused after the last one", report.Input{Status: paused, Work: []report.Work{done}}, report.Complete},
		{"interrupted", report.Input{Interrupted: true, Work: []report.Work{done, {}}}, report.Interrupted},
		{"interrupted too late", report.Input{Interrupted: true, Work: []report.Work{done}}, report.Complete},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := report.New(tt.in).Outcome; got != tt.want {
				t.Errorf("outcome: got %s, want %s", got, tt.want)
			}
		})
	}
}

func ExampleStateTable() {
	st := expediter.Status{Limit: 5, Tools: []expediter.ToolStatus{
		{Tool: "Grep", State: breaker.Open, Run: 3, LastFailure: &expediter.Moment{Step: 4}},
		{Tool: "Read", State: breaker.Closed, LastSuccess: &expediter.Moment{Step: 5}},
	}, Consumed: 3}
	if err := report.StateTable(os.Stdout, st); err != nil {
		fmt.Println(err)
	}
	// Output:
	// Circuit Breaker State Table:
	// +------------+--------+-------------------+------------------+-----------------+
	// | Tool       | State  | Consecutive Fails | Last Failure     | Last Success    |
	// +------------+--------+-------------------+------------------+-----------------+
	// | Grep       | OPEN   | 3                 | step 4           | —               |
	// | Read       | CLOSED | 0                 | —                | step 5          |
	// +------------+--------+-------------------+------------------+-----------------+
	//
	// Failure budget: 3 / 5 consumed
	//
	// Policy:
	//   Threshold: 3 consecutive failures
	//   Budget: 5 failures per cycle
	//   Pacing: probe on the 3rd request after opening, or after 30s
}

// TestIdleTools: whoever gave a part of the tools says how many are left out.
func TestIdleTools(t *testing.T) {
	for n, want := range map[int]string{1: "1 tool left out", 38: "38 tools left out"} {
		r := report.New(report.Input{Status: &expediter.Status{}, Idle: n})
		for format, write := range map[string]func(io.Writer) error{"text": r.Text, "Markdown": r.Markdown, "HTML": r.HTML, "JSON": r.JSON} {
			var b strings.Builder
			if err := write(&b); err != nil || !strings.Contains(b.String(), want) {
				t.Errorf("%s: %v, lacks %q:\n%s", format, err, want, b.String())
			}
		}
	}
	if r := report.New(report.Input{Status: &expediter.Status{User: true}}); r.Notes != nil {
		t.Errorf("notes without a cause: %q", r.Notes)
	}
}
