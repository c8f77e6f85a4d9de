package view_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/expediter-go/expediter/internal/analysis"
	"github.com/expediter-go/expediter/internal/trace"
)

// began is 2026-03-01 09:00:00Z in milliseconds.
const began = 1_772_355_600_000

// session builds a timeline the way that an analysis does: each call takes a
// position for its issue and one for its result.
type session struct {
	tl    analysis.Timeline
	lanes map[string]int
	since map[string]int // where a span began
	state map[string]string
	spent int
}

func newSession(name, file string, limit int) *session {
	return &session{
		tl: analysis.Timeline{Session: name, File: file, Format: "claude-code", Start: began, Limit: limit,
			Budget: []analysis.Mark{{}}, Counts: &analysis.Counts{Sessions: 1, Precision: 1}},
		lanes: map[string]int{}, since: map[string]int{}, state: map[string]string{},
	}
}

func (s *session) lane(tool string) *analysis.Lane {
	if _, ok := s.lanes[tool]; !ok {
		s.lanes[tool] = len(s.tl.Lanes)
		s.tl.Lanes = append(s.tl.Lanes, analysis.Lane{Tool: tool})
	}
	return &s.tl.Lanes[s.lanes[tool]]
}

func (s *session) prompt() {
	s.tl.Prompts = append(s.tl.Prompts, s.tl.Width)
	s.tl.Width++
	s.budget(0)
}

func (s *session) budget(spent int) {
	if spent != s.spent {
		s.tl.Budget = append(s.tl.Budget, analysis.Mark{X: s.tl.Width, Consumed: spent})
		s.spent = spent
	}
}

func (s *session) call(tool, verb, outcome, note string) {
	l := s.lane(tool)
	l.Ticks = append(l.Ticks, analysis.Tick{X: s.tl.Width, Verb: verb, Outcome: outcome, Note: note, At: began + int64(s.tl.Width)*2300})
	s.tl.Width += 2
	s.tl.Calls++
	s.tl.End = began + int64(s.tl.Width)*2300
	s.count(verb, outcome)
	if outcome == "failure" && (verb == "CALL" || verb == "PROBE") {
		s.budget(s.spent + 1)
	}
}

func (s *session) count(verb, outcome string) {
	c := s.tl.Counts
	c.Calls++
	switch outcome {
	case "failure":
		c.Failures++
	case "answered":
		c.Answered++
	case "ignored":
		c.Ignored++
	}
	switch verb {
	case "SKIP":
		c.Skipped++
		if outcome == "failure" {
			c.Saved++
		} else if outcome != "ignored" {
			c.Lost++
		}
	case "PROBE":
		c.Probes++
	case "PAUSE":
		c.Paused++
	}
	if c.Saved+c.Lost > 0 {
		c.Precision = float64(c.Saved) / float64(c.Saved+c.Lost)
	}
}

// turn moves a tool into a state.
func (s *session) turn(tool, state string) {
	l := s.lane(tool)
	if was := s.state[tool]; was != "" {
		l.Spans = append(l.Spans, analysis.Span{From: s.since[tool], To: s.tl.Width, State: was})
	}
	if state == "OPEN" && s.state[tool] == "" {
		s.tl.Counts.Openings++
	}
	s.state[tool], s.since[tool] = state, s.tl.Width
}

func (s *session) done() analysis.Timeline {
	for i := range s.tl.Lanes {
		s.turn(s.tl.Lanes[i].Tool, "")
	}
	return s.tl
}

func (s *session) ok(tools ...string) {
	for _, t := range tools {
		s.call(t, "CALL", "ok", "")
	}
}

// quiet is a session of three calls in which nothing breaks.
func quiet() *analysis.Result {
	s := newSession("4f1c", "notes/quiet.jsonl", 5)
	s.prompt()
	s.ok("Read")
	s.call("Bash/go", "CALL", "answered", "exit 1: 2 tests fail")
	s.ok("Edit")
	return result("faithful", s.done())
}

// cascade is a network that goes down under four tools, a pause, the user's
// word, and the recovery; then one tool that is broken by itself.
func cascade() *analysis.Result {
	s := newSession("b7e2", "work/cascade.jsonl", 5)
	s.prompt()
	s.ok("Read", "Grep", "WebFetch/docs.example.org", "mcp__tracker__search", "Bash/git", "WebSearch", "Edit", "Read")
	down := "network: dial tcp 192.0.2.7:443: connection refused"
	for range 3 {
		s.call("WebFetch/docs.example.org", "CALL", "failure", down)
	}
	s.turn("WebFetch/docs.example.org", "OPEN")
	s.call("WebFetch/docs.example.org", "SKIP", "failure", down)
	s.ok("Read")
	for _, t := range []string{"WebSearch", "mcp__tracker__search", "Bash/git"} {
		s.call(t, "CALL", "failure", down)
	}
	from := s.tl.Width
	for _, t := range []string{"WebSearch", "mcp__tracker__search", "Bash/git"} {
		s.turn(t, "OPEN")
	}
	s.tl.Counts.Incidents, s.tl.Counts.Pauses, s.tl.Counts.SessionsPaused = 1, 1, 1
	for _, t := range []string{"WebSearch", "Bash/git", "Read", "WebSearch", "Edit"} {
		outcome, note := "failure", down
		if t == "Read" || t == "Edit" {
			outcome, note = "ok", ""
		}
		s.call(t, "PAUSE", outcome, note)
	}
	paused := s.tl.Width
	s.prompt()
	s.ok("Read")
	recover(s, down)
	s.tl.Incidents = []analysis.Band{{From: from, To: s.tl.Width, Cause: "network",
		Members: []string{"WebFetch/docs.example.org", "WebSearch", "mcp__tracker__search", "Bash/git"}}}
	s.tl.Pauses = []analysis.Band{{From: from, To: paused, Cause: "systemic"}}
	s.ok("Edit", "Read", "Bash/git", "Edit")
	s.prompt()
	missing(s)
	return result("faithful", s.done())
}

func recover(s *session, down string) {
	s.call("WebFetch/docs.example.org", "SKIP", "failure", down)
	s.call("WebFetch/docs.example.org", "SKIP", "failure", down)
	s.turn("WebFetch/docs.example.org", "HALF_OPEN")
	s.call("WebFetch/docs.example.org", "PROBE", "failure", down)
	s.turn("WebFetch/docs.example.org", "OPEN")
	s.ok("Read", "Edit")
	s.call("WebSearch", "SKIP", "ok", "")
	for _, t := range []string{"WebSearch", "mcp__tracker__search", "Bash/git", "WebFetch/docs.example.org"} {
		s.turn(t, "HALF_OPEN")
		s.call(t, "PROBE", "ok", "")
		s.turn(t, "")
	}
}

func missing(s *session) {
	gone := "tool_missing: rg: command not found"
	for range 3 {
		s.call("Grep", "CALL", "failure", gone)
	}
	s.turn("Grep", "OPEN")
	s.call("Grep", "SKIP", "failure", gone)
	s.call("Read", "CALL", "ignored", "the user refused")
	s.call("Grep", "SKIP", "failure", gone)
	s.call("Read", "CALL", "open", "")
}

// long is a session of 5,000 calls over 60 tools, beside others.
func long() *analysis.Result {
	rng := rand.New(rand.NewPCG(1, 2))
	list := []analysis.Timeline{longSession(rng, "long", 5000, 60)}
	for i := range 40 {
		list = append(list, longSession(rng, fmt.Sprintf("s%03d", i), 20+rng.IntN(300), 3+rng.IntN(12)))
	}
	return result("interactive", list...)
}

func longSession(rng *rand.Rand, name string, calls, tools int) analysis.Timeline {
	s := newSession(name, "work/"+name+".jsonl.gz", 5)
	open := map[string]int{}
	for s.tl.Calls < calls {
		if s.tl.Calls == 0 || rng.IntN(60) == 0 {
			s.prompt()
		}
		i := min(rng.IntN(tools), rng.IntN(tools), rng.IntN(tools))
		if s.tl.Calls < tools {
			i = s.tl.Calls * 7 % tools // each is there
		}
		tool := fmt.Sprintf("tool_%02d", i)
		switch n := rng.IntN(1000); {
		case open[tool] > 0:
			s.denied(tool, open)
		case n < 4:
			s.outage(tool, open, 4+rng.IntN(20))
		case n < 20:
			s.call(tool, "CALL", "failure", "timeout: no answer after 30s")
		case n < 90:
			s.call(tool, "CALL", "answered", "no match")
		case n < 95:
			s.call(tool, "CALL", "ignored", "cancelled")
		default:
			s.ok(tool)
		}
	}
	return s.done()
}

func (s *session) outage(tool string, open map[string]int, n int) {
	for range 3 {
		s.call(tool, "CALL", "failure", "upstream: 503 from the service")
	}
	s.turn(tool, "OPEN")
	open[tool] = n
}

func (s *session) denied(tool string, open map[string]int) {
	open[tool]--
	outcome := "failure"
	if open[tool] < 2 {
		outcome = "ok"
	}
	if open[tool]%3 != 0 {
		s.call(tool, "SKIP", outcome, "upstream: 503 from the service")
		return
	}
	s.turn(tool, "HALF_OPEN")
	s.call(tool, "PROBE", outcome, "")
	if outcome == "ok" {
		s.turn(tool, "")
		open[tool] = 0
		return
	}
	s.turn(tool, "OPEN")
}

// hostile is what a recording may hold to harm its reader.
func hostile() *analysis.Result {
	const script = `</script><script>window.harmed=1</script>`
	big := make([]rune, 10_000)
	for i := range big {
		big[i] = 'w'
	}
	s := newSession(`"><img src=x onerror=window.harmed=1>`, "=cmd|' /C calc'!A0\u202egnp.exe", 5)
	s.prompt()
	for _, name := range []string{script, `<img src="https://example.org/x.png" onerror="window.harmed=1">`, `=HYPERLINK("https://example.org")`,
		"\u202eRTL\u2066\u2067", "\x1b[31mred\x1b]0;title\x07", "line\u2028and\u2029paragraph\nnew", string(big), "'; window.harmed=1; '", "${window.harmed=1}", "-->", ""} {
		s.call(name, "CALL", "failure", name+" password=hunter2hunter2")
		s.turn(name, "OPEN")
		s.call(name, "SKIP", "failure", "<!--<script>")
	}
	s.tl.Incidents = []analysis.Band{{From: 2, To: 9, Cause: script, Members: []string{script, string(big)}}}
	r := result(script, s.done())
	r.Notes = append(r.Notes, script)
	r.Files = []trace.Stats{{File: script, Problem: "<b>bold</b> " + string(big)}}
	r.Suggested = &analysis.Suggestion{Point: analysis.Point{Policy: script, PolicyYAML: "expediter:\n  # " + script + "\n"}, Why: []string{script}}
	return r
}
