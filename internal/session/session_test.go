package session_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/cascade/classify"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
	"github.com/expediter-go/expediter/expediter/replay"
	"github.com/expediter-go/expediter/internal/session"
	"github.com/expediter-go/expediter/internal/store"
)

var id = store.ID{Agent: "claude-code", Session: "s"}

// epoch is when tests begin.
var epoch = time.Date(2026, 8, 1, 9, 0, 0, 0, time.UTC)

// reporter is what tests and rapid have in common.
type reporter interface {
	Helper()
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
}

// agent plays the hook processes of one session: each event is an Update of its
// own, at the time of the agent's clock.
type agent struct {
	t     reporter
	store *store.Store
	setup session.Setup
	now   time.Time
	last  time.Time     // the latest time of an event
	ahead time.Duration // how much later it is than the clock says, which was put back
}

func (a *agent) clock() time.Time { return a.now.Add(-a.ahead) }

func newAgent(t reporter, dir string) *agent {
	return &agent{t: t, store: store.Open(dir), setup: session.Setup{Policy: expediter.Interactive(), Stamp: "1"}, now: epoch}
}

// do lets one event happen.
func (a *agent) do(f func(*session.Session)) {
	a.t.Helper()
	choose := func(session.Setup) (session.Setup, error) { return a.setup, nil }
	err := session.Update(context.Background(), a.store, id, a.clock(), choose, func(s *session.Session) error {
		f(s)
		return nil
	})
	if err != nil {
		a.t.Fatalf("update: %v", err)
	}
	if a.now.After(a.last) {
		a.last = a.now
	}
}

func (a *agent) before(c session.Call) (r session.Ruling) {
	a.t.Helper()
	a.do(func(s *session.Session) { r = s.Before(c) })
	return r
}

func (a *agent) after(c session.Call) (l session.Learnt) {
	a.t.Helper()
	a.do(func(s *session.Session) { l = s.After(c) })
	return l
}

// line is what a test reads of a journal's line.
type line struct {
	Op      expediter.Op                       `json:"op"`
	Tool    string                             `json:"tool"`
	Step    int64                              `json:"step"`
	At      int64                              `json:"at"`
	Result  *cascade.Outcome                   `json:"result"`
	Decided *struct{ Decision expediter.Verb } `json:"decided"`
	Call    string                             `json:"agent_call"`
}

// journal returns the lines, and requires that they fold to the session's
// engine as it is.
func (a *agent) journal() (lines []line) {
	a.t.Helper()
	err := session.View(context.Background(), a.store, id, a.clock(), func(s *session.Session) error {
		var whole bytes.Buffer
		for raw := range s.Journal() {
			whole.Write(append(raw, '\n'))
			var l line
			if err := json.Unmarshal(raw, &l); err != nil {
				return err
			}
			lines = append(lines, l)
		}
		folded, err := replay.Journal(&whole)
		if err != nil {
			return err
		}
		got, err := json.Marshal(folded.Snapshot)
		if err != nil {
			return err
		}
		want, err := json.Marshal(s.Engine().Snapshot())
		if err != nil {
			return err
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" || folded.Torn != "" {
			a.t.Errorf("the journal folds to another state (-session +journal); torn: %q\n%s", folded.Torn, diff)
		}
		return nil
	})
	if err != nil {
		a.t.Fatalf("view: %v", err)
	}
	return lines
}

// tally is how often the journal tells of a call: its decisions and its ends.
func tally(lines []line) map[string][2]int {
	calls := map[string][2]int{}
	for _, l := range lines {
		n := calls[l.Call]
		switch l.Op {
		case expediter.OpDecide:
			n[0]++
		case expediter.OpRecord:
			n[1]++
		default:
			continue
		}
		calls[l.Call] = n
	}
	return calls
}

func (a *agent) status() (st expediter.Status) {
	a.t.Helper()
	err := session.View(context.Background(), a.store, id, a.clock(), func(s *session.Session) error {
		st = s.Status()
		return nil
	})
	if err != nil {
		a.t.Fatalf("view: %v", err)
	}
	return st
}

func (a *agent) state(tool string) breaker.State {
	a.t.Helper()
	for _, t := range a.status().Tools {
		if t.Tool == tool {
			return t.State
		}
	}
	return breaker.Closed
}

// call is a call of a tool, as it is told before it.
func call(id, tool string) session.Call {
	return session.Call{ID: id, Observation: classify.Observation{
		Protocol: classify.Agent, Agent: classify.ClaudeCode, Tool: tool, Input: json.RawMessage(`{"path":"a"}`)}}
}

// failed and worked are the same call, as it is told after it.
func failed(c session.Call) session.Call {
	c.Observation.Failed, c.Observation.Result = true, "HTTP 503 Service Unavailable"
	return c
}

func worked(c session.Call) session.Call {
	c.Observation.Payload = json.RawMessage(`{"ok":true}`)
	return c
}

// breakTool makes a tool fail until it opens.
func (a *agent) breakTool(tool string) {
	a.t.Helper()
	for i := range expediter.Interactive().FailureThreshold {
		c := call(fmt.Sprint("break-", tool, i), tool)
		if r := a.before(c); r.Verb != expediter.Call {
			a.t.Fatalf("call %d of %s: %v", i, tool, r.Verb)
		}
		a.after(failed(c))
	}
	if got := a.state(tool); got != breaker.Open {
		a.t.Fatalf("%s is %v, want OPEN", tool, got)
	}
}

// Hooks that are installed twice tell everything twice.
func TestToldTwice(t *testing.T) {
	a := newAgent(t, t.TempDir())
	c := call("1", "web")
	first, second := a.before(c), a.before(c)
	if first.Again || !second.Again || first.Verb != expediter.Call || second.Verb != expediter.Call {
		t.Errorf("before: %+v, then %+v", first, second)
	}
	if one, two := a.after(failed(c)), a.after(failed(c)); !one.Counted || two.Counted {
		t.Errorf("after: counted %v, then %v", one.Counted, two.Counted)
	}
	if diff := cmp.Diff(map[string][2]int{"1": {1, 1}}, tally(a.journal())); diff != "" {
		t.Errorf("journal (-want +got):\n%s", diff)
	}
	if r := a.before(c); !r.Again {
		t.Errorf("before, when all is over: %+v", r)
	}
	a.breakTool("web2")
	denied := call("2", "web2")
	if first, second := a.before(denied), a.before(denied); first.Verb != expediter.Skip || second.Verb != expediter.Skip || !second.Again || second.Reason != first.Reason {
		t.Errorf("denied: %+v, then %+v", first, second)
	}
	a.journal()
}

// Calls that are told twice stay one even while very many others fly.
func TestToldTwiceAmongMany(t *testing.T) {
	a := newAgent(t, t.TempDir())
	first := call("first", "web")
	a.do(func(s *session.Session) {
		s.Before(first)
		for i := range 500 {
			s.Before(call(fmt.Sprint("other-", i), "web"))
		}
	})
	if r := a.before(first); !r.Again {
		t.Errorf("before, with 500 others in flight: %+v", r)
	}
	a.after(worked(first))
	if got := tally(a.journal())["first"]; got != [2]int{1, 1} {
		t.Errorf("the first call is told %v times", got)
	}
}

// Some agents do not tell every call before it is made.
func TestAfterWithoutBefore(t *testing.T) {
	a := newAgent(t, t.TempDir())
	for i := range 3 {
		c := call(fmt.Sprint(i), "web")
		if l := a.after(failed(c)); !l.Counted || l.Result.Opened != (i == 2) {
			t.Errorf("failure %d: counted %v, opened %v", i, l.Counted, l.Result.Opened)
		}
		if l := a.after(failed(c)); l.Counted {
			t.Errorf("failure %d counted twice", i)
		}
	}
	if l := a.after(worked(call("round us", "web"))); l.Counted || a.state("web") != breaker.Open {
		t.Errorf("a call that nobody allowed: counted %v, the tool is %v", l.Counted, a.state("web"))
	}
	want := map[string][2]int{"0": {1, 1}, "1": {1, 1}, "2": {1, 1}, "round us": {1, 0}}
	if diff := cmp.Diff(want, tally(a.journal())); diff != "" {
		t.Errorf("journal (-want +got):\n%s", diff)
	}
}

// A call whose end nobody tells, such as one that the user refused, is given
// up at the next prompt: a trial frees its slot, and nothing counts.
func TestBeforeWithoutAfter(t *testing.T) {
	a := newAgent(t, t.TempDir())
	a.breakTool("web")
	a.now = a.now.Add(time.Hour / 2)
	if r := a.before(call("trial", "web")); r.Verb != expediter.Probe {
		t.Fatalf("the trial: %v", r.Verb)
	}
	if r := a.before(call("beside", "web")); r.Verb != expediter.Skip || r.Reason != expediter.ProbeInFlight {
		t.Fatalf("beside the trial: %v, %v", r.Verb, r.Reason)
	}
	a.do(func(s *session.Session) { s.Prompt() })
	if r := a.before(call("trial 2", "web")); r.Verb != expediter.Probe {
		t.Errorf("after the prompt: %v, %v", r.Verb, r.Reason)
	}
	if l := a.after(worked(call("trial", "web"))); l.Counted && l.Result.Closed {
		t.Error("a trial that was given up closed the tool")
	}
	if l := a.after(worked(call("trial 2", "web"))); !l.Counted || !l.Result.Closed {
		t.Errorf("the second trial: %+v", l)
	}
	a.journal()
}

// A session with very many tools stays small, and its journal holds.
func TestManyTools(t *testing.T) {
	const n, most = 5000, 512
	a := newAgent(t, t.TempDir())
	for from := 0; from < n; from += 500 {
		a.do(func(s *session.Session) {
			for i := from; i < from+500; i++ {
				c := call(fmt.Sprint(i), fmt.Sprint("tool", i))
				s.Before(c)
				if i%100 == 0 {
					s.After(failed(c))
				} else if i%3 != 0 {
					s.After(worked(c))
				}
			}
		})
	}
	if got := len(a.status().Tools); got > most {
		t.Errorf("%d tools are kept, want at most %d", got, most)
	}
	lines := a.journal()
	if decided := len(tally(lines)); decided != n {
		t.Errorf("the journal tells of %d calls, want %d", decided, n)
	}
}

// Identical calls side by side, of an agent that gives no ids.
func TestParallelWithoutIDs(t *testing.T) {
	a := newAgent(t, t.TempDir())
	other := call("", "web")
	other.Observation.Input = json.RawMessage(`{"path":"b"}`)
	for range 3 {
		a.before(call("", "web"))
	}
	a.before(other)
	for i := range 3 {
		if l := a.after(worked(call("", "web"))); !l.Counted {
			t.Errorf("end %d does not count", i)
		}
	}
	changed := call("", "web")
	changed.Observation.Input = json.RawMessage(`{"path":"changed by another hook"}`)
	if l := a.after(worked(changed)); !l.Counted {
		t.Error("the end of a call whose arguments were changed does not count")
	}
	if got := tally(a.journal())[""]; got != [2]int{4, 4} {
		t.Errorf("decisions and ends: %v, want 4 of each", got)
	}
}

// A clock that is put back does not hold tools open, and the journal holds.
func TestClockGoesBack(t *testing.T) {
	a := newAgent(t, t.TempDir())
	a.now = a.now.Add(30 * 24 * time.Hour)
	a.breakTool("web")
	a.now = epoch
	trial := -1
	for i := range 6 {
		a.now = a.now.Add(2 * time.Second)
		if r := a.before(call(fmt.Sprint("try-", i), "web")); r.Verb == expediter.Probe {
			trial = i
			break
		}
	}
	if trial != 2 {
		t.Errorf("the trial was request %d, want 2: the third", trial)
	}
	a.journal()
}

// Processes that wait for each other come in another order than they began.
func TestClocksOvertake(t *testing.T) {
	a := newAgent(t, t.TempDir())
	a.before(call("1", "web"))
	a.now = epoch.Add(-2 * time.Second)
	a.before(call("2", "web"))
	a.now = epoch.Add(time.Second)
	a.before(call("3", "web"))
	var at []int64
	for _, l := range a.journal() {
		if l.Op == expediter.OpDecide {
			at = append(at, l.At-epoch.UnixMilli())
		}
	}
	if last := at[len(at)-1]; last != 1000 {
		t.Errorf("times of the calls: %v, want the last at 1000", at)
	}
}

// A session that is taken up after a day: what flew is given up, the clock goes
// on, and an end that is told so late is a call of its own.
func TestResumedAfterADay(t *testing.T) {
	a := newAgent(t, t.TempDir())
	a.breakTool("web")
	a.before(call("night", "grep"))
	a.do(func(s *session.Session) { s.End() })
	a.now = a.now.Add(26 * time.Hour)
	if r := a.before(call("morning", "web")); r.Verb != expediter.Probe {
		t.Errorf("the first call of a tool that was open: %v, want PROBE", r.Verb)
	}
	if l := a.after(failed(call("night", "grep"))); !l.Counted {
		t.Error("the late end does not count")
	}
	if diff := cmp.Diff([2]int{2, 2}, tally(a.journal())["night"]); diff != "" {
		t.Errorf("the call of the night: decided and ended (-want +got):\n%s", diff)
	}
}

// A map that changes in mid-session takes effect at once, with calls in flight,
// and the journal holds.
func TestMapChanges(t *testing.T) {
	a := newAgent(t, t.TempDir())
	a.breakTool("web")
	flying := call("flying", "grep")
	a.before(flying)
	a.setup = session.Setup{Stamp: "2", Policy: expediter.Interactive(), Map: capability.Map{
		{Tool: "web", Provides: "pages", Fallback: "ask", Alternatives: []capability.Alternative{{Tool: "search", Degradation: "excerpts"}}},
		{Tool: "grep", Provides: "search", NoSubstitute: true, Policy: breaker.Policy{FailureThreshold: 1}},
	}}
	r := a.before(call("1", "web"))
	if r.Verb != expediter.Skip || r.Route == nil || r.Route.Tool != "search" {
		t.Errorf("after the change: %v, %+v", r.Verb, r.Route)
	}
	if l := a.after(failed(flying)); !l.Counted || !l.Result.Opened {
		t.Errorf("the call in flight: counted %v, opened %v, want both", l.Counted, l.Result.Opened)
	}
	a.journal()
	a.setup = session.Setup{Stamp: "3", Policy: expediter.Faithful()}
	if r := a.before(call("2", "web")); r.Verb == expediter.Call {
		t.Errorf("after the map is gone: %v; the tool was open", r.Verb)
	}
	starts := 0
	for _, l := range a.journal() {
		if l.Op == expediter.OpStart {
			starts++
		}
	}
	if starts != 3 {
		t.Errorf("%d start events, want one for each setup", starts)
	}
}

// A start event holds the map and the state, and a session of many large entries
// and failing tools still begins a segment.
func TestALargeStart(t *testing.T) {
	a := newAgent(t, t.TempDir())
	a.setup.Policy.Budget, a.setup.Policy.ChargePerTool, a.setup.Policy.Cascade.MinTools = 1000, 1000, 1000
	a.do(func(s *session.Session) {
		for i := range 20 {
			for n := range 3 {
				c := failed(call(fmt.Sprint(i, "-", n), fmt.Sprint("host", i)))
				c.Observation.Result += strings.Repeat(" é", 1000)
				s.Before(c)
				s.After(c)
			}
		}
	})
	for i := range 1100 {
		a.setup.Map = append(a.setup.Map, capability.Entry{Tool: fmt.Sprint("tool", i), Fallback: strings.Repeat("f", 1000)})
	}
	a.setup.Stamp = "2"
	a.before(call("1", "web"))
	if lines := a.journal(); lines[len(lines)-2].Op != expediter.OpStart {
		t.Errorf("the last events: %v, want a start and a call", lines[len(lines)-2:])
	}
	if got := a.state("host19"); got != breaker.Open {
		t.Errorf("a tool that was open is %v", got)
	}
}

// Ids of any length and content are bounded, and still pair.
func TestHostileIDs(t *testing.T) {
	a := newAgent(t, t.TempDir())
	long := call(strings.Repeat("\x1b[31m\xff", 100_000), "web")
	long.Subagent = strings.Repeat("s", 100_000)
	a.before(long)
	if l := a.after(worked(long)); !l.Counted {
		t.Error("the end does not count")
	}
	for _, l := range a.journal() {
		if len(l.Call) > 256 {
			t.Errorf("an id of %d bytes is in the journal", len(l.Call))
		}
	}
}
