package main

import (
	"context"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/expediter-go/expediter/expediter/executor"
)

var update = flag.Bool("update", false, "write the golden files anew")

// sleeper answers for the peers of a plan by letting the time pass.
func sleeper(p plan, began time.Time) peers {
	return func(ctx context.Context, r request) error {
		if !sleep(ctx, p.serves(r, time.Since(began))) {
			return ctx.Err()
		}
		return nil
	}
}

// Every way is run twice: in virtual time, as the program does, and with the
// libraries as they are, goroutines, timers and contexts, under the fake clock
// of a bubble. Every visit of every caller must be the same to the nanosecond.
func TestVirtualTimeIsTheRealThing(t *testing.T) {
	restless := defaults // many trials, some of them good, and trials that the outage's end overtakes
	restless.cooldown, restless.begin, restless.end, restless.length, restless.seed = 1500*time.Millisecond, 5*time.Second, 35*time.Second, 50*time.Second, 2
	crowded := defaults // full queues and bulkheads even when all is well
	crowded.rate, crowded.limit, crowded.begin, crowded.end, crowded.length, crowded.seed = 390, 4, 5*time.Second, 25*time.Second, 40*time.Second, 3
	epidemic := defaults // several peers at once
	epidemic.ill, epidemic.begin, epidemic.end, epidemic.length, epidemic.seed = 3, 5*time.Second, 65*time.Second, 110*time.Second, 4
	for name, p := range map[string]plan{"epidemic": epidemic, "defaults": defaults, "restless": restless, "crowded": crowded} {
		for _, w := range ways {
			t.Run(name+" "+w.name, func(t *testing.T) { testSame(t, w, p) })
		}
	}
}

func testSame(t *testing.T, w way, p plan) {
	virtual, err := w.simulate(p)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		real, err := w.live(t.Context(), p, sleeper(w.plan(p), began), began)
		if err != nil {
			t.Fatal(err)
		}
		for i := range virtual {
			if virtual[i] != real[i] {
				t.Fatalf("caller %d (-real +virtual):\n%s", i, cmp.Diff(real[i], virtual[i], cmp.AllowUnexported(visit{})))
			}
		}
	})
}

// measuredByName runs all ways of a plan in virtual time.
func measuredByName(t *testing.T, p plan) map[string]figures {
	t.Helper()
	runs, err := measured(p, way.simulate)
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]figures{}
	for _, f := range runs {
		byName[f.name] = f
	}
	return byName
}

// The claims of the README, for ten loads and ten lengths of the outage.
func TestClaims(t *testing.T) {
	for i := range 10 {
		p := defaults
		p.seed, p.end = uint64(i+1), defaults.end+time.Duration(i)*3*time.Second
		if i == 0 {
			p = defaults
		}
		runs := measuredByName(t, p)
		if f := runs["no outage"]; f.endings[own] != f.callers {
			t.Errorf("seed %d: no outage: %d of %d callers answered", p.seed, f.endings[own], f.callers)
		}
		for _, name := range []string{"no breaker", "gobreaker alone"} {
			if f := runs[name]; f.share > 0.2 || f.heldMax != p.slots {
				t.Errorf("seed %d: %s: healthy share %.3f, %d slots held; want a collapse", p.seed, name, f.share, f.heldMax)
			}
		}
		f := runs["Expediter"]
		if f.share < 0.95 || f.p99 > 2*p.quick {
			t.Errorf("seed %d: healthy share %.3f, p99 %v; want 0.95 or more, and no delay", p.seed, f.share, f.p99)
		}
		if f.endings[gaveUp]+f.endings[refused]+f.endings[failed] > 0 {
			t.Errorf("seed %d: endings %v; want an answer or a stand-in for everybody", p.seed, f.endings)
		}
		if f.heldMax > p.limit {
			t.Errorf("seed %d: the summarizer held %d slots; want %d or fewer", p.seed, f.heldMax, p.limit)
		}
		trials := int(math.Ceil(float64(p.end-p.begin) / float64(p.cooldown)))
		if most := p.threshold + p.limit + trials; f.reached > most {
			t.Errorf("seed %d: %d calls reached the summarizer; want %d or fewer", p.seed, f.reached, most)
		}
		if f.recovered > p.cooldown {
			t.Errorf("seed %d: recovery took %v; want one interval of %v at most", p.seed, f.recovered, p.cooldown)
		}
	}
}

// Failure domains stay apart, however many peers turn slow at once: the engine
// takes several timeouts for what they are, and pauses nothing.
func TestThreeOfFivePeers(t *testing.T) {
	p := defaults
	p.ill = 3
	runs := measuredByName(t, p)
	if f := runs["no breaker"]; f.share > 0.2 {
		t.Errorf("no breaker: healthy share %.3f; want a collapse", f.share)
	}
	f := runs["Expediter"]
	if f.share < 0.95 || f.endings[refused]+f.endings[failed] > 0 || f.recovered > p.cooldown+p.deadline {
		t.Errorf("Expediter: healthy share %.3f, endings %v, recovery %v; want 0.95, no errors, one interval", f.share, f.endings, f.recovered)
	}
}

// One trial goes at a time, an interval apart.
func TestTrials(t *testing.T) {
	for _, w := range ways[4:] {
		visits, err := w.simulate(defaults)
		if err != nil {
			t.Fatal(err)
		}
		var last time.Duration
		trials := 0
		for _, v := range visits {
			if !v.probe {
				continue
			}
			trials++
			if last > 0 && v.started < last+defaults.cooldown {
				t.Errorf("%s: a trial at %v, the one before ended at %v", w.name, v.started, last)
			}
			last = v.ended
		}
		if trials != 4 {
			t.Errorf("%s: got %d trials, want 4: three in the outage and a good one", w.name, trials)
		}
	}
}

// What stands in says what it is, and the executor can tell of all of it.
func TestNothingStandsInSilently(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, err := newExecutor(defaults, nil)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		visits := live(t.Context(), defaults, guarded(e), sleeper(defaults, began), began)
		var f figures
		for _, v := range visits {
			f.endings[v.end]++
		}
		told := map[string]int{}
		for _, s := range e.Substitutes() {
			told[s.Used] += s.Times
			if s.Tool != "summarizer" || !strings.HasPrefix(s.Label, "[") || s.Lost == "" || s.Cause == "" {
				t.Errorf("got %+v, want its label, what is lost and why", s)
			}
		}
		lastGood, byDefault := told[executor.UsedLastGood.String()], told[executor.UsedDefault.String()]
		if lastGood == 0 || byDefault == 0 || lastGood+byDefault != f.endings[standIn] {
			t.Errorf("told of %v, want both kinds, %d in all", told, f.endings[standIn])
		}
		if running, late := e.Abandoned(); running+late != 0 {
			t.Errorf("abandoned: %d running, %d late; want none", running, late)
		}
	})
}

// The README shows what the program prints.
func TestReadme(t *testing.T) {
	var out strings.Builder
	chart := filepath.Join(t.TempDir(), "chart.svg")
	if err := run(t.Context(), []string{"-svg", chart}, &out); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(data), "```text\n")
	printed, after, ends := strings.Cut(rest, "```\n")
	if !ok || !ends {
		t.Fatal("README.md has no block of text; put ```text and ``` where the output belongs")
	}
	if *update {
		if err := os.WriteFile("README.md", []byte(before+"```text\n"+out.String()+"```\n"+after), 0o644); err != nil {
			t.Fatal(err)
		}
		printed = out.String()
	}
	if diff := cmp.Diff(printed, out.String()); diff != "" {
		t.Errorf("the output (-README +printed); if it is right, run with -update:\n%s", diff)
	}
	testChart(t, chart)
}

// testChart reads the chart as XML: it has a row of paths for each way and
// loads nothing.
func testChart(t *testing.T, name string) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var text strings.Builder
	paths := 0
	for d := xml.NewDecoder(f); ; {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.CharData:
			text.Write(token)
			text.WriteByte('|')
		case xml.StartElement:
			if token.Name.Local == "path" {
				paths++
			}
			for _, a := range token.Attr {
				if strings.HasSuffix(a.Name.Local, "href") {
					t.Errorf("<%s> loads %s", token.Name.Local, a.Value)
				}
			}
		}
	}
	for _, w := range ways {
		if !strings.Contains(text.String(), "|"+w.name+"|") {
			t.Errorf("the chart does not name %q", w.name)
		}
	}
	if want := 6 * len(ways); paths != want {
		t.Errorf("got %d paths, want %d: two lines and four areas for each way", paths, want)
	}
}

func TestRunRefuses(t *testing.T) {
	for _, args := range [][]string{{"-times", "0"}, {"-times", "NaN"}, {"-times", "1000"}, {"real"}, {"-svg", filepath.Join(t.TempDir(), "no", "such", "folder.svg")}} {
		if err := run(t.Context(), args, io.Discard); err == nil {
			t.Errorf("%v: no error", args)
		}
	}
}

func TestRunHelps(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), []string{"-h"}, &out); err != nil || out.Len() > 0 {
		t.Errorf("got %v and %q, want nothing but the flags", err, out.String())
	}
}

// Whoever interrupts a run by the clock waits for nothing.
func TestRunIsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, cancel)
	began := time.Now()
	if err := run(ctx, []string{"-real", "-times", "50"}, io.Discard); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("it took %v", took)
	}
}
