package analysis_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"testing"

	"github.com/expediter-go/expediter/internal/analysis"
	"github.com/expediter-go/expediter/internal/trace"
)

// The recordings that the project was measured on. They are not part of it.
const (
	recordings = "../../../shared/data/sessions.jsonl.gz"
	incidents  = "../../../shared/data/incidents.json"
	traces     = "../../../shared/data/traces"
)

// recorded reads recordings, or skips where they are absent.
func recorded(t testing.TB, path string) []trace.Event {
	t.Helper()
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		t.Skip("the recordings are not here: " + path)
	}
	sources, err := trace.Sources([]string{path}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var events []trace.Event
	if _, err := trace.ReadAll(t.Context(), sources, trace.Options{}, func(e *trace.Event) error {
		events = append(events, *e)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return events
}

// stream hands on events that are in memory.
func stream(events []trace.Event) analysis.Stream {
	return func(ctx context.Context, yield func(*trace.Event) error) error {
		for i := range events {
			if err := yield(&events[i]); err != nil {
				return err
			}
		}
		return ctx.Err()
	}
}
