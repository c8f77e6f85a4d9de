package analysis_test

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/cascade/classify"
	"github.com/expediter-go/expediter/internal/analysis"
	"github.com/expediter-go/expediter/internal/trace"
)

// fact is one call of a recording that was reduced to facts.
type fact struct {
	File    string  `json:"f"`
	Session *string `json:"s"`
	Tool    string  `json:"tool"`
	Sub     string  `json:"sub"`
	State   string  `json:"st"`
	Class   string  `json:"cls"`
	Sig     string  `json:"sig"`
}

// corpus reads the reduced recordings, or skips where they are absent.
func corpus(t testing.TB) []trace.Event {
	t.Helper()
	f, err := os.Open("../../../shared/data/sessions.jsonl.gz")
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("the recordings are not here: ../shared/data/sessions.jsonl.gz")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var events []trace.Event
	calls := map[string]int{}
	for lines := bufio.NewScanner(z); lines.Scan(); {
		var x fact
		if err := json.Unmarshal(lines.Bytes(), &x); err != nil {
			t.Fatal(err)
		}
		if x.Session != nil {
			x.File += "#" + *x.Session
		}
		events = append(events, x.events("sessions.jsonl.gz", x.File, calls[x.File])...)
		calls[x.File]++
	}
	return events
}

// events are a fact's call and its result.
func (x fact) events(file, session string, call int) []trace.Event {
	e := trace.Event{Kind: trace.Issue, File: file, Session: session, Format: "facts", Step: int64(call + 1), Call: call, Tool: x.Tool, Key: x.Tool}
	if x.Sub != "" {
		e.Key += "/" + x.Sub
	}
	if x.State == "open" {
		return []trace.Event{e}
	}
	r := e
	r.Kind, r.How = trace.Result, trace.Flagged
	r.Verdict, r.Text = x.verdict(), x.Sig
	return []trace.Event{e, r}
}

func (x fact) verdict() classify.Verdict {
	local := x.Sub != "" && x.Class == "timeout"
	switch {
	case x.State == "ok":
		return classify.Verdict{Outcome: cascade.Succeeded, Class: "ok"}
	case x.State == "denied":
		return classify.Verdict{Outcome: cascade.Ignored, Class: "user_denied"}
	case local, strings.Contains(" test_build usage no_file nonzero ", " "+x.Class+" "):
		return classify.Verdict{Outcome: cascade.Succeeded, Class: "invalid_input", Signature: x.Sig}
	}
	v := classify.Verdict{Outcome: cascade.Failed, Class: x.Class, Signature: x.Sig}
	if x.Class == "no_command" {
		v.Category = cascade.ToolMissing
	} else if v.Category.UnmarshalText([]byte(x.Class)) != nil {
		v.Category = cascade.Unknown
	}
	return v
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
