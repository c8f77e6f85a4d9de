package replay_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/replay"
)

const atMS = 1_700_000_000_000

var moment = time.UnixMilli(atMS)

// naive lays a policy over a session the slow way: it runs an engine with a
// journal, and counts from what the journal says.
type naive struct {
	engine   *expediter.Engine
	journal  []expediter.Event
	ids      map[int]expediter.CallID
	verbs    map[int]expediter.Verb
	prompted bool
	paused   bool
	tally    replay.Tally
}

func newNaive(t *rapid.T, p expediter.Policy) *naive {
	n := &naive{ids: map[int]expediter.CallID{}, verbs: map[int]expediter.Verb{}}
	var err error
	n.engine, err = expediter.New(expediter.Config{Policy: p, Events: expediter.Events{
		Journal: func(ev *expediter.Event) { n.journal = append(n.journal, *ev) }}})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func (n *naive) prompt() {
	n.engine.ConfirmRecovery("", 0, moment)
	n.engine.BeginCycle(0, moment)
}

func (n *naive) issue(call int, tool string, step int64) {
	if n.paused && !n.prompted {
		n.prompt()
	}
	n.paused = false
	d := n.engine.Decide(tool, step, moment)
	n.ids[call], n.verbs[call] = d.Call, d.Verb
	n.paused = d.Verb == expediter.Pause
}

func (n *naive) result(call int, o expediter.Outcome, step int64) {
	if n.verbs[call].Go() {
		n.engine.Record(n.ids[call], o, step, moment)
	}
	if n.verbs[call] == expediter.Skip && o.Result == cascade.Failed {
		n.tally.Saved++
	}
	if n.verbs[call] == expediter.Skip && o.Result == cascade.Succeeded {
		n.tally.Lost++
	}
}

// count reads the journal.
func (n *naive) count() replay.Tally {
	pausing := false
	for _, ev := range n.journal {
		if d := ev.Decided; d != nil {
			n.tally.Calls++
			for verb, counter := range map[expediter.Verb]*int{expediter.Probe: &n.tally.Probes, expediter.Skip: &n.tally.Skipped, expediter.Pause: &n.tally.Paused} {
				if d.Decision == verb {
					*counter++
				}
			}
			continue
		}
		n.tally.Openings += openings(ev.Transitions)
		if ev.Systemic != nil {
			n.tally.Incidents++
		}
		if ev.Error == "" && ev.Op != expediter.OpStart {
			if ev.Paused != expediter.NoReason && !pausing {
				n.tally.Pauses++
			}
			pausing = ev.Paused != expediter.NoReason
		}
	}
	return n.tally
}

func openings(transitions []string) (n int) {
	for _, tr := range transitions {
		if strings.Contains(tr, ":CLOSED->OPEN@") {
			n++
		}
	}
	return n
}

func TestWhatIfAgainstANaiveCount(t *testing.T) {
	tools := []string{"a", "b", "c"}
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SampledFrom([]expediter.Policy{{}, expediter.Interactive(), {Budget: 2}, {Budget: 30}}).Draw(t, "policy")
		w, err := replay.NewWhatIf(expediter.Config{Policy: p})
		if err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(1, 2).Draw(t, "sessions") {
			n := newNaive(t, p)
			open := []int{}
			step := int64(1)
			for call := range rapid.IntRange(0, 80).Draw(t, "calls") {
				step += int64(rapid.IntRange(0, 1).Draw(t, "step"))
				if rapid.IntRange(0, 15).Draw(t, "prompt") == 0 {
					w.Prompt(step, atMS)
					n.prompt()
					n.prompted, n.paused = true, false
				}
				tool := rapid.SampledFrom(tools).Draw(t, "tool")
				d := w.Issue(call, tool, step, atMS)
				n.issue(call, tool, step)
				if d.Verb != n.verbs[call] {
					t.Fatalf("call %d: got %v, want %v", call, d.Verb, n.verbs[call])
				}
				open = append(open, call)
				for len(open) > 0 && rapid.IntRange(0, 2).Draw(t, "result") > 0 {
					i := rapid.IntRange(0, len(open)-1).Draw(t, "of")
					o := outcomeOf(rapid.SampledFrom([]rune("FFFSSI")).Draw(t, "outcome"))
					w.Result(open[i], o, step, atMS)
					n.result(open[i], o, step)
					open = append(open[:i], open[i+1:]...)
				}
			}
			if diff := cmp.Diff(n.count(), w.End()); diff != "" {
				t.Fatalf("tally (-want +got):\n%s", diff)
			}
		}
	})
}
