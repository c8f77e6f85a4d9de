package analysis_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/cascade/classify"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/internal/analysis"
	"github.com/expediter-go/expediter/internal/trace"
)

// recording makes events by hand.
type recording struct {
	file, session string
	calls         int
	events        []trace.Event
}

func (r *recording) add(e trace.Event) *recording {
	e.File, e.Session, e.Format, e.Step = r.file, r.session, "made", int64(r.calls+1)
	r.events = append(r.events, e)
	return r
}

func (r *recording) prompt() *recording { return r.add(trace.Event{Kind: trace.Prompt}) }
func (r *recording) end() *recording    { return r.add(trace.Event{Kind: trace.End}) }

// calls asks for a tool once for each letter: F failure, S success, A answer,
// I ignored, . no result.
func (r *recording) call(key, letters string) *recording {
	tool, _, _ := strings.Cut(key, "/")
	for _, letter := range letters {
		e := trace.Event{Kind: trace.Issue, Call: r.calls, Tool: tool, Key: key}
		r.add(e)
		if letter != '.' {
			e.Kind, e.How, e.Verdict = trace.Result, trace.Flagged, verdict(letter)
			e.Duration, e.Tokens, e.Text = time.Second, 10, "what it said"
			r.add(e)
		}
		r.calls++
	}
	return r
}

// joined is recordings one after the other.
func joined(all ...*recording) (events []trace.Event) {
	for _, r := range all {
		events = append(events, r.events...)
	}
	return events
}

func verdict(letter rune) classify.Verdict {
	switch letter {
	case 'F':
		return classify.Verdict{Outcome: cascade.Failed, Category: cascade.Network, Class: "network", Signature: "connection refused"}
	case 'A':
		return classify.Verdict{Outcome: cascade.Succeeded, Class: "invalid_input", Signature: "no such file"}
	case 'I':
		return classify.Verdict{Outcome: cascade.Ignored, Class: "cancelled"}
	}
	return classify.Verdict{Outcome: cascade.Succeeded, Class: "ok"}
}

func TestRunCounts(t *testing.T) {
	r := &recording{file: "a.jsonl", session: "one"}
	r.prompt().call("Bash/curl", "FFFFASI.S").call("Read", "SAS").end()
	got := analyse(t, stream(r.events), analysis.Options{Policies: analysis.Baselines()[2:3]})
	want := analysis.Counts{
		Sessions: 1, Calls: 12, Failures: 4, Answered: 2, Ignored: 1, Openings: 1, Probes: 1, Precision: 0.5,
		// FFF opens; F and A are skipped, S is the probe that closes it.
		Skipped: 2, Saved: 1, Lost: 1, LostAnswers: 1, SavedMS: 1000, LostMS: 1000, SavedTokens: 10, LostTokens: 10,
	}
	if diff := cmp.Diff(want, got.Counts); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
	var names []string
	for _, p := range got.ByCategory {
		names = append(names, fmt.Sprintf("%s %d", p.Name, p.Calls))
	}
	if diff := cmp.Diff([]string{"network 4", "success 4", "answered 2", "ignored 1", "no result 1"}, names); diff != "" {
		t.Errorf("categories (-want +got):\n%s", diff)
	}
	if tool := got.ByTool[0]; tool.Name != "Bash/curl" || tool.Calls != 9 || tool.Openings != 1 || tool.Sessions != 1 || tool.Saved != 1 {
		t.Errorf("by tool: got %+v, want Bash/curl with 9 calls, 1 opening, 1 session, 1 saved", tool)
	}
	if len(got.Policies) != 0 || len(got.Notes) == 0 {
		t.Errorf("got %d rows of policies and %d notes, want none for one policy, and a note", len(got.Policies), len(got.Notes))
	}
}

// Filters and keys change what a policy hears of, not what is saved and lost.
func TestRunFilters(t *testing.T) {
	disk := verdict('F')
	disk.Category = cascade.Filesystem
	r := &recording{file: "a", session: "s"}
	r.prompt().call("Bash/go", "AA").call("Bash/git", "AFS").call("Read", "FF")
	r.add(trace.Event{Kind: trace.Issue, Call: 90, Tool: "Write", Key: "Write"}).
		add(trace.Event{Kind: trace.Result, Call: 90, Tool: "Write", Key: "Write", Verdict: disk})
	for _, c := range []struct {
		policy                     analysis.Policy
		openings, saved, lost, ans int
	}{
		{analysis.Policy{Name: "judged"}, 0, 0, 0, 0},
		{analysis.Policy{Name: "flagged, full keys", Filter: analysis.Flagged}, 0, 0, 0, 0},
		{analysis.Policy{Name: "flagged, by tool", Filter: analysis.Flagged, Keys: analysis.ToolKeys}, 1, 1, 1, 0},
		{analysis.Policy{Name: "nothing", Filter: analysis.Nothing, Keys: analysis.ToolKeys}, 0, 0, 0, 0},
		{analysis.Policy{Name: "at once", Config: threshold(1)}, 3, 1, 1, 0},
		{analysis.Policy{Name: "remote, at once", Config: threshold(1), Filter: analysis.Remote}, 2, 1, 1, 0},
	} {
		t.Run(c.policy.Name, func(t *testing.T) {
			got := analyse(t, stream(r.events), analysis.Options{Policies: []analysis.Policy{c.policy}})
			if got.Openings != c.openings || got.Saved != c.saved || got.Lost != c.lost || got.LostAnswers != c.ans {
				t.Errorf("got %d openings, %d saved, %d lost, %d answers, want %d, %d, %d, %d", got.Openings, got.Saved, got.Lost, got.LostAnswers, c.openings, c.saved, c.lost, c.ans)
			}
			if got.Failures != 4 || got.Answered != 3 {
				t.Errorf("got %d failures, %d answered, want 4 and 3 whatever the policy", got.Failures, got.Answered)
			}
		})
	}
}

// threshold opens after n failures, and sees no common causes.
func threshold(n int) expediter.Config {
	p := expediter.Policy{Budget: -1}
	p.FailureThreshold = n
	p.Cascade.MinTools = 50
	p.Cascade.WindowSteps = -1
	return expediter.Config{Policy: p}
}

// random is sessions of a few tools with runs of failures, interleaved.
func random(seed uint64, sessions, calls int) []trace.Event {
	rng := rand.New(rand.NewPCG(seed, 1))
	keys := []string{"Bash/git", "Bash/go", "Read", "WebFetch/docs.example.org", "mcp__tracker__list", "mcp__tracker__get"}
	all := make([]*recording, sessions)
	for i := range all {
		all[i] = &recording{file: fmt.Sprintf("dir/f%d.jsonl", i%3), session: fmt.Sprint(i)}
		for n := range calls {
			if n%17 == 0 {
				all[i].prompt()
			}
			letters := "S"
			if rng.IntN(12) == 0 {
				letters = []string{"FFFF", "FF", "A", "I", "FFFFFFS", "."}[rng.IntN(6)]
			}
			all[i].call(keys[rng.IntN(len(keys))], letters)
		}
		if i%2 == 0 {
			all[i].end()
		}
	}
	var events []trace.Event
	for left := sessions; left > 0; {
		i := rng.IntN(left)
		n := min(1+rng.IntN(9), len(all[i].events))
		events = append(events, all[i].events[:n]...)
		if all[i].events = all[i].events[n:]; len(all[i].events) == 0 {
			all[i], left = all[left-1], left-1
		}
	}
	return events
}

func TestRunIsDeterministic(t *testing.T) {
	events := random(3, 40, 60)
	o := analysis.Options{Policies: analysis.Baselines(), Splice: true, Seed: 7, Timelines: 5}
	want := analyse(t, stream(events), o)
	if want.Spliced.Outages < 20 || want.Saved != 0 || want.Policies[2].Saved == 0 {
		t.Fatalf("%d outages, %d saved; the recording is too tame", want.Spliced.Outages, want.Policies[2].Saved)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if diff := cmp.Diff(want, analyse(t, stream(events), o)); diff != "" {
		t.Errorf("on one core (-want +got):\n%s", diff)
	}
	o.Seed = 8
	if cmp.Equal(want.Spliced, analyse(t, stream(events), o).Spliced) {
		t.Error("another seed laid the same outages")
	}
}

// The parts of each table sum to the whole, and each policy sees all calls.
func TestPartsSumToTheWhole(t *testing.T) {
	got := analyse(t, stream(random(5, 30, 80)), analysis.Options{Policies: analysis.Baselines()})
	for _, row := range got.Policies {
		for table, parts := range map[string][]analysis.Part{"tool": row.ByTool, "category": row.ByCategory, "file": row.ByFile} {
			var sum analysis.Counts
			for _, p := range parts {
				sum.Calls += p.Calls
				sum.Failures += p.Failures
				sum.Answered += p.Answered
				sum.Skipped += p.Skipped
				sum.Saved += p.Saved
				sum.Lost += p.Lost
				sum.Paused += p.Paused
				sum.Probes += p.Probes
			}
			want := analysis.Counts{Calls: row.Calls, Failures: row.Failures, Answered: row.Answered, Skipped: row.Skipped,
				Saved: row.Saved, Lost: row.Lost, Paused: row.Paused, Probes: row.Probes}
			if diff := cmp.Diff(want, sum); diff != "" {
				t.Errorf("%s, by %s (-want +got):\n%s", row.Policy, table, diff)
			}
		}
		if row.Calls != got.Calls || row.Failures != got.Failures {
			t.Errorf("%s: %d calls, %d failures, want %d, %d", row.Policy, row.Calls, row.Failures, got.Calls, got.Failures)
		}
	}
}

// Tools beyond the bound of a table share a row, in which a session counts once.
func TestOthersCountSessionsOnce(t *testing.T) {
	var events []trace.Event
	for i := range 3 {
		r := &recording{file: "f", session: fmt.Sprint(i)}
		for tool := range 2500 {
			r.call(fmt.Sprintf("Tool%d", 2500*i+tool), "S")
		}
		events = append(events, r.end().events...)
	}
	got := analyse(t, stream(events), analysis.Options{Policies: analysis.Baselines()[:1]})
	if others := got.ByTool[0]; others.Name != analysis.Others || others.Calls != 5500 || others.Sessions != 3 {
		t.Errorf("got %+v, want 5500 calls of 3 sessions in %s", others, analysis.Others)
	}
}

// A session is the same whether it comes in one piece or is handed on in
// chunks, with and without an end of its own.
func TestLongSessions(t *testing.T) {
	r := &recording{file: "f", session: "long"}
	for range 3000 {
		r.call("Read", "SSSS").call("Bash/curl", "FFFFFS").call("Write", ".")
	}
	got := analyse(t, stream(r.events), analysis.Options{Policies: analysis.Baselines()[3:], Splice: true, Timelines: 1})
	w := newWhatIf(t, expediter.Interactive())
	want := layByHand(w, r.events)
	if got.Calls != want.Calls || got.Saved != want.Saved || got.Lost != want.Lost || got.Probes != want.Probes || got.Openings != want.Openings {
		t.Errorf("got %+v, want %+v", got.Counts, want)
	}
	if got.Sessions != 1 || got.Spliced.Outages != 1 || got.Spliced.Rows[0].Calls != 33000 {
		t.Errorf("got %d sessions, %d outages, %d calls of the spliced run, want 1, 1, 33000", got.Sessions, got.Spliced.Outages, got.Spliced.Rows[0].Calls)
	}
	if line := got.Timelines[0]; line.Calls != 33000 || line.Width > 60_000 || len(line.Lanes) != 3 {
		t.Errorf("timeline of %d calls, %d wide, %d lanes; want 33000 calls, cut, 3 lanes", line.Calls, line.Width, len(line.Lanes))
	}
}

func TestRunEndsEarly(t *testing.T) {
	events := random(1, 10, 20)
	boom := errors.New("boom")
	o := analysis.Options{Policies: analysis.Baselines()}
	broken := func(ctx context.Context, yield func(*trace.Event) error) error {
		_ = stream(events[:50])(ctx, yield)
		return boom
	}
	r, err := analysis.Run(t.Context(), broken, o)
	if !errors.Is(err, boom) || r == nil || r.Calls == 0 || !strings.Contains(strings.Join(r.Notes, "\n"), "ended early") {
		t.Errorf("got %+v, %v, want the stream's error, what was read, and a note", r, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	long := random(1, 10, 2000)
	r, err = analysis.Run(ctx, stream(long), o)
	if !errors.Is(err, context.Canceled) || r == nil || r.Calls == 0 || r.Calls != r.Policies[3].Calls {
		t.Errorf("got %+v, %v, want context.Canceled and what was read, the same for each policy", r, err)
	}
	if _, err := analysis.Run(t.Context(), stream(events), analysis.Options{}); err == nil {
		t.Error("an analysis without a policy was run")
	}
	bad := analysis.Policy{Name: "mine", Config: expediter.Config{Policy: expediter.Policy{Budget: -9}}}
	if _, err := analysis.Run(t.Context(), stream(events), analysis.Options{Policies: []analysis.Policy{bad}}); err == nil || !strings.Contains(err.Error(), `"mine"`) {
		t.Errorf("got %v, want an error that names the policy", err)
	}
}

func TestRunWithoutEvents(t *testing.T) {
	got := analyse(t, stream(nil), analysis.Options{Policies: analysis.Baselines(), Suggest: true, Timelines: 3})
	if got.Calls != 0 || got.Precision != 1 || len(got.Timelines) != 0 || got.Spliced.Outages != 0 {
		t.Errorf("got %+v, want nothing", got.Counts)
	}
}

func TestManyTools(t *testing.T) {
	r := &recording{file: "f", session: "s"}
	for i := range 3000 {
		r.call(fmt.Sprintf("tool%d", i), "S")
	}
	got := analyse(t, stream(r.events), analysis.Options{Policies: analysis.Baselines()[2:3], Timelines: 1})
	if n := len(got.ByTool); n != 2001 || got.ByTool[0].Name != analysis.Others || got.ByTool[0].Calls != 1000 {
		t.Errorf("got %d rows, the first %+v, want 2001 and 1000 calls of the others", n, got.ByTool[0])
	}
	if n := len(got.Timelines[0].Lanes); n != 300 {
		t.Errorf("got %d lanes, want 300", n)
	}
}
