package view

import (
	"fmt"
	"strings"
	"testing"

	"github.com/expediter-go/expediter/internal/analysis"
	"github.com/google/go-cmp/cmp"
)

func TestTimelinesAreBounded(t *testing.T) {
	var list []analysis.Timeline
	for i := range 100 {
		tl := analysis.Timeline{Session: fmt.Sprint(i), Calls: 400, Width: 400, Lanes: []analysis.Lane{{Tool: "Bash"}}, Counts: &analysis.Counts{}}
		for x := range 400 {
			note := fmt.Sprint(x, strings.Repeat("n", maxNote-3))
			tl.Lanes[0].Ticks = append(tl.Lanes[0].Ticks, analysis.Tick{X: x, Verb: "CALL", Outcome: "failure", Note: note})
		}
		list = append(list, tl)
	}
	data, omitted, err := timelines(list)
	if err != nil {
		t.Fatal(err)
	}
	if len(data) > maxTimelineBytes+1000 || len(data) < maxTimelineBytes/2 || omitted == 0 || omitted == len(list) {
		t.Errorf("%d bytes, %d of %d left out; want it nearly full, up to %d bytes", len(data), omitted, len(list), maxTimelineBytes)
	}
}

func TestDrawn(t *testing.T) {
	// Of five calls the analysis drew three.
	tl := analysis.Timeline{Session: "s", Start: 1000, End: 5000, Calls: 5, Width: 7, Limit: 5, Counts: &analysis.Counts{Paused: 1, Failures: 1}, Budget: []analysis.Mark{{X: 0}, {X: 4, Consumed: 1}},
		Prompts: []int{0}, Incidents: []analysis.Band{{From: 2, To: 5, Cause: "network", Members: []string{"A", "B"}}},
		Lanes: []analysis.Lane{
			{Tool: "A", Spans: []analysis.Span{{From: 4, To: 6, State: "HALF_OPEN"}, {From: 2, To: 4, State: "OPEN"}},
				Ticks: []analysis.Tick{{X: 1, Verb: "CALL", Outcome: "ok", At: 1500}, {X: 4, Verb: "PROBE", Outcome: "failure", Note: "down", At: 1600}}},
			{Tool: "", Ticks: []analysis.Tick{{X: 5, Verb: "PAUSE", Outcome: "unheard of"}}},
		}}
	want := drawn{Name: "s", Start: 1000, End: 5000, Calls: 5, Cut: 2, Width: 7, Limit: 5, Denied: 1, Failures: 1,
		Lanes: []drawnLane{
			{Tool: "A", Spans: [][3]int{{4, 6, 2}, {2, 4, 1}}, X: []int{1, 3}, Kinds: "am", Notes: []int{0, 1}, At: []int64{500, 100}},
			{Tool: "(no name)", Spans: [][3]int{}, X: []int{5}, Kinds: "t", Notes: []int{}, At: []int64{}},
		},
		Budget: [][2]int{{0, 0}, {4, 1}}, Prompts: []int{0}, Incidents: []drawnBand{{2, 5, "network", []string{"A", "B"}}}, Pauses: []drawnBand{}, Notes: []string{"down"}}
	if diff := cmp.Diff(want, drawnOf(&tl)); diff != "" {
		t.Errorf("drawn (-want +got):\n%s", diff)
	}
}
