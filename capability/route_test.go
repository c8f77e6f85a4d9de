package capability_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/expediter-go/expediter/capability"
)

// TestRouting is SPEC section 8.
func TestRouting(t *testing.T) {
	low, high := capability.Low, capability.High
	entry := capability.Entry{Tool: "Grep", Fallback: "ask", Alternatives: []capability.Alternative{
		{Tool: "Guess", Degradation: "Unknown — test before relying on this route"},
		{Tool: "Read", Method: "read", Degradation: "no broad search", Level: high},
		{Tool: "Bash", Method: "rg", Degradation: "loses formatting"},
		{Tool: "Ack", Degradation: "unknown, but declared low", Level: low, SameAuthority: true},
	}}
	without := func(change func(*capability.Entry)) capability.Entry {
		e := entry
		change(&e)
		return e
	}
	noFallback := without(func(e *capability.Entry) { e.Fallback = "" })
	gate := without(func(e *capability.Entry) { e.NoSubstitute = true })
	everything := []string{"Guess", "Read", "Bash", "Ack"}
	route := func(label capability.Label, tool string) capability.Route {
		return capability.Route{Kind: capability.UseAlternative, Label: label, Tool: tool}
	}
	ask := capability.Route{Kind: capability.UseFallback, Label: capability.Fallback, Ask: "ask"}
	reduce := *capability.Reduced()
	tests := []struct {
		name           string
		entry          capability.Entry
		viable         []string
		denied, nobody bool
		want           capability.Route
	}{
		{"the lowest level first, then as declared", entry, everything, false, false, route(capability.Acceptable, "Bash")},
		{"the next of the same level", entry, []string{"Guess", "Read", "Ack"}, false, false, route(capability.Acceptable, "Ack")},
		{"high before unknown", entry, []string{"Guess", "Read"}, false, false, route(capability.Partial, "Read")},
		{"unknown before the user", entry, []string{"Guess"}, false, false, route(capability.Unverified, "Guess")},
		{"the user", entry, nil, false, false, ask},
		{"nobody there", entry, nil, false, true, reduce},
		{"nobody there, but a tool", entry, []string{"Guess"}, false, true, route(capability.Unverified, "Guess")},
		{"no fallback", noFallback, nil, false, false, reduce},
		{"denied: the same authority only", entry, everything, true, false, route(capability.Acceptable, "Ack")},
		{"denied: no other authority", entry, []string{"Bash", "Read"}, true, false, ask},
		{"denied and nobody there", entry, []string{"Bash", "Read"}, true, true, reduce},
		{"no substitute", gate, everything, false, false, reduce},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := capability.NewPlan(tt.entry)
			got := *p.Choose(func(i int) bool { return slices.Contains(tt.viable, p.Alternatives[i].Tool) }, tt.denied, !tt.nobody)
			got.Method, got.Degradation = "", ""
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestRouteCarriesWhatTheEntryDeclares(t *testing.T) {
	p := capability.NewPlan(seed[0])
	got := *p.Choose(func(int) bool { return true }, false, true)
	want := capability.Route{Kind: capability.UseAlternative, Label: capability.Acceptable, Tool: "Bash", Method: "rg or grep command", Degradation: "loses Grep's built-in output formatting"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestRouteOfAnUndeclaredTool(t *testing.T) {
	var p *capability.Plan
	if got := p.Choose(func(int) bool { return true }, false, true); got.Kind != capability.Reduce || p.NoSubstitute() {
		t.Errorf("got %+v", got)
	}
}

func TestEffectiveLevel(t *testing.T) {
	tests := []struct {
		degradation string
		level, want capability.Level
	}{
		{"", capability.LevelUndeclared, capability.Low},
		{"loses x", capability.LevelUndeclared, capability.Low},
		{"unknown — test before relying on this route", capability.LevelUndeclared, capability.Unknown},
		{"  Unknown", capability.LevelUndeclared, capability.Unknown},
		{"has unknown cost", capability.LevelUndeclared, capability.Low},
		{"unknown", capability.High, capability.High},
		{"loses x", capability.Unknown, capability.Unknown},
	}
	for _, tt := range tests {
		a := capability.Alternative{Tool: "a", Degradation: tt.degradation, Level: tt.level}
		if got := a.Effective(); got != tt.want {
			t.Errorf("%q with level %q: got %s, want %s", tt.degradation, tt.level, got, tt.want)
		}
	}
}

// Whatever the map and the state of the tools: a route is a declared one, the
// first by level that is allowed, and nothing stands in for a gate.
func TestRoutingProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := capability.Entry{Tool: "T", NoSubstitute: rapid.Bool().Draw(t, "none"), Fallback: rapid.SampledFrom([]string{"", "ask"}).Draw(t, "fallback")}
		viable := map[string]bool{}
		for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"A", "B", "C", "D", "E"}), 0, 5, rapid.ID[string]).Draw(t, "tools") {
			e.Alternatives = append(e.Alternatives, capability.Alternative{Tool: name,
				Level:         capability.Level(rapid.IntRange(0, 3).Draw(t, "level")),
				SameAuthority: rapid.Bool().Draw(t, "same")})
			viable[name] = rapid.Bool().Draw(t, "viable")
		}
		denied, user := rapid.Bool().Draw(t, "denied"), rapid.Bool().Draw(t, "user")
		p := capability.NewPlan(e)
		got := p.Choose(func(i int) bool { return viable[p.Alternatives[i].Tool] }, denied, user)
		want := capability.Reduce
		best := capability.Level(9)
		name := ""
		for _, a := range e.Alternatives {
			if viable[a.Tool] && (!denied || a.SameAuthority) && a.Effective() < best {
				best, name, want = a.Effective(), a.Tool, capability.UseAlternative
			}
		}
		if want == capability.Reduce && e.Fallback != "" && user {
			want = capability.UseFallback
		}
		if e.NoSubstitute {
			want, name = capability.Reduce, ""
		}
		if got.Kind != want || got.Tool != name {
			t.Fatalf("got %s %q, want %s %q", got.Kind, got.Tool, want, name)
		}
	})
}

func TestWordsRoundTrip(t *testing.T) {
	type words struct {
		L capability.Level
		S capability.Score
		F capability.Freshness
		E capability.SideEffects
		K capability.RouteKind
		B capability.Label
	}
	for i := range 5 {
		n := uint8(i)
		in := words{capability.Level(min(n, 3)), capability.Score(min(n, 2)), capability.Freshness(min(n, 3)), capability.SideEffects(min(n, 3)), capability.RouteKind(min(n, 2)), capability.Label(n)}
		data, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		var out words
		if err := json.Unmarshal(data, &out); err != nil || out != in {
			t.Errorf("%s: got %+v, %v, want %+v", data, out, err, in)
		}
	}
	for _, bad := range []string{`{"L":"x"}`, `{"S":""}`, `{"F":"x"}`, `{"E":"x"}`, `{"K":"x"}`, `{"B":"x"}`} {
		if err := json.Unmarshal([]byte(bad), &words{}); err == nil {
			t.Errorf("%s is accepted", bad)
		}
	}
	for _, s := range []string{capability.Level(9).String(), capability.Score(9).String(), capability.Freshness(9).String(), capability.SideEffects(9).String(), capability.RouteKind(9).String(), capability.Label(9).String()} {
		if s == "" {
			t.Error("a bad value prints nothing")
		}
	}
}
