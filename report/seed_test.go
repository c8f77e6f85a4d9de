package report_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
	"github.com/expediter-go/expediter/report"
	"github.com/expediter-go/expediter/scope"
	"github.com/google/go-cmp/cmp"
)

// seedBlock is an example of the original skill, as it stands there. In the
// scope report one misaligned row is aligned.
func seedBlock(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile("testdata/seed/" + name + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func closedTools(names ...string) []expediter.ToolStatus {
	var list []expediter.ToolStatus
	for _, n := range names {
		list = append(list, expediter.ToolStatus{Tool: n, State: breaker.Closed})
	}
	return list
}

const policyLines = `
Policy:
  Threshold: 3 consecutive failures
  Budget: 5 failures per cycle
  Pacing: probe on the 3rd request after opening, or after 30s
`

func TestSeedStateTable(t *testing.T) {
	st := expediter.Status{User: true, Limit: 5, Cycle: 1,
		Tools: closedTools("Grep", "Bash", "Read", "Write", "Edit", "WebSearch")}
	var got bytes.Buffer
	if err := report.StateTable(&got, st); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(seedBlock(t, "state")+policyLines, got.String()); diff != "" {
		t.Errorf("state table (-want +got):\n%s", diff)
	}
}

func TestSeedRoutingNote(t *testing.T) {
	n := report.Routing{
		Entry: capability.Entry{Tool: "Grep", Fallback: "ask the user which files to examine", Alternatives: []capability.Alternative{
			{Tool: "Read", Method: "read suspected config files directly", Degradation: "requires guessing which files; no broad search", Level: capability.High},
			{Tool: "Bash", Method: "rg command", Degradation: "loses Grep's built-in formatting"},
		}},
		Task:    `find all files containing "API_KEY"`,
		Limits:  map[string]string{"Read": "try known config paths only"},
		Ask:     "I need to find files containing 'API_KEY' but my search tools are unavailable. Can you run: grep -r 'API_KEY' .",
		Subtask: "find API key references",
		Skipped: "API key search",
	}
	var got bytes.Buffer
	if err := report.RoutingNote(&got, n); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(seedBlock(t, "routing"), got.String()); diff != "" {
		t.Errorf("routing note (-want +got):\n%s", diff)
	}
}

// seedTools are the tools of the seed's pause example: Bash is open after
// three failures, WebSearch after one.
func seedTools() []expediter.ToolStatus {
	bash := expediter.ToolStatus{Tool: "Bash", State: breaker.Open, Run: 3, Next: 3, Entry: capability.Entry{Fallback: "user can run commands manually"},
		RunFailures: []expediter.Moment{{Category: cascade.Permission, Text: "permission denied"}, {Category: cascade.ToolMissing, Text: "command not found"}, {Category: cascade.Timeout, Text: "timeout after 120s"}}, Trip: cascade.Failure{Category: cascade.Timeout}}
	web := expediter.ToolStatus{Tool: "WebSearch", State: breaker.Open, Run: 1, Next: 3,
		RunFailures: []expediter.Moment{{Category: cascade.Network, Text: "connection refused"}}, Trip: cascade.Failure{Category: cascade.Network}}
	return append(append(closedTools("Grep"), bash), append(closedTools("Read", "Edit"), web)...)
}

func seedCharges() []expediter.Charge {
	return []expediter.Charge{
		{Tool: "Bash", Text: "permission denied", Category: cascade.Permission, Step: 3, Counts: true},
		{Tool: "Bash", Text: "command not found", Category: cascade.ToolMissing, Step: 3, Counts: true},
		{Tool: "Bash", Text: "timeout after 120s", Category: cascade.Timeout, Step: 4, Counts: true},
		{Tool: "WebSearch", Text: "connection refused", Category: cascade.Network, Step: 5, Counts: true},
	}
}

func TestSeedScopeReduction(t *testing.T) {
	task := scope.Task{Subtasks: []scope.Subtask{
		{Title: "Read configuration files", Tools: []string{"Read"}},
		{Title: "Search for deprecated patterns", Tools: []string{"Grep"}},
		{Title: "Run test suite", Tools: []string{"Bash"}},
		{Title: "Update documentation", Tools: []string{"Edit"}},
		{Title: "Deploy to staging", Tools: []string{"Bash"}},
	}}
	st := expediter.Status{User: true, Paused: expediter.Budget, Tools: seedTools()}
	res, err := scope.Reduce(task, report.ScopeView(&st))
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := report.ScopeReduction(&got, res, &st); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(seedBlock(t, "scope")+policyLines, got.String()); diff != "" {
		t.Errorf("scope report (-want +got):\n%s", diff)
	}
}

func TestSeedBudgetStatus(t *testing.T) {
	st := expediter.Status{User: true, Limit: 5, Consumed: 4, Tools: seedTools(), Charges: seedCharges()}
	var got bytes.Buffer
	if err := report.BudgetStatus(&got, st); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(seedBlock(t, "budget")+policyLines, got.String()); diff != "" {
		t.Errorf("budget status (-want +got):\n%s", diff)
	}
}

// seedPause is the seed's pause: WebSearch has a threshold of 1, and the fifth
// failure is a probe of Bash.
func seedPause() report.Input {
	st := expediter.Status{User: true, Limit: 5, Consumed: 5, Paused: expediter.Budget, Step: 8, Tools: seedTools()}
	st.Charges = append(seedCharges(), expediter.Charge{Tool: "Bash", Text: "timeout after 120s", Category: cascade.Timeout, Step: 8, Counts: true})
	st.Tools[1].FailedProbes = 1
	st.Tools[4].Policy = breaker.Policy{FailureThreshold: 1}
	return report.Input{Task: "release", Status: &st, Work: []report.Work{
		{Title: "Read configuration files", State: report.Succeeded},
		{Title: "Search for deprecated patterns", State: report.Succeeded},
		{Title: "Run test suite", State: report.Failed, Reason: "Bash circuit OPEN"},
		{Title: "Update documentation", Reason: "paused"},
		{Title: "Deploy to staging", Reason: "paused"},
	}}
}

func TestSeedPause(t *testing.T) {
	var got, whole bytes.Buffer
	if err := report.Pause(&got, seedPause()); err != nil {
		t.Fatal(err)
	}
	want := seedBlock(t, "pause") + policyLines +
		"  WebSearch: 1 consecutive failure; probe on the 3rd request after opening, or after 30s\n"
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("pause report (-want +got):\n%s", diff)
	}
	if err := report.New(seedPause()).Text(&whole); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(whole.String(), "\n"+seedBlock(t, "pause")) {
		t.Errorf("the full report does not hold the seed's pause report:\n%s", whole.String())
	}
}
