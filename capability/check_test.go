package capability_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/capability/document"
)

const everythingWrong = `capability_map:
  - tool: Grep
    provides: search
    alternatives:
      - tool: Grep
        degradation: none
      - tool: Bash
        levl: high
      - tool: Bash
        level: medium
  - tool: Grep
    fallback: ""
  - provides: nothing
    fallback: ask
  - tool: Bash
    fallback: ask
    fallbak: again
    freshness: fresh
    policy:
      failure_threshold: -1
      probe: {every: 30, max: 20}
      trip: {rate: 1.5, window: "9"}
    classify:
      - match: "("
      - exit_code: 999
        outcome: fine
      - match: x
        exit_code: 1
        category: boom
      - outcome: ignored
      - match: y
        outcome: ignored
        category: network
  - just a text
  - tool: [a]
    alternatives: {tool: b}
    fallback: ~
  - tool: "a\x01"
    no_substitute: yes
    shares: [""]
expedite: {}
`

// TestReadReportsAllAtOnce has every problem of SPEC section 13 in one file.
func TestReadReportsAllAtOnce(t *testing.T) {
	want := strings.Split(`map.yaml:2:5: tool "Grep" has no fallback; add `+"`fallback:` with what the user is asked to do, or `no_substitute: true`"+` if nothing may stand in
map.yaml:5:15: tool "Grep" is its own alternative; name another tool or remove this alternative
map.yaml:8:9: unknown key "levl"; did you mean "level"?
map.yaml:9:15: alternative "Bash" is there already, as number 2; keep one of the two
map.yaml:10:16: unknown level "medium"; use low, high or unknown
map.yaml:11:5: tool "Grep" has no fallback; add `+"`fallback:` with what the user is asked to do, or `no_substitute: true`"+` if nothing may stand in
map.yaml:11:11: tool "Grep" has an entry already, number 1 of the map; merge the two
map.yaml:13:5: the tool's name is missing; add `+"`tool:`"+` with the name that the agent calls
map.yaml:17:5: unknown key "fallbak"; did you mean "fallback"?
map.yaml:18:16: unknown freshness "fresh"; use live, caches or unknown
map.yaml:20:26: failure_threshold: -1 is below 1; give 1 or more
map.yaml:21:31: probe.max: 20 is below probe.every 30; raise max or lower every
map.yaml:22:20: trip.rate: 1.5; give a share between 0 and 1
map.yaml:22:33: want a whole number, found the text "9"; write digits, without quotes
map.yaml:24:16: error parsing regexp: missing closing ): `+"`(`"+`; write an RE2 pattern
map.yaml:25:20: no program exits with 999; give 1 to 255
map.yaml:26:18: unknown outcome "fine"; use success, failure, ignored
map.yaml:27:9: the rule has both match and exit_code; make two rules of it
map.yaml:29:19: unknown category "boom"; use one of unknown, network, timeout, rate_limit, auth, permission, filesystem, resource, upstream, tool_missing
map.yaml:30:9: the rule looks at nothing; give it match or exit_code
map.yaml:33:19: a category goes with a failure, not with "ignored"; remove the category or the outcome
map.yaml:34:5: want a mapping, found the text "just a text"; write its keys below it, indented
map.yaml:35:11: want text, found a list; write it in quotes, or remove the key
map.yaml:36:19: want a list, found a mapping; write it as [ … ], or as lines that begin with a dash
map.yaml:37:15: want text, found nothing; write it in quotes, or remove the key
map.yaml:38:5: tool "a\x01" has no fallback; add `+"`fallback:` with what the user is asked to do, or `no_substitute: true`"+` if nothing may stand in
map.yaml:38:11: the tool's name "a\x01" holds control characters or invalid UTF-8; remove them
map.yaml:39:20: want true or false, found the text "yes"; write true or false, without quotes
map.yaml:40:13: an empty name among the shared things; name the thing or remove it
map.yaml:41:1: unknown key "expedite"; did you mean "expediter"?`, "\n")
	_, err := capability.Read("map.yaml", []byte(everythingWrong))
	if err == nil {
		t.Fatal("got no error")
	}
	if diff := cmp.Diff(want, strings.Split(err.Error(), "\n")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if ps := (document.Problems)(nil); !errors.As(err, &ps) {
		t.Errorf("got %T, want Problems", err)
	}
}

func TestReadTopLevel(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"no map", "expediter: {}", "map:1:1: capability_map is missing; add it at the top level"},
		{"a list", "- tool: a", "map:1:1: want a mapping, found a list; write its keys below it, indented"},
		{"unknown key", "capability_map: []\ntools: {}", `map:2:1: unknown key "tools"; use one of capability_map, expediter`},
		{"twice", "capability_map: []\ncapability_map: []", `map:2:1: repeated key "capability_map", already on line 1; keep one of the two`},
		{"a mapping", "capability_map: {a: b}", "map:1:17: want a list, found a mapping; write it as [ … ], or as lines that begin with a dash"},
		{"nothing", "", "map:1:1: the document is empty; check that it is the right file"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := capability.Read("map", []byte(tt.in))
			if err == nil || err.Error() != tt.want {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

func TestReadWarns(t *testing.T) {
	f, err := capability.Read("map", []byte(`capability_map:
  - {tool: A, fallback: ask, alternatives: [{tool: B/c}, {tool: X}]}
  - {tool: B, no_substitute: true, alternatives: [{tool: A}]}
`))
	if err != nil {
		t.Fatal(err)
	}
	want := `map:2:65: warning: alternative "X" has no entry of its own; add one, or nothing is known of what to do when it fails
map:3:50: warning: the alternatives are never taken, since the tool is marked no_substitute; remove one of the two`
	if diff := cmp.Diff(want, f.Warnings.Error()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// An interval that only the engine's policy makes sense of is left to it.
func TestReadLeavesWhatDependsOnTheEngine(t *testing.T) {
	for _, policy := range []string{"{probe: {every: 100}}", "{probe: {max: 2}}", "{trip: {policy: rate, min_calls: 50}}", "{probe: {unit: time}}", "{}", "~"} {
		if _, err := capability.Read("map", []byte("capability_map: [{tool: A, fallback: ask, policy: "+policy+"}]")); err != nil {
			t.Errorf("%s: %v", policy, err)
		}
	}
}

func TestFromNode(t *testing.T) {
	if m, warnings, err := capability.FromNode(nil); m != nil || warnings != nil || err != nil {
		t.Errorf("nil node: got %v %v %v", m, warnings, err)
	}
	root, err := document.Parse("task.yaml", []byte("map: [{tool: A, fallback: x, alternatives: [{tool: B}]}]\nbad: [{tool: A}]"))
	if err != nil {
		t.Fatal(err)
	}
	m, warnings, err := capability.FromNode(root.Key("map"))
	if len(m) != 1 || len(warnings) != 1 || err != nil {
		t.Errorf("got %v %v %v", m, warnings, err)
	}
	if _, _, err := capability.FromNode(root.Key("bad")); err == nil || !strings.HasPrefix(err.Error(), `task.yaml:2:7: tool "A" has no fallback`) {
		t.Errorf("got %v", err)
	}
}

func TestValidateLiterals(t *testing.T) {
	alternatives := func(a ...capability.Alternative) []capability.Alternative { return a }
	m := capability.Map{
		{Tool: "A", Alternatives: alternatives(capability.Alternative{Tool: "B"}, capability.Alternative{Tool: "A"}, capability.Alternative{Tool: "B"}, capability.Alternative{})},
		{Tool: "A", Freshness: 9, SideEffects: 9, Initial: 9, Fallback: "\xff", Shares: []string{"", "x"}},
		{Tool: strings.Repeat("x", 257), Alternatives: alternatives(capability.Alternative{Tool: "B", Level: 9, Method: "\xff", Degradation: "\xff"})},
		{Tool: "a\nb", Classify: []capability.ClassifyRule{{}}},
	}
	want := `Tools[0].Alternatives[1].Tool: tool "A" is its own alternative; name another tool or remove this alternative
Tools[0].Alternatives[2].Tool: alternative "B" is there already, as number 1; keep one of the two
Tools[0].Alternatives[3].Tool: the tool's name is missing; add ` + "`tool:`" + ` with the name that the agent calls
Tools[1].Tool: tool "A" has an entry already, number 1 of the map; merge the two
Tools[1].Freshness: unknown freshness(9); use Live, Caches or FreshnessUnknown
Tools[1].SideEffects: unknown side_effects(9); use EffectsNone, Idempotent or Destructive
Tools[1].Initial: unknown score(9); use Available, Degraded or Unavailable
Tools[1].Fallback: the text is no valid UTF-8; convert it to UTF-8
Tools[1].Shares: an empty name among the shared things; name the thing or remove it
Tools[2].Tool: the tool's name is 257 bytes long; at most 256 are allowed, shorten it
Tools[2].Alternatives[0].Level: unknown level(9); use Low, High or Unknown
Tools[2].Alternatives[0].Method: the text is no valid UTF-8; convert it to UTF-8
Tools[2].Alternatives[0].Degradation: the text is no valid UTF-8; convert it to UTF-8
Tools[3].Tool: the tool's name "a\nb" holds control characters or invalid UTF-8; remove them
Tools[3].Classify[0]: the rule looks at nothing; give it match or exit_code`
	err := m.Validate()
	if err == nil {
		t.Fatal("got no error")
	}
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(err.Error(), "\n")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for _, m := range []capability.Map{nil, {}, seed, {{Tool: "A"}}} {
		if err := m.Validate(); err != nil {
			t.Errorf("a missing fallback is the engine's business: %v", err)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{"capability_map: []", "capability_map:\n  - tool: A\n    fallback: b\n    alternatives: [{tool: B, level: high}]",
		`{"capability_map":[{"tool":"A","fallback":"x","policy":{"probe":{"every":1}}}]}`, "capability_map: [1, {tool: [x]}, {classify: [{match: '('}]}]",
		"capability_map: &a\n  - *a", "a", "capability_map: [{tool: A, alternatives: 3, classify: x, policy: []}]", "capability_map: [{tool: A, <<: {alternatives: [{tool: A}]}}]"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := capability.Read("f", data)
		if err != nil {
			return
		}
		if err := file.Map.Validate(); err != nil {
			t.Errorf("Read accepts what Validate refuses: %v", err)
		}
		var b strings.Builder
		if err := file.Map.WriteYAML(&b); err != nil {
			t.Fatal(err)
		}
		back, err := capability.Read("back", []byte(b.String()))
		if err != nil {
			t.Fatalf("%v\n%s", err, b.String())
		}
		if diff := cmp.Diff(file.Map, back.Map); diff != "" {
			t.Errorf("(-want +got)\n%s%s", diff, b.String())
		}
	})
}

func TestReadListsABoundedNumberOfProblems(t *testing.T) {
	many := "capability_map:\n- tool: A\n  fallback: x\n  provides: y\n  alternatives:\n" + strings.Repeat("  - {tool: B}\n", 5000)
	_, err := capability.Read("map.yaml", []byte(many))
	var problems document.Problems
	if !errors.As(err, &problems) || len(problems) != document.MaxProblems+1 {
		t.Fatalf("got %d problems, want %d", len(problems), document.MaxProblems+1)
	}
	if last := problems[document.MaxProblems]; last.What != "too many problems to list from here on" || last.Line != 207 {
		t.Errorf("got %+v, want a last one that says that there are more", last)
	}
}
