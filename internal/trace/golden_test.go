package trace

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/cascade/classify"
	"github.com/expediter-go/expediter/cascade/redact"
)

var update = flag.Bool("update", false, "write the golden files")

// fixtures are the recordings in testdata, made by hand: FORMAT.ext or FORMAT-CASE.ext.
func fixtures(t testing.TB) []string {
	t.Helper()
	var found []string
	for _, ext := range []string{"jsonl", "json", "traj"} {
		names, err := filepath.Glob(filepath.Join("testdata", "*."+ext))
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, names...)
	}
	if len(found) == 0 {
		t.Fatal("no fixtures in testdata")
	}
	return found
}

// TestFixtures compares the events and counts of each fixture with NAME.golden.
func TestFixtures(t *testing.T) {
	for _, name := range fixtures(t) {
		t.Run(filepath.Base(name), func(t *testing.T) {
			got := rendered(t, name)
			golden := name + ".golden"
			if *update {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), string(got)); d != "" {
				t.Errorf("run with -update if this is right (-want +got):\n%s", d)
			}
		})
	}
}

// TestFixturesAreOfTheirFormat: no format claims another's fixture, wherever it
// stands in the table.
func TestFixturesAreOfTheirFormat(t *testing.T) {
	for _, name := range fixtures(t) {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		h, _, err := readHead(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		claims := map[string]bool{}
		for _, f := range formats {
			claims[f.name] = claims[f.name] || f.sniff(h)
		}
		for f, got := range claims {
			if want := belongsTo(name, f); got != want {
				t.Errorf("%s claims %s: %v, want %v", f, name, got, want)
			}
		}
	}
}

// belongsTo reports whether a fixture is one of the format.
func belongsTo(name, format string) bool {
	rest, ok := strings.CutPrefix(filepath.Base(name), format)
	return ok && (rest[0] == '.' || rest[0] == '-')
}

func rendered(t *testing.T, name string) []byte {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var b bytes.Buffer
	stats, err := Read(t.Context(), filepath.Base(name), f, Options{Judge: facts}, func(e *Event) error {
		fmt.Fprintln(&b, line(e))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	enc := json.NewEncoder(&b)
	enc.SetIndent("", " ")
	if err := enc.Encode(stats); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// facts stands in for classify.Observe, so that the golden files hold what the
// importer found and change for nothing else. What it found is in the rule.
func facts(o classify.Observation) classify.Verdict {
	var b strings.Builder
	say := func(name string, value any, there bool) {
		if there {
			fmt.Fprintf(&b, " %s=%v", name, value)
		}
	}
	v := classify.Verdict{Key: o.Tool, Outcome: cascade.Succeeded, Class: classOK}
	if o.Failed || o.DeadlineHit || o.ExitCode != nil && *o.ExitCode != 0 || o.HTTPStatus >= 400 || o.Class != "" || o.RPCCode != 0 {
		v.Outcome, v.Class = cascade.Failed, "unknown"
	}
	say("agent", o.Agent, o.Agent != "")
	say("protocol", o.Protocol, o.Protocol != classify.Plain)
	say("server", o.Server, o.Server != "")
	say("argv", o.Argv, o.Argv != nil)
	say("input", redact.Text(string(o.Input), 60), o.Input != nil)
	say("failed", o.Failed, o.Failed)
	say("deadline", o.DeadlineHit, o.DeadlineHit)
	say("class", o.Class, o.Class != "")
	if o.ExitCode != nil {
		say("exit", *o.ExitCode, true)
	}
	say("http", o.HTTPStatus, o.HTTPStatus != 0)
	say("rpc", o.RPCCode, o.RPCCode != 0)
	say("payload", redact.Text(string(o.Payload), 60), o.Payload != nil)
	say("text", strconv.Quote(redact.Text(o.Result, 80)), o.Result != "")
	v.Rule = b.String()
	return v
}

// line writes all that an event says.
func line(e *Event) string {
	s := fmt.Sprintf("%s step %d", e.Session, e.Step)
	if e.At != 0 {
		s += time.UnixMilli(e.At).UTC().Format(" at 2006-01-02T15:04:05.000")
	}
	switch e.Kind {
	case Prompt:
		return s + " prompt"
	case Issue:
		return s + fmt.Sprintf(" issue %d %s", e.Call, e.Tool)
	case Result:
		s += fmt.Sprintf(" result %d %s %s", e.Call, e.Tool, map[How]string{Flagged: "flagged", Judged: "judged"}[e.How])
		if e.Duration != 0 {
			s += fmt.Sprintf(" took %v", e.Duration)
		}
		if e.Tokens != 0 {
			s += fmt.Sprintf(" tokens %d", e.Tokens)
		}
		if e.Verdict.Rule != "" && e.Verdict.Rule[0] != ' ' {
			s += fmt.Sprintf(" key=%s %+v text=%q", e.Key, e.Verdict, e.Text)
			return s
		}
		return s + e.Verdict.Rule
	case End:
		return s + " end"
	}
	return s + " ?"
}
