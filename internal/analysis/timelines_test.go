package analysis_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/expediter-go/expediter/internal/analysis"
)

// Two tools lose one network: both open, the session pauses, the user speaks,
// one is tried and closes, then the other.
func TestTimelineOfACascade(t *testing.T) {
	r := &recording{file: "f", session: "cascade"}
	r.prompt().call("WebFetch", "SFFF").call("WebSearch", "FF").call("Read", "S").prompt()
	r.call("WebFetch", "FFSS").call("WebSearch", "S.").end()
	cfg := analysis.Policy{Name: "two failures"}
	cfg.Config.Policy.FailureThreshold = 2
	got := analyse(t, stream(r.events), analysis.Options{Policies: []analysis.Policy{cfg}, Timelines: 1}).Timelines
	if len(got) != 1 {
		t.Fatalf("got %d timelines, want 1", len(got))
	}
	failed := func(x int, verb string) analysis.Tick {
		return analysis.Tick{X: x, Verb: verb, Outcome: "failure", Note: "network: what it said"}
	}
	want := analysis.Timeline{
		Session: "cascade", File: "f", Format: "made", Calls: 13, Width: 27, Limit: 5, Prompts: []int{0, 15},
		Lanes: []analysis.Lane{
			{Tool: "WebFetch", Spans: []analysis.Span{{From: 6, To: 20, State: "OPEN"}, {From: 20, To: 21, State: "HALF_OPEN"}},
				Ticks: []analysis.Tick{{X: 1, Verb: "CALL", Outcome: "ok"}, failed(3, "CALL"), failed(5, "CALL"), failed(7, "SKIP"),
					failed(16, "SKIP"), failed(18, "SKIP"), {X: 20, Verb: "PROBE", Outcome: "ok"}, {X: 22, Verb: "CALL", Outcome: "ok"}}},
			{Tool: "WebSearch", Spans: []analysis.Span{{From: 12, To: 24, State: "OPEN"}, {From: 24, To: 25, State: "HALF_OPEN"}},
				Ticks: []analysis.Tick{failed(9, "CALL"), failed(11, "CALL"), {X: 24, Verb: "PROBE", Outcome: "ok"}, {X: 26, Verb: "CALL", Outcome: "open"}}},
			{Tool: "Read", Spans: []analysis.Span{}, Ticks: []analysis.Tick{{X: 13, Verb: "PAUSE", Outcome: "ok"}}},
		},
		Budget:    []analysis.Mark{{X: 4, Consumed: 1}, {X: 6, Consumed: 2}, {X: 10, Consumed: 3}, {X: 12, Consumed: 1}, {X: 15, Consumed: 0}},
		Incidents: []analysis.Band{{From: 12, To: 25, Cause: "network", Members: []string{"WebFetch", "WebSearch"}}},
		Pauses:    []analysis.Band{{From: 12, To: 15, Cause: "systemic"}},
		Counts: &analysis.Counts{Sessions: 1, Calls: 13, Failures: 7, Openings: 2, Skipped: 3, Saved: 3, Paused: 1, Precision: 1,
			Probes: 2, Pauses: 1, SessionsPaused: 1, Incidents: 1, SavedMS: 3000, SavedTokens: 30},
	}
	if diff := cmp.Diff(want, got[0]); diff != "" {
		t.Errorf("timeline (-want +got):\n%s", diff)
	}
}

// The sessions with the most denials are drawn, then those with failures.
func TestTimelinesOfTheMostTelling(t *testing.T) {
	var all []*recording
	for _, s := range []struct{ name, calls string }{
		{"quiet", "SSSS"}, {"denied", "FFFFFF"}, {"failed", "FSF"}, {"worse", "FFFFFFFFF"}, {"answers", "AAAA"},
	} {
		r := &recording{file: "f", session: s.name}
		all = append(all, r.prompt().call("x", s.calls).end())
	}
	empty := &recording{file: "f", session: "empty"}
	var got []string
	var r *analysis.Result
	for _, most := range []int{3, 50} {
		r = analyse(t, stream(joined(append(all, empty.prompt())...)), analysis.Options{Policies: analysis.Baselines()[2:3], Timelines: most})
		for _, line := range r.Timelines {
			got = append(got, line.Session)
		}
		got = append(got, "|")
	}
	want := []string{"worse", "denied", "failed", "|", "worse", "denied", "failed", "quiet", "answers", "|"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("timelines (-want +got):\n%s", diff)
	}
	if r.Omitted != 0 {
		t.Errorf("omitted %d, want 0: a session without calls has no timeline", r.Omitted)
	}
}
