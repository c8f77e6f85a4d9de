package capability_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter/breaker"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(string(read(t, file)), string(got)); diff != "" {
		t.Errorf("%s (-want +got)\n%s", file, diff)
	}
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func load(t *testing.T, file string) capability.File {
	t.Helper()
	f, err := capability.Read(file, read(t, file))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// seed is the map of testdata/seed.yaml.
var seed = capability.Map{
	{Tool: "Grep", Provides: "content search across files", Fallback: "ask the user which files to examine",
		Alternatives: []capability.Alternative{
			{Tool: "Bash", Method: "rg or grep command", Degradation: "loses Grep's built-in output formatting"},
			{Tool: "Read", Method: "read suspected files directly", Degradation: "requires knowing which files to check; no broad search"}}},
	{Tool: "Bash", Provides: "command execution, build tools, git operations", Fallback: "report commands that need to be run manually"},
	{Tool: "Read", Provides: "file content inspection", Fallback: "ask the user to paste file contents",
		Alternatives: []capability.Alternative{
			{Tool: "Bash", Method: "cat or head command", Degradation: "loses line numbering and truncation safety"}}},
	{Tool: "Write", Provides: "file creation", Fallback: "output file contents for the user to save manually",
		Alternatives: []capability.Alternative{
			{Tool: "Edit", Method: "create via full-file edit", Degradation: "requires file to already exist for Edit"},
			{Tool: "Bash", Method: "echo/cat heredoc", Degradation: "loses Write's atomic file creation"}}},
	{Tool: "WebSearch", Provides: "external information retrieval", Fallback: "state what information is needed; ask user to provide it"},
}

func TestSeedMapLoadsUnchanged(t *testing.T) {
	f := load(t, "testdata/seed.yaml")
	if diff := cmp.Diff(seed, f.Map); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got, want := f.Warnings.Error(), `testdata/seed.yaml:29:15: warning: alternative "Edit" has no entry of its own; add one, or nothing is known of what to do when it fails`; got != want {
		t.Errorf("warnings: got %s, want %s", got, want)
	}
	if f.Expediter != nil {
		t.Errorf("expediter: got %v, want none", f.Expediter)
	}
	var b bytes.Buffer
	if err := f.Map.WriteYAML(&b); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(read(t, "testdata/seed.yaml")), b.String()); diff != "" {
		t.Errorf("written (-seed +got)\n%s", diff)
	}
}

func TestEveryKey(t *testing.T) {
	three := 3
	want := capability.Map{
		{Tool: "mcp/search", Provides: "issue search: the tracker", Fallback: "ask the user", Shares: []string{"sso", "the vpn"},
			KnownIssues: "slow on Mondays", Freshness: capability.Caches, SideEffects: capability.EffectsNone, Initial: capability.Degraded,
			Alternatives: []capability.Alternative{{Tool: "Bash/gh", Method: "gh issue list", Degradation: "loses ranking", Level: capability.High, SameAuthority: true, Passthrough: true}},
			Policy: breaker.Policy{FailureThreshold: 2, SlowCallMS: breaker.Off,
				Probe: breaker.Pacing{Unit: breaker.Time, Every: 1000, Max: 60000, Backoff: breaker.On}},
			Classify: []capability.ClassifyRule{{Match: `quota\s+exceeded`, Category: "rate_limit"}, {ExitCode: &three, Outcome: "success"}}},
		{Tool: "Bash", Fallback: "report the commands", SideEffects: capability.Destructive, Freshness: capability.Live},
		{Tool: "Validator", Provides: "the gate", NoSubstitute: true, Freshness: capability.FreshnessUnknown, Initial: capability.Unavailable},
	}
	f := load(t, "testdata/full.yaml")
	if diff := cmp.Diff(want, f.Map); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if len(f.Warnings) > 0 {
		t.Errorf("warnings: got %v", f.Warnings)
	}
	if got := f.Expediter.Key("policy").Text(); got != "interactive" {
		t.Errorf("expediter: got policy %q", got)
	}
	if err := f.Map.Validate(); err != nil {
		t.Errorf("Validate: %v", err)
	}
}

func TestJSONRoundTrip(t *testing.T) {
	for _, m := range []capability.Map{seed, load(t, "testdata/full.yaml").Map, {{Tool: "a"}}} {
		data, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		var back capability.Map
		if err := json.Unmarshal(data, &back); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(m, back); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}
	if got, _ := json.Marshal(capability.Map{{Tool: "a"}}); string(got) != `[{"tool":"a"}]` {
		t.Errorf("zero fields: got %s", got)
	}
	data, _ := json.Marshal(map[string]any{"capability_map": seed})
	f, err := capability.Read("map.json", data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(seed, f.Map); diff != "" {
		t.Errorf("JSON file (-want +got)\n%s", diff)
	}
}

func TestWriteYAMLLoadsBackUnchanged(t *testing.T) {
	one := 1
	hostile := capability.Map{
		{Tool: "yes", Provides: "null", Fallback: "a: b # c", Shares: []string{"~", "1.5", "a,b", "- x"}},
		{Tool: "1", Provides: "\x1b[31m \u202e \u2028 \x7f\u0085 😀 é\n\ttab", Fallback: `"quoted" \ 'single'`, KnownIssues: "line\r\nline",
			Alternatives: []capability.Alternative{{Tool: "{a}", Method: "&x *y !z %", Degradation: "unknown", Level: capability.Low}},
			Classify:     []capability.ClassifyRule{{Match: "a\"b\\\\\x7f:, \U000e0001<&>", Outcome: "ignored"}, {ExitCode: &one}}},
		{Tool: "trailing ", Provides: "a, b", Fallback: "0", Policy: breaker.Policy{Trip: breaker.Trip{Policy: breaker.Rate, Rate: .25}}},
	}
	for _, m := range []capability.Map{seed, load(t, "testdata/full.yaml").Map, hostile} {
		var b bytes.Buffer
		if err := m.WriteYAML(&b); err != nil {
			t.Fatal(err)
		}
		f, err := capability.Read("back", b.Bytes())
		if err != nil {
			t.Fatalf("%v\n%s", err, b.Bytes())
		}
		if diff := cmp.Diff(m, f.Map); diff != "" {
			t.Errorf("(-want +got)\n%s%s", diff, b.Bytes())
		}
	}
	var b bytes.Buffer
	if err := (capability.Map{}).WriteYAML(&b); err != nil || b.String() != "capability_map: []\n" {
		t.Errorf("empty map: got %q, %v", b.String(), err)
	}
	b.Reset()
	if err := (capability.Map{{}}).WriteYAML(&b); err == nil || b.Len() > 0 {
		t.Errorf("invalid map: got %q, %v", b.String(), err)
	}
}

func TestLookup(t *testing.T) {
	m := capability.Map{{Tool: "a"}, {Tool: "a/b"}, {Tool: "x/y"}}
	for tool, want := range map[string]string{"a": "a", "a/b": "a/b", "a/b/c": "a/b", "a/c/d": "a", "a/": "a", "x": "", "x/y/z": "x/y", "ab": "", "": "", "/": "", "b/a": ""} {
		e, ok := m.Lookup(tool)
		if e.Tool != want || ok != (want != "") {
			t.Errorf("Lookup(%q): got %q %v, want %q", tool, e.Tool, ok, want)
		}
	}
}

func TestMentionedAndCritical(t *testing.T) {
	if diff := cmp.Diff([]string{"Grep", "Bash", "Read", "Write", "Edit", "WebSearch"}, seed.Mentioned()); diff != "" {
		t.Errorf("Mentioned (-want +got)\n%s", diff)
	}
	gate := append(seed[:len(seed):len(seed)], capability.Entry{Tool: "Gate", NoSubstitute: true, Alternatives: []capability.Alternative{{Tool: "Bash"}}})
	if diff := cmp.Diff([]string{"Bash", "WebSearch", "Gate"}, gate.Critical()); diff != "" {
		t.Errorf("Critical (-want +got)\n%s", diff)
	}
}

func TestRuleNamesAreThoseOfCascade(t *testing.T) {
	for _, c := range cascade.Categories() {
		m := capability.Map{{Tool: "a", Classify: []capability.ClassifyRule{{Match: "x", Category: c.String()}}}}
		if err := m.Validate(); err != nil {
			t.Errorf("category %s is refused: %v", c, err)
		}
	}
	for _, o := range []cascade.Outcome{cascade.Failed, cascade.Succeeded, cascade.Ignored} {
		m := capability.Map{{Tool: "a", Classify: []capability.ClassifyRule{{Match: "x", Outcome: o.String()}}}}
		if err := m.Validate(); err != nil {
			t.Errorf("outcome %s is refused: %v", o, err)
		}
	}
	err := capability.Map{{Tool: "a", Classify: []capability.ClassifyRule{{Match: "x", Category: "boom"}}}}.Validate()
	if err == nil {
		t.Fatal("category boom is accepted")
	}
	_, list, _ := strings.Cut(err.Error(), "use one of ")
	for word := range strings.SplitSeq(list, ", ") {
		var c cascade.Category
		if err := c.UnmarshalText([]byte(word)); err != nil {
			t.Errorf("category %s is offered, but %v", word, err)
		}
	}
}
