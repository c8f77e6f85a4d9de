package analysis_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/expediter-go/expediter/internal/analysis"
	"github.com/expediter-go/expediter/internal/trace"
)

// Thousands of sessions at once, none of which ends: what is held stays within
// bounds, and no call is forgotten.
func TestManySessionsAtOnce(t *testing.T) {
	const sessions, rounds, bound = 3000, 60, 160 << 20
	var peak uint64
	crowd := func(_ context.Context, yield func(*trace.Event) error) error {
		names := make([]string, sessions)
		for i := range names {
			names[i] = fmt.Sprint(i)
		}
		for round := range rounds {
			for i, name := range names {
				e := trace.Event{Kind: trace.Issue, File: "f", Session: name, Step: 1, Call: round, Tool: "Read", Key: "Read"}
				if err := yield(&e); err != nil {
					return err
				}
				e.Kind, e.Verdict = trace.Result, verdict(rune("SSSF"[(i+round)%4]))
				if err := yield(&e); err != nil {
					return err
				}
			}
			if round%20 == 19 {
				peak = max(peak, live())
			}
		}
		return nil
	}
	before := live()
	got := analyse(t, crowd, analysis.Options{Policies: analysis.Baselines()})
	if got.Calls != sessions*rounds || got.Failures != sessions*rounds/4 {
		t.Errorf("got %d calls, %d failures, want %d and a quarter", got.Calls, got.Failures, sessions*rounds)
	}
	if peak > before+bound {
		t.Errorf("held %d MB, want at most %d", (peak-before)>>20, bound>>20)
	}
	if !strings.Contains(strings.Join(got.Notes, "\n"), "ended early") {
		t.Errorf("the notes do not say that sessions were ended early: %q", got.Notes)
	}
	t.Logf("held %d MB at most", (peak-before)>>20)
}

// Sessions that call a new tool each time, none of which ends: what the engines
// know of tools stays within bounds.
func TestManyToolsAtOnce(t *testing.T) {
	const sessions, rounds, bound = 1000, 500, 64 << 20
	var peak uint64
	crowd := func(_ context.Context, yield func(*trace.Event) error) error {
		for i := range sessions * rounds {
			name := fmt.Sprint("tool", i)
			e := trace.Event{Kind: trace.Issue, File: "f", Session: fmt.Sprint(i / rounds), Step: 1, Call: i % rounds, Tool: name, Key: name}
			if err := yield(&e); err != nil {
				return err
			}
			if i%100_000 == 99_999 {
				peak = max(peak, live())
			}
		}
		return nil
	}
	before := live()
	got := analyse(t, crowd, analysis.Options{Policies: analysis.Baselines()})
	if got.Calls != sessions*rounds {
		t.Errorf("got %d calls, want %d", got.Calls, sessions*rounds)
	}
	if peak > before+bound {
		t.Errorf("held %d MB, want at most %d", (peak-before)>>20, bound>>20)
	}
	t.Logf("held %d MB at most", (peak-before)>>20)
}

// live is the memory in use after a collection.
func live() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
