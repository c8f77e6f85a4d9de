package analysis

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/internal/trace"
)

// madeChunk is a session of calls that go well. One in gap has no result.
func madeChunk(keys []string, gap int) chunk {
	c := chunk{session: &session{file: "f", name: "s"}, first: true, last: true}
	for call, key := range keys {
		tool := key
		if key[:4] == "Bash" {
			tool = "Bash"
		}
		e := event{kind: trace.Issue, call: call, tool: tool, key: key, step: int64(call + 1)}
		c.events = append(c.events, e)
		if call%gap != gap-1 {
			e.kind, e.outcome = trace.Result, expediter.Success()
			c.events = append(c.events, e)
		}
	}
	return c
}

var somewhere = []string{"Bash/git", "Bash/sed", "Read", "WebFetch/docs.example.org", "mcp__tracker__list", "mcp__tracker__get", "Task"}

// What holds for every outage, whatever the session and the seed.
func TestSplice(t *testing.T) {
	kinds := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		c := madeChunk(rapid.SliceOfN(rapid.SampledFrom(somewhere), rapid.IntRange(0, 60).Draw(t, "calls"), 120).Draw(t, "keys"), 11)
		before := cmpEvents(c.events)
		seed := rapid.Uint64().Draw(t, "seed")
		got, ok := splice(c, seed, &signatures{})
		again, _ := splice(c, seed, &signatures{})
		if diff := cmp.Diff(cmpEvents(got.events), cmpEvents(again.events)); diff != "" {
			t.Fatalf("one seed, two outages:\n%s", diff)
		}
		if diff := cmp.Diff(before, cmpEvents(c.events)); diff != "" {
			t.Fatalf("the recording was changed:\n%s", diff)
		}
		if !ok {
			return
		}
		kinds[got.outage.kind]++
		checkOutage(t, c, got)
	})
	for _, kind := range []string{OneTool, CommonCause, Flapping} {
		if kinds[kind] == 0 {
			t.Errorf("no outage of kind %s in %v", kind, kinds)
		}
	}
}

func checkOutage(t *rapid.T, c, got chunk) {
	hit := map[string]int{}
	last, requests := 0, 0
	for i, e := range got.events {
		if e.kind != trace.Issue || !e.doomed {
			continue
		}
		hit[e.key]++
		last = i
		requests++
	}
	if requests < 2 || requests > maxOutage || last+1 != got.outage.end {
		t.Fatalf("%d doomed requests, the last at %d, end %d; want 2 to %d and the end after the last", requests, last, got.outage.end, maxOutage)
	}
	for key := range hit {
		if !hits(got.outage, key) {
			t.Fatalf("%s is doomed and no target of %v", key, got.outage.hits)
		}
	}
	if single := len(got.outage.hits) == 1; single == (got.outage.kind == CommonCause) {
		t.Fatalf("a %s of %d tools", got.outage.kind, len(got.outage.hits))
	}
	for i, e := range got.events {
		was := c.events[i]
		if e.kind == trace.Result && e.doomed && e.outcome.Signature == "" {
			t.Fatalf("doomed result %d has no signature: %+v", i, e)
		}
		if !e.doomed && !cmp.Equal(fmt.Sprint(was), fmt.Sprint(e)) {
			t.Fatalf("event %d is not of the outage and was changed", i)
		}
	}
}

func hits(o *outage, key string) bool {
	for _, h := range o.hits {
		if h.key == key {
			return true
		}
	}
	return false
}

func cmpEvents(events []event) (lines []string) {
	for _, e := range events {
		lines = append(lines, fmt.Sprint(e))
	}
	return lines
}

// A watch counts what could be known, and the way back.
func TestWatch(t *testing.T) {
	keys := make([]string, 30)
	for i := range keys {
		keys[i] = "Read"
	}
	c := madeChunk(keys, len(keys)+1)
	hit := requestsOf(c.events).of["Read"][2:12] // ten requests that fail
	o := &outage{kind: OneTool, hits: []target{{"Read", "Read"}}, end: hit[9] + 1}
	c.outage = o
	for _, p := range []struct {
		policy Policy
		want   Avoidance
	}{
		{Baselines()[0], Avoidance{Doomed: 10, After: 7, Made: 7, Recovered: 1, WithinOne: 1}},
		// FFF, SKIP SKIP PROBE, SKIP SKIP PROBE, and PAUSE: the budget of 5 is
		// spent. Then SKIP SKIP PROBE, in a new cycle.
		{Baselines()[2], Avoidance{Doomed: 10, After: 7, Made: 2, MadeProbes: 2, Avoided: 5, AvoidedPct: 5. / 7, Recovered: 1, WithinOne: 1, MaxWait: 2}},
		{Baselines()[3], Avoidance{Doomed: 10, After: 7, Made: 1, MadeProbes: 1, Avoided: 6, AvoidedPct: 6. / 7, Recovered: 1, WithinOne: 1, MaxWait: 1}},
	} {
		t.Run(p.policy.Name, func(t *testing.T) {
			s, err := newSpliced(p.policy)
			if err != nil {
				t.Fatal(err)
			}
			spliced := c
			spliced.events = o.strike(c.events, hit, newFaces(o, &signatures{}, testRand()))
			s.lay(spliced)
			if diff := cmp.Diff(p.want, s.row().Avoidance); diff != "" {
				t.Errorf("avoidance (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(map[string]Avoidance{OneTool: p.want}, s.row().ByKind); diff != "" {
				t.Errorf("by kind (-want +got):\n%s", diff)
			}
		})
	}
}
