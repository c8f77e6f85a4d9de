package proof

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/replay"
)

// accepted is one entry of the fleet's log. Its time is Redis's, of the same machine.
type accepted struct {
	at     time.Time
	member string
	change expediter.Change
}

// readLog reads the whole log of the rig's scope.
func (r *rig) readLog() []accepted {
	r.t.Helper()
	entries, err := r.client.XRange(r.t.Context(), "expediter:{"+r.scope+"}:log", "-", "+").Result()
	if err != nil {
		r.t.Fatal(err)
	}
	var log []accepted
	for _, m := range entries {
		ms, _, _ := strings.Cut(m.ID, "-")
		n, err := strconv.ParseInt(ms, 10, 64)
		if err != nil {
			r.t.Fatal(err)
		}
		a := accepted{at: time.UnixMilli(n)}
		a.member, _ = m.Values["m"].(string)
		text, _ := m.Values["c"].(string)
		if err := json.Unmarshal([]byte(text), &a.change); err != nil {
			continue // a test put it there
		}
		log = append(log, a)
	}
	return log
}

// own is one thing that a member came to by itself, from its journal.
type own struct {
	at                   time.Time
	member, tool, change string // "CLOSED->OPEN"
}

// readJournals replays every member's journal, which must give what it says, and
// returns what the members came to by themselves.
func (r *rig) readJournals() []own {
	r.t.Helper()
	var all []own
	for _, p := range r.members {
		data, err := os.ReadFile(p.cfg.Journal)
		if err != nil {
			r.t.Fatal(err)
		}
		if _, err := replay.Journal(strings.NewReader(string(data))); err != nil {
			r.t.Errorf("%s: its journal does not replay: %v", p.cfg.Name, err)
		}
		in := replay.NewReader(strings.NewReader(string(data)))
		for {
			ev, err := in.Next()
			if err != nil {
				break // the end; whatever else it is, the replay has said
			}
			for _, move := range ev.Transitions {
				if ev.Op != expediter.OpRecord {
					continue
				}
				tool, change, _ := strings.Cut(move, ":")
				change, _, _ = strings.Cut(change, "@")
				all = append(all, own{time.UnixMilli(ev.At), p.cfg.Name, tool, change})
			}
		}
	}
	return all
}

// evidence is all that a fleet has left behind.
type evidence struct {
	log    []accepted // in its order
	visits []visit    // in the order of their beginnings
	owns   []own
	lapses []lapse
}

// check holds the rig's fleet to its invariants; see evidence.faults.
func (r *rig) check() {
	r.t.Helper()
	e := evidence{log: r.readLog(), visits: r.tools.seen(), owns: r.readJournals(), lapses: r.lapses}
	if len(e.log) == 0 {
		r.t.Error("the log is empty, so nothing is proved")
	}
	for _, fault := range e.faults() {
		r.t.Error(fault)
	}
}

// faults are the invariants that do not hold: the log is a possible one; of the
// trials of one generation one is counted, and one made unless there was a lapse;
// tokens only grow; each counted trial was one; no opening is lost.
func (e evidence) faults() []string {
	var found []string
	for tool, log := range e.byTool() {
		found = append(found, possible(tool, log)...)
		found = append(found, e.oneTrial(tool, log)...)
		found = append(found, e.lostOpenings(tool, log)...)
	}
	return append(found, e.tokens()...)
}

func (e evidence) byTool() map[string][]accepted {
	logs := map[string][]accepted{}
	for _, a := range e.log {
		if a.change.Tool != "" {
			logs[a.change.Tool] = append(logs[a.change.Tool], a)
		}
	}
	return logs
}

func open(k expediter.ChangeKind) bool {
	return k == expediter.ChangeOpened || k == expediter.ChangeProbeFailed
}

// possible holds that openings and trials alternate as a breaker's do.
func possible(tool string, log []accepted) []string {
	var found []string
	state := false
	for _, a := range log {
		trial := a.change.Kind == expediter.ChangeProbeFailed || a.change.Kind == expediter.ChangeClosed
		if a.change.Kind == expediter.ChangeOpened && state || trial && !state {
			found = append(found, fmt.Sprintf("%s: %s by %s while open is %v", tool, a.change.Kind, a.member, state))
		}
		state = open(a.change.Kind)
	}
	return found
}

// oneTrial holds that between two entries of the log at most one trial with a lease
// began, and that each entry that a trial led to had one that ended so.
func (e evidence) oneTrial(tool string, log []accepted) []string {
	var found []string
	for i, a := range log {
		if !open(a.change.Kind) {
			continue
		}
		begin, end := a.at.Add(time.Millisecond), time.Now() // the log's times are cut to milliseconds
		if i+1 < len(log) {
			end = log[i+1].at.Add(time.Millisecond)
		}
		made, fits := 0, 0
		for _, v := range e.visits {
			if v.tool != tool || v.tag == "alone" || v.from.Before(begin) || !v.from.Before(end) {
				continue
			}
			made++
			if i+1 < len(log) && v.member == log[i+1].member && !v.to.IsZero() && v.ok == (log[i+1].change.Kind == expediter.ChangeClosed) {
				fits++
			}
		}
		if made > 1 && !e.lapsed(a.at, end) {
			found = append(found, fmt.Sprintf("%s: %d trials between %v and %v", tool, made, a.at, end))
		}
		if i+1 < len(log) && log[i+1].change.Kind != expediter.ChangeReset && fits == 0 && !e.aloneBy(tool, log[i+1].member) {
			found = append(found, fmt.Sprintf("%s: %s by %s at %v without a trial of its own", tool, log[i+1].change.Kind, log[i+1].member, log[i+1].at))
		}
	}
	return found
}

// aloneBy reports whether a member has tried the tool without a fleet: that its
// word counts then is another matter than leases.
func (e evidence) aloneBy(tool, member string) bool {
	for _, v := range e.visits {
		if v.tool == tool && v.member == member && v.tag == "alone" {
			return true
		}
	}
	return false
}

func (e evidence) lapsed(from, to time.Time) bool {
	for _, l := range e.lapses {
		if from.Before(l.to) && l.from.Before(to) {
			return true
		}
	}
	return false
}

// tokens holds that a later trial has a greater token. In a lapse a member whose
// outcome did not get through may be given its own lease again.
func (e evidence) tokens() []string {
	var found []string
	latest := map[string]uint64{}
	before := map[string]visit{}
	for _, v := range e.visits {
		token, err := strconv.ParseUint(v.tag, 10, 64)
		if err != nil {
			continue // alone
		}
		was := before[v.tool]
		again := token == latest[v.tool] && was.member == v.member && e.lapsed(was.from, v.from)
		if token <= latest[v.tool] && !again {
			found = append(found, fmt.Sprintf("%s: %s came with token %d at %v after %s with %d at %v", v.tool, v.member, token, v.from,
				was.member, latest[v.tool], was.from))
		}
		latest[v.tool], before[v.tool] = token, v
	}
	return found
}

// lostOpenings holds that what a member opened is open in the log soon after, or,
// in a lapse, once that is over; unless the member has closed it meanwhile.
func (e evidence) lostOpenings(tool string, log []accepted) []string {
	var found []string
	for i, o := range e.owns {
		if o.tool != tool || o.change != "CLOSED->OPEN" {
			continue
		}
		until := o.at.Add(2 * time.Second)
		for _, l := range e.lapses {
			if o.at.After(l.from.Add(-time.Second)) && o.at.Before(l.to) {
				until = l.to.Add(2 * time.Second)
			}
		}
		if !openBetween(log, o.at.Add(-time.Millisecond), until) && !e.closedBy(i, until) {
			found = append(found, fmt.Sprintf("%s: the opening by %s at %v is in no log", tool, o.member, o.at))
		}
	}
	return found
}

func openBetween(log []accepted, from, to time.Time) bool {
	is := false
	for _, a := range log {
		if a.at.After(to) {
			return is
		}
		if is = open(a.change.Kind); is && !a.at.Before(from) {
			return true
		}
		if !is && !a.at.Before(from) {
			return true // it was open until then
		}
	}
	return is
}

// closedBy reports whether the member of an opening closed the tool itself in time.
func (e evidence) closedBy(i int, until time.Time) bool {
	for _, o := range e.owns[i+1:] {
		if o.member == e.owns[i].member && o.tool == e.owns[i].tool && o.change == "HALF_OPEN->CLOSED" && o.at.Before(until) {
			return true
		}
	}
	return false
}

// The checker finds what it is there to find.
func TestCheckerFindsFaults(t *testing.T) {
	at := func(ms int) time.Time { return time.UnixMilli(1_700_000_000_000 + int64(ms)) }
	entry := func(ms int, member string, kind expediter.ChangeKind) accepted {
		return accepted{at(ms), member, expediter.Change{Kind: kind, Tool: "Grep"}}
	}
	trial := func(ms int, member, tag string, ok bool) visit {
		return visit{tool: "Grep", member: member, tag: tag, from: at(ms), to: at(ms + 1), ok: ok}
	}
	log := []accepted{entry(0, "a", expediter.ChangeOpened), entry(100, "b", expediter.ChangeProbeFailed), entry(200, "a", expediter.ChangeClosed)}
	visits := []visit{trial(98, "b", "1", false), trial(198, "a", "2", true)}
	tests := []struct {
		name string
		e    evidence
		want int
	}{
		{"as it should be", evidence{log: log, visits: visits, owns: []own{{at(0), "a", "Grep", "CLOSED->OPEN"}}}, 0},
		{"two trials in a generation", evidence{log: log, visits: []visit{visits[0], trial(150, "c", "2", false), trial(198, "a", "3", true)}}, 1},
		{"the same in a lapse", evidence{log: log, visits: []visit{visits[0], trial(150, "c", "2", false), trial(198, "a", "3", true)},
			lapses: []lapse{{at(140), at(190)}}}, 0},
		{"two trials with one lease", evidence{log: log, visits: []visit{visits[0], trial(198, "a", "1", true)}}, 1},
		{"an older lease later", evidence{log: log, visits: []visit{trial(98, "b", "5", false), visits[1]}}, 1},
		{"counted without a trial", evidence{log: log, visits: visits[:1]}, 1},
		{"counted against its outcome", evidence{log: log, visits: []visit{visits[0], trial(198, "a", "2", false)}}, 1},
		{"opened twice", evidence{log: []accepted{log[0], entry(50, "b", expediter.ChangeOpened)}, visits: []visit{trial(49, "b", "1", false)}}, 1},
		{"closed twice", evidence{log: append(log[:3:3], entry(250, "b", expediter.ChangeClosed)), visits: visits}, 1},
		{"a lost opening", evidence{log: log, visits: visits, owns: []own{{at(9000), "a", "Grep", "CLOSED->OPEN"}}}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.e.faults(); len(got) != tt.want {
				t.Errorf("got %d faults, want %d: %q", len(got), tt.want, got)
			}
		})
	}
}
