package report

import (
	"strings"
	"testing"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/cascade/redact"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
	"github.com/expediter-go/expediter/scope"
)

func TestGridAlignsSection12(t *testing.T) {
	names := []string{"Grep", "検索ツール", "cafe\u0301", "🔧", strings.Repeat("long", 10), "ที่", "검색"}
	rows := [][]string{{"Tool", "State"}}
	for _, n := range names {
		rows = append(rows, []string{n, "CLOSED"})
	}
	lines := strings.Split(strings.TrimSuffix(grid(rows, []int{10, 6}), "\n"), "\n")
	for _, l := range lines {
		if redact.Width(l) != redact.Width(lines[0]) {
			t.Errorf("a line of %d columns among lines of %d: %s", redact.Width(l), redact.Width(lines[0]), l)
		}
	}
	if want := len(names) + 4; len(lines) != want {
		t.Errorf("lines: got %d, want %d", len(lines), want)
	}
}

func TestAdviceCoversEveryCategory(t *testing.T) {
	for _, c := range cascade.Categories() {
		a := advice[c.String()]
		if a.word == "" || !strings.Contains(a.do, "*") {
			t.Errorf("%s has no words", c)
		}
		if (a.kind == "") != (c == cascade.Unknown) {
			t.Errorf("%s: a kind is for every category but unknown, got %q", c, a.kind)
		}
	}
	if len(advice) != len(cascade.Categories()) {
		t.Errorf("advice for %d categories, there are %d", len(advice), len(cascade.Categories()))
	}
}

// Unknown says unknown: section 12.
func TestRecommendSection12(t *testing.T) {
	tests := []struct {
		categories string
		want       string
	}{
		{"network", "Check network connectivity for A"},
		{"permission", "Check the permissions of A"},
		{"permission tool_missing timeout", "Investigate A failures — likely environment issue"},
		{"network timeout upstream", "Investigate A failures — likely service or network issue"},
		{"network filesystem", "Investigate A failures — several causes: network/filesystem"},
		{"unknown", "Investigate A failures — cause unknown"},
		{"network unknown", "Investigate A failures — cause unknown"},
		{"", "Investigate A failures — cause unknown"},
	}
	for _, tt := range tests {
		if got := recommend([]string{"A"}, strings.Fields(tt.categories)); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.categories, got, tt.want)
		}
	}
}

func TestSystemicLineSection12(t *testing.T) {
	tests := []struct{ cause, pattern, want string }{
		{"network", "connection refused", "Multiple tools failing with connection refused — likely network issue"},
		{"filesystem", "no space left on device", "Multiple tools failing with no space left on device — likely filesystem issue"},
		{"permission", "permission denied", "Multiple tools failing with permission denied — likely permissions issue"},
		{"auth", "", "Multiple tools failing with auth errors — likely credentials issue"},
		{"signature", "E42 <n>", "Multiple tools failing with E42 <n> — likely common issue, cause unknown"},
		{"signature", "", "Multiple tools failing with the same error — likely common issue, cause unknown"},
		{"mixed", "x", "Multiple tools failing with different errors at once — likely common issue, cause unknown"},
		{"unknown", "x", "Multiple tools failing with x — likely common issue, cause unknown"},
	}
	for _, tt := range tests {
		if got := systemicLine(tt.cause, tt.pattern); got != tt.want {
			t.Errorf("%s, %q:\n got %s\nwant %s", tt.cause, tt.pattern, got, tt.want)
		}
	}
}

func TestPolicyWords(t *testing.T) {
	d := breaker.Defaults()
	with := func(change func(*breaker.Policy)) breaker.Policy {
		p := d
		change(&p)
		return p
	}
	tests := []struct {
		name      string
		give      breaker.Policy
		threshold string
		pacing    string
	}{
		{"defaults", d, "3 consecutive failures", "probe on the 3rd request after opening, or after 30s"},
		{"interactive", expediter.Interactive().Policy, "3 consecutive failures; parallel calls that fail alike are one",
			"probe on the 3rd request after opening, or after 30s, not before 1s; doubles after a failed probe, up to 20 requests"},
		{"rate and slow calls", with(func(p *breaker.Policy) { p.Trip.Policy, p.SlowCallMS = breaker.Rate, 90_000 }),
			"more than 50% failures in the last 20 outcomes, from 10 on; a call slower than 1m30s is one", "probe on the 3rd request after opening, or after 30s"},
		{"steps", with(func(p *breaker.Policy) { p.Probe.Unit, p.Probe.Every = breaker.Steps, 1 }), "3 consecutive failures", "probe 1 step after opening"},
		{"time", with(func(p *breaker.Policy) { p.Probe.Unit, p.Probe.Every, p.HalfOpenSuccesses = breaker.Time, 3_600_000, 2 }),
			"3 consecutive failures", "probe 1h after opening; closes after 2 good probes"},
		{"one", with(func(p *breaker.Policy) { p.FailureThreshold, p.Probe.Every, p.Probe.AfterMS = 1, 22, breaker.Off }),
			"1 consecutive failure", "probe on the 22nd request after opening"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := threshold(tt.give); got != tt.threshold {
				t.Errorf("threshold: got %q, want %q", got, tt.threshold)
			}
			if got := pacing(tt.give); got != tt.pacing {
				t.Errorf("pacing: got %q, want %q", got, tt.pacing)
			}
		})
	}
}

func TestOrdinal(t *testing.T) {
	want := map[int64]string{1: "1st", 2: "2nd", 3: "3rd", 4: "4th", 11: "11th", 12: "12th", 13: "13th", 21: "21st", 102: "102nd", 111: "111th"}
	for n, w := range want {
		if got := ordinal(n); got != w {
			t.Errorf("ordinal(%d): got %s, want %s", n, got, w)
		}
	}
}

func TestNextProbe(t *testing.T) {
	open := func(change func(*expediter.ToolStatus)) expediter.ToolStatus {
		t := expediter.ToolStatus{State: breaker.Open, Next: 3}
		change(&t)
		return t
	}
	tests := []struct {
		name   string
		paused expediter.Reason
		give   expediter.ToolStatus
		want   string
	}{
		{"attempts", expediter.NoReason, open(func(*expediter.ToolStatus) {}), "will probe on the 3rd request from now"},
		{"next attempt", expediter.NoReason, open(func(t *expediter.ToolStatus) { t.Next = 1 }), "will probe on the next request"},
		{"steps", expediter.NoReason, open(func(t *expediter.ToolStatus) { t.Unit, t.Next = breaker.Steps, 2 }), "will probe in 2 steps"},
		{"time", expediter.NoReason, open(func(t *expediter.ToolStatus) { t.Unit, t.Next = breaker.Time, 30_000 }), "will probe in 30s"},
		{"half-open", expediter.NoReason, open(func(t *expediter.ToolStatus) { t.State = breaker.HalfOpen }), "will probe on the next request"},
		{"probe in flight", expediter.NoReason, open(func(t *expediter.ToolStatus) { t.ProbeInFlight = true }), "its probe is in flight"},
		{"budget exhausted", expediter.Budget, open(func(*expediter.ToolStatus) {}), "will probe on next cycle"},
		{"systemic", expediter.Systemic, open(func(*expediter.ToolStatus) {}), "will probe once recovery is confirmed"},
		{"forced", expediter.Systemic, open(func(t *expediter.ToolStatus) { t.Forced = true }), "an operator must reset it"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := nextProbe(&expediter.Status{Paused: tt.paused}, &tt.give); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestHealth(t *testing.T) {
	tests := []struct {
		name string
		give expediter.ToolStatus
		want string
	}{
		{"healthy", expediter.ToolStatus{State: breaker.Closed}, "healthy"},
		{"one failure", expediter.ToolStatus{State: breaker.Closed, Consecutive: 1, LastFailure: &expediter.Moment{Text: "a\nb"}}, "1 failure — a b"},
		{"failure without text", expediter.ToolStatus{State: breaker.Closed, Consecutive: 2}, "2 consecutive failures"},
		{"open, same text", expediter.ToolStatus{Run: 2, RunFailures: []expediter.Moment{{Category: cascade.Network, Text: "a"}, {Category: cascade.Network, Text: "a"}}}, "2 consecutive failures — a"},
		{"open, categories", expediter.ToolStatus{Run: 2, RunFailures: []expediter.Moment{{Category: cascade.Network, Text: "a"}, {Category: cascade.Auth, Text: "c"}}, Trip: cascade.Failure{Category: cascade.Auth}}, "2 consecutive failures — network/auth"},
		{"open, unknown", expediter.ToolStatus{Run: 2, RunFailures: []expediter.Moment{{Category: cascade.Unknown, Text: "b"}, {Category: cascade.Auth, Text: "c"}}, Trip: cascade.Failure{Category: cascade.Auth}}, "2 consecutive failures — unknown/auth"},
		{"open, no texts", expediter.ToolStatus{Run: 3, Trip: cascade.Failure{Category: cascade.Timeout}}, "3 consecutive failures — timeout"},
		{"open by an outage", expediter.ToolStatus{Trip: cascade.Failure{Category: cascade.Network}}, "opened with others — network"},
		{"forced", expediter.ToolStatus{Forced: true, Reason: "freeze"}, "opened by an operator — freeze"},
		{"disabled", expediter.ToolStatus{Disabled: true}, "breaker disabled"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.give.Tool = "T"
			if got := health(&tt.give); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// The engine folds what repeats in a row, the report what repeats at all.
func TestRoutesCountEveryAdvice(t *testing.T) {
	ask := &capability.Route{Kind: capability.UseFallback, Label: capability.Fallback, Ask: "ask"}
	other := capability.Reduced()
	list := routesOf([]expediter.RouteTaken{{Tool: "A", Route: ask, Times: 2}, {Tool: "B", Route: other, Times: 1}, {Tool: "A", Route: ask, Times: 3}})
	if len(list) != 2 || list[0].Times != 1 || list[1].Times != 5 {
		t.Errorf("got %+v, want B once and A 5 times", list)
	}
}

// A sub-task that failed is neither achievable nor to be completed now.
func TestScopeReductionOfAFailedSubtask(t *testing.T) {
	var b strings.Builder
	s := scope.Result{Items: []scope.Item{
		{Number: 1, ID: "a", Title: "Read", Verdict: scope.Done}, {Number: 2, ID: "b", Title: "Test", Verdict: scope.Failed}}}
	if err := ScopeReduction(&b, s, nil); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"[ ] 2. Test", "failed — not tried again", "Reduced scope: 1 sub-task achievable", "Failed: 1 sub-task", "Nothing more is achievable now."} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in:\n%s", want, b.String())
		}
	}
}
