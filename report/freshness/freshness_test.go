package freshness_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/report/freshness"
	"pgregory.net/rapid"
)

var (
	began  = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	during = began.Add(5 * time.Minute)
	before = began.Add(-48 * time.Hour)
)

// The four labels, as the seed and SPEC section 11 write them.
func TestLabelsSection11(t *testing.T) {
	tests := []struct {
		name string
		got  freshness.Label
		want string
	}{
		{"stale", freshness.Stale(before), "[STALE DATA — retrieved at 2026-02-27T09:00:00Z, may not reflect current state]"},
		{"cached", freshness.Cached("Grep", "filesystem"), "[CACHED RESULT — Grep returned identical results to previous call; filesystem may have changed since]"},
		{"unverified", freshness.Unverified("WebSearch", before), "[UNVERIFIED — WebSearch result from 2026-02-27; current status unknown]"},
		{"unknown", freshness.Unknown, "[FRESHNESS UNKNOWN — no baseline for comparison]"},
		{"no subject", freshness.Cached("Grep", ""), "[CACHED RESULT — Grep returned identical results to previous call; its source may have changed since]"},
		{"another time zone", freshness.Stale(before.In(time.FixedZone("", 9*3600))), "[STALE DATA — retrieved at 2026-02-27T09:00:00Z, may not reflect current state]"},
		{"a name that forges a label", freshness.Cached("a]\n[b\x1b[31m", ""), "[CACHED RESULT — ab31m returned identical results to previous call; its source may have changed since]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if string(tt.got) != tt.want {
				t.Errorf("label:\n got %s\nwant %s", tt.got, tt.want)
			}
		})
	}
	long := freshness.Cached(strings.Repeat("x", 5000), strings.Repeat("y", 5000))
	if len(long) > 400 {
		t.Errorf("a long name makes a label of %d bytes", len(long))
	}
}

// Each case is one call after another; want is the label of the last one.
func TestValidation_StaleDataIsLabelled(t *testing.T) {
	result := func(output string) freshness.Result {
		return freshness.Result{Tool: "Read", Args: "go.mod", Subject: "filesystem", Output: []byte(output)}
	}
	with := func(output string, change func(*freshness.Result)) freshness.Result {
		r := result(output)
		change(&r)
		return r
	}
	declared := func(f capability.Freshness) func(*freshness.Result) {
		return func(r *freshness.Result) { r.Declared = f }
	}
	cached := freshness.Cached("Read", "filesystem")
	tests := []struct {
		name  string
		calls []freshness.Result
		want  freshness.Label
	}{
		{"first", []freshness.Result{result("a")}, ""},
		{"identical", []freshness.Result{result("a"), result("a")}, cached},
		{"identical and empty", []freshness.Result{result(""), result("")}, cached},
		{"different", []freshness.Result{result("a"), result("b")}, ""},
		{"back to an older one", []freshness.Result{result("a"), result("b"), result("a")}, ""},
		{"other arguments", []freshness.Result{result("a"), with("a", func(r *freshness.Result) { r.Args = "go.sum" })}, ""},
		{"another tool", []freshness.Result{result("a"), with("a", func(r *freshness.Result) { r.Tool = "Cat" })}, ""},
		{"where tool and arguments join", []freshness.Result{result("a"), with("a", func(r *freshness.Result) { r.Tool, r.Args = "Readg", "o.mod" })}, ""},
		{"identical and live", []freshness.Result{result("a"), with("a", declared(capability.Live))}, ""},
		{"declared to cache", []freshness.Result{with("a", declared(capability.Caches))}, freshness.Unverified("Read", during)},
		{"declared to cache, with a time", []freshness.Result{with("a", func(r *freshness.Result) {
			r.Declared, r.DataAt = capability.Caches, began.Add(24*time.Hour)
		})}, freshness.Unverified("Read", began.Add(24*time.Hour))},
		{"declared to cache, identical", []freshness.Result{result("a"), with("a", declared(capability.Caches))}, cached},
		{"declared unknown", []freshness.Result{with("a", declared(capability.FreshnessUnknown))}, freshness.Unknown},
		{"declared unknown, with a baseline", []freshness.Result{result("b"), with("a", declared(capability.FreshnessUnknown))}, ""},
		{"declared unknown, with a time", []freshness.Result{with("a", func(r *freshness.Result) {
			r.Declared, r.DataAt = capability.FreshnessUnknown, began
		})}, ""},
		{"older than the task", []freshness.Result{with("a", func(r *freshness.Result) { r.DataAt = before })}, freshness.Stale(before)},
		{"older than the task though live", []freshness.Result{with("a", func(r *freshness.Result) {
			r.DataAt, r.Declared = before, capability.Live
		})}, freshness.Stale(before)},
		{"older by an instant", []freshness.Result{with("a", func(r *freshness.Result) { r.DataAt = began.Add(-1) })}, freshness.Stale(began.Add(-1))},
		{"of the task's first instant", []freshness.Result{with("a", func(r *freshness.Result) { r.DataAt = began })}, ""},
		{"last good", []freshness.Result{with("a", func(r *freshness.Result) { r.LastGood, r.DataAt = true, began.Add(time.Minute) })}, freshness.Stale(began.Add(time.Minute))},
		{"after a last good one", []freshness.Result{with("a", func(r *freshness.Result) { r.LastGood, r.DataAt = true, began }), result("a")}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tr := freshness.NewTracker(began, 0)
			var got freshness.Label
			for _, call := range tt.calls {
				got = tr.Observe(call, during)
			}
			if got != tt.want {
				t.Errorf("label:\n got %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestPitfall_StaleDataTreatedAsCurrent(t *testing.T) {
	tr := freshness.NewTracker(began, 0)
	key := freshness.KeyOf("WebSearch", "latest release")
	if _, ok := tr.Contradict(key, "the site says 1.5"); ok {
		t.Error("a result that nobody has seen was contradicted")
	}
	release := func(v string) freshness.Result {
		return freshness.Result{Tool: "WebSearch", Args: "latest release", Output: []byte(v), Declared: capability.Live}
	}
	if got := tr.Observe(release("1.4"), during); got != "" {
		t.Errorf("fresh result: got %s, want no label", got)
	}
	if _, ok := tr.Contradict(key, ""); ok {
		t.Error("an empty observation contradicts nothing, and was taken")
	}
	doubt := freshness.Unverified("WebSearch", during)
	if got, ok := tr.Contradict(key, "the site says\x1b 1.5"); got != doubt || !ok {
		t.Errorf("contradicted: got %s %v, want %s", got, ok, doubt)
	}
	if got, want := tr.Contradiction(key), "the site says 1.5"; got != want {
		t.Errorf("contradiction: got %q, want %q", got, want)
	}
	for range 2 {
		if got := tr.Observe(release("1.4"), during.Add(24*time.Hour)); got != doubt {
			t.Errorf("the same result again: got %s, want %s", got, doubt)
		}
	}
	if got := tr.Observe(release("1.5"), during.Add(25*time.Hour)); got != "" {
		t.Errorf("a different result: got %s, want no label", got)
	}
	if got := tr.Contradiction(key); got != "" {
		t.Errorf("contradiction of a new result: got %q, want none", got)
	}
}

// The tracker against a list: the least recently seen result is forgotten
// first, so that a repeat of it looks new.
func TestTrackerForgets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(1, 4).Draw(t, "limit")
		tr := freshness.NewTracker(began, limit)
		type entry struct{ args, output string }
		var model []entry // last: seen last
		for range rapid.IntRange(1, 60).Draw(t, "calls") {
			args := rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f"}).Draw(t, "args")
			output := rapid.SampledFrom([]string{"x", "y"}).Draw(t, "output")
			want := freshness.Label("")
			for i, e := range model {
				if e.args == args {
					if e.output == output {
						want = freshness.Cached("T", "")
					}
					model = append(model[:i], model[i+1:]...)
					break
				}
			}
			if model = append(model, entry{args, output}); len(model) > limit {
				model = model[1:]
			}
			got := tr.Observe(freshness.Result{Tool: "T", Args: args, Output: []byte(output)}, during)
			if got != want {
				t.Fatalf("%s=%s: got %q, want %q", args, output, got, want)
			}
		}
	})
}

func TestTrackerConcurrent(t *testing.T) {
	tr := freshness.NewTracker(began, 8)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 200 {
				args := fmt.Sprint((g + i) % 12)
				tr.Observe(freshness.Result{Tool: "T", Args: args, Output: []byte{byte(i)}}, during)
				tr.Contradict(freshness.KeyOf("T", args), "otherwise")
				tr.Contradiction(freshness.KeyOf("T", args))
			}
		})
	}
	wg.Wait()
	tr.Observe(freshness.Result{Tool: "T", Args: "last"}, during)
	if got, want := tr.Observe(freshness.Result{Tool: "T", Args: "last"}, during), freshness.Cached("T", ""); got != want {
		t.Errorf("after concurrent use: got %q, want %q", got, want)
	}
}

func ExampleTracker() {
	began := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	tr := freshness.NewTracker(began, 0)
	grep := freshness.Result{Tool: "Grep", Args: "API_KEY", Subject: "filesystem", Output: []byte("config.go:12")}
	fmt.Printf("%q\n", tr.Observe(grep, began.Add(time.Minute)))
	fmt.Println(tr.Observe(grep, began.Add(2*time.Minute)))
	// Output:
	// ""
	// [CACHED RESULT — Grep returned identical results to previous call; filesystem may have changed since]
}
