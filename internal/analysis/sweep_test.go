package analysis

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/capability/document"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/internal/task"
)

func testRand() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

// Every policy of the grid is one that a map file can hold, and reads back as
// itself.
func TestGridLoadsAgain(t *testing.T) {
	all := grid()
	if len(all) < 150 || len(all) > 400 {
		t.Errorf("%d policies, want a few hundred", len(all))
	}
	for _, p := range all {
		data := []byte("capability_map: []\n" + policyYAML(p))
		root, err := document.Parse("policy.yaml", data)
		if err != nil {
			t.Fatalf("%s: %v\n%s", p.Name, err, data)
		}
		file, err := capability.Read("policy.yaml", data)
		if err != nil {
			t.Fatalf("%s: %v\n%s", p.Name, err, data)
		}
		named, own, problems := task.ReadPolicy(file.Expediter, root.Key("capability_map"), file.Map)
		if err := problems.Err(); err != nil {
			t.Fatalf("%s: %v\n%s", p.Name, err, data)
		}
		base, err := expediter.PolicyNamed(named)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(p.Config.Policy, own.Over(base)); diff != "" {
			t.Errorf("%s, read back (-want +got):\n%s\n%s", p.Name, diff, data)
		}
	}
}

func TestFrontier(t *testing.T) {
	for _, c := range []struct {
		name string
		o, p Point
		want bool
	}{
		{"saves more, loses the same", Point{Saved: 2, Lost: 1}, Point{Saved: 1, Lost: 1}, true},
		{"saves more, loses more", Point{Saved: 2, Lost: 2}, Point{Saved: 1, Lost: 1}, false},
		{"saves the same, loses less", Point{Saved: 1}, Point{Saved: 1, Lost: 1}, true},
		{"equal, pauses less", Point{Saved: 1, Paused: 1}, Point{Saved: 1, Paused: 2}, true},
		{"saves less, pauses less", Point{Saved: 1}, Point{Saved: 2, Paused: 9}, false},
		{"equal but for outages", Point{Avoided: 2}, Point{Avoided: 1}, true},
		{"equal", Point{Saved: 1}, Point{Saved: 1}, false},
	} {
		if got := c.o.beats(&c.p); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

// laidPoint is a point of a sweep with given figures.
func laidPoint(p Policy, plain, outages Counts, a Avoidance) *point {
	s := &spliced{layer: &layer{policy: p, total: outages}, figures: map[string]*Avoidance{OneTool: &a}}
	return &point{policy: p, plain: &layer{policy: p, total: plain}, spliced: s}
}

func TestSuggest(t *testing.T) {
	good := Counts{Sessions: 100, Calls: 20_000, Saved: 5}
	lossy, pausing := good, good
	lossy.Lost, pausing.SessionsPaused = 5, 3
	points := []*point{
		laidPoint(Policy{Name: "plain"}, good, Counts{}, Avoidance{After: 100, Made: 50}),
		laidPoint(Policy{Name: "slow to come back"}, good, Counts{Lost: 60}, Avoidance{After: 100, Made: 10}),
		laidPoint(Policy{Name: "best"}, good, Counts{Lost: 10}, Avoidance{After: 100, Made: 20, MadeProbes: 20}),
		laidPoint(Policy{Name: "loses"}, lossy, Counts{}, Avoidance{After: 100}),
		laidPoint(Policy{Name: "pauses"}, pausing, Counts{}, Avoidance{After: 100}),
		laidPoint(Policy{Name: "not of a file", Keys: ToolKeys}, good, Counts{}, Avoidance{After: 100}),
	}
	got := suggest(frontier(points), points)
	want := []string{
		"Of 6 policies tried, 3 lose at most 1 call in 5000, save nine for each one lost, pause at most 2 % of the sessions, and can be set in a file; of those, this one keeps the most failing calls from being made, less the good ones that it takes away.",
		"In 20000 recorded calls of 100 sessions it saves 5 failing calls and loses 0 good ones.",
		"It pauses 0 sessions (0 calls).",
		"With outages spliced in, it avoids 80 of 100 doomed requests after the threshold (20 of the others are probes) and loses 10 good ones.",
	}
	if got == nil || got.Policy != "best" || got.Avoided != 80 {
		t.Fatalf("got %+v, want best", got)
	}
	if diff := cmp.Diff(want, got.Why); diff != "" {
		t.Errorf("why (-want +got):\n%s", diff)
	}
	if got := suggest(frontier(points[3:]), points[3:]); got != nil {
		t.Errorf("got %s, want none: each costs too much", got.Policy)
	}
}

// Where nothing is suggested a note says why.
func TestNotesWithoutASuggestion(t *testing.T) {
	said := func(r *Result) bool {
		a := &analysis{Options: Options{Suggest: true}}
		return slices.ContainsFunc(a.notes(r), func(n string) bool {
			return strings.Contains(n, "No policy is suggested") && strings.Contains(n, "saves fewer than nine for each one lost")
		})
	}
	if !said(&Result{}) {
		t.Error("no note says why there is no suggestion")
	}
	if said(&Result{Suggested: &Suggestion{}}) {
		t.Error("a note says that there is no suggestion beside one")
	}
}
