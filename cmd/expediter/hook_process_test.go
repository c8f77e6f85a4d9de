package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/replay"
	"github.com/expediter-go/expediter/integration/hook"
	"github.com/expediter-go/expediter/internal/session"
	"github.com/expediter-go/expediter/internal/store"
)

// hookProcess is the command as an agent runs it, on the store in dir.
func hookProcess(ctx context.Context, dir string, in []byte) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "expediter", "hook", claude.Agent)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "EXPEDITER_STORE=" + dir, "EXPEDITER_MAP=" + filepath.Join(dir, "map.yaml"),
		"GORACE=atexit_sleep_ms=0"} // see setup
	cmd.Stdin = bytes.NewReader(in)
	return cmd
}

// processStore is a store for hook processes, with a map that lets failures do
// nothing but open their tool.
func processStore(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	text := "expediter:\n  policy: interactive\n  budget: -1\n  cascade:\n    min_tools: 100\ncapability_map: []\n"
	if err := os.WriteFile(filepath.Join(dir, "map.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A few incidents through the real command, each call a process of its own. They
// follow each other fast, so no trial is due in time.
func TestHookIncidentProcesses(t *testing.T) {
	dir := t.TempDir()
	serve := func(in []byte, _ time.Time) (out hook.Output, err error) {
		cmd := hookProcess(t.Context(), dir, in)
		cmd.Env = slices.DeleteFunc(cmd.Env, func(v string) bool { return strings.HasPrefix(v, "EXPEDITER_MAP=") })
		out.Stdout, err = cmd.Output()
		return out, err
	}
	r := rehearsal{t: t, store: store.Open(dir), serve: serve}
	for _, rec := range recordedIncidents(t) {
		if len(rec.calls) > 8 {
			continue
		}
		out := r.replay(rec)
		out.check(t, rec)
	}
	noTrouble(t, dir)
}

// noTrouble: no hook process had anything to complain of.
func noTrouble(t testing.TB, dir string) {
	t.Helper()
	log, err := os.ReadFile(filepath.Join(dir, "hook.log"))
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("hook.log: %v\n%.2000s", err, log)
	}
}

// told is how often a journal tells of a call.
type told struct {
	Decided, Ended int
	Allowed        bool // as last decided
}

// journal folds the journal of a session, compares what it folds to with the
// session's engine, and counts its calls.
func journal(t testing.TB, dir, name string) map[string]told {
	t.Helper()
	calls := map[string]told{}
	err := session.View(t.Context(), store.Open(dir), store.ID{Agent: claude.Agent, Session: name}, time.Now(), func(s *session.Session) error {
		if p := s.Setup().Problem; p != "" {
			t.Errorf("%s: the map was not used: %s", name, p)
		}
		var whole bytes.Buffer
		for line := range s.Journal() {
			whole.Write(append(line, '\n'))
			var ev struct {
				Op      expediter.Op
				Decided *expediter.Decided
				Call    string `json:"agent_call"`
			}
			if err := json.Unmarshal(line, &ev); err != nil {
				return err
			}
			n := calls[ev.Call]
			switch ev.Op {
			case expediter.OpDecide:
				n.Decided++
				n.Allowed = ev.Decided.Decision >= expediter.Probe
			case expediter.OpRecord:
				n.Ended++
			}
			calls[ev.Call] = n
		}
		folded, err := replay.Journal(&whole)
		if err != nil {
			return err
		}
		if folded.Torn != "" {
			t.Errorf("%s: %s", name, folded.Torn)
		}
		if diff := cmp.Diff(asJSON(t, folded.Snapshot), asJSON(t, s.Engine().Snapshot())); diff != "" {
			t.Errorf("%s: the journal folds to another state (-journal +session):\n%s", name, diff)
		}
		return nil
	})
	if err != nil {
		t.Errorf("%s: %v", name, err)
	}
	delete(calls, "")
	return calls
}

func asJSON(t testing.TB, v any) string {
	t.Helper()
	data, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// Thirty-two hook processes at once on one session: none fails, none gives up
// waiting, and the journal tells each event once.
func TestHookAtOnce(t *testing.T) {
	const n = 32
	dir := processStore(t)
	var waves [3][]hookInput
	for i := range n {
		c := recorded{Tool: []string{"Read", "Bash", "mcp__db__query", "Grep"}[i%4], Program: "git", Status: "ok"}
		if i%8 == 0 {
			c.Status, c.Signature = "fail", "HTTP 503 Service Unavailable"
		}
		id := fmt.Sprintf("call-%d", i)
		before := c.before("s", id)
		after, _ := c.after("s", id)
		if i%2 == 1 {
			before.Subagent, after.Subagent = "sub", "sub"
		}
		waves[0] = append(waves[0], before)
		if i < n/2 {
			waves[1] = append(waves[1], after)
			late := before
			late.ID = fmt.Sprintf("late-%d", i)
			waves[1] = append(waves[1], late)
		} else {
			waves[2] = append(waves[2], after)
		}
	}
	for range n / 8 {
		for _, event := range []string{"SessionStart", "SubagentStop", "PostToolBatch", "Notification"} {
			waves[2] = append(waves[2], hookInput{Session: "s", Cwd: "/w", Event: event, Subagent: "other"})
		}
	}
	for i, wave := range waves {
		took := atOnce(t, dir, wave)
		t.Logf("wave %d: %d processes at once, from start to exit: median %v, longest %v", i+1, len(wave), took[len(took)/2], took[len(took)-1])
	}
	noTrouble(t, dir)
	calls := journal(t, dir, "s")
	want := map[string]told{}
	for i := range n {
		want[fmt.Sprintf("call-%d", i)] = told{Decided: 1, Ended: 1, Allowed: true}
		if i < n/2 {
			want[fmt.Sprintf("late-%d", i)] = told{Decided: 1, Allowed: true}
		}
	}
	if diff := cmp.Diff(want, calls); diff != "" {
		t.Errorf("decisions and ends of each call (-want +got):\n%s", diff)
	}
}

// atOnce starts a process for each event, all at once, and returns how long
// each took, the longest last.
func atOnce(t *testing.T, dir string, events []hookInput) []time.Duration {
	took := make([]time.Duration, len(events))
	var start, done sync.WaitGroup
	start.Add(1)
	for i, in := range events {
		cmd := hookProcess(t.Context(), dir, in.json())
		done.Go(func() {
			start.Wait()
			began := time.Now()
			if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("%s %s: %v: %s", in.Event, in.ID, err, out)
			}
			took[i] = time.Since(began).Round(time.Millisecond / 10)
		})
	}
	start.Done()
	done.Wait()
	slices.Sort(took)
	return took
}

var kills = flag.Int("kills", 1000, "hook calls that are made while processes are killed")

// Hook processes that are killed at any instant: what was answered is kept, the
// next call is answered at once, and the session is whole.
func TestHookKilled(t *testing.T) {
	dir := processStore(t)
	const sessions = 2
	var butchers [2 * sessions]*butcher
	var wg sync.WaitGroup
	for i := range butchers {
		b := &butcher{t: t, dir: dir, session: fmt.Sprint("s", i%sessions), name: fmt.Sprint("agent", i),
			dice: rand.New(rand.NewPCG(7, uint64(i))), limit: 20 * time.Millisecond}
		butchers[i] = b
		wg.Go(func() { b.work(*kills / len(butchers)) })
	}
	wg.Wait()
	killed := 0
	for _, b := range butchers {
		killed += b.killed
	}
	t.Logf("%d hook calls, %d killed", *kills, killed)
	if killed*10 < *kills || killed*10 > *kills*9 {
		t.Errorf("%d of %d calls killed; that proves little", killed, *kills)
	}
	for i := range sessions {
		name := fmt.Sprint("s", i)
		began := time.Now()
		last := recorded{Tool: "Read", Status: "ok"}.before(name, "last")
		if out, err := hookProcess(t.Context(), dir, last.json()).CombinedOutput(); err != nil || reasonOf(hook.Output{Stdout: out}) != "" {
			t.Errorf("the call after all: %v: %s", err, out)
		}
		t.Logf("%s: the call after all took %v", name, time.Since(began))
		calls := journal(t, dir, name)
		if calls["last"].Decided != 1 {
			t.Errorf("%s: the call after all: %+v", name, calls["last"])
		}
		for _, b := range butchers {
			if b.session == name {
				b.check(calls)
			}
		}
	}
	noTrouble(t, dir)
	onlySessions(t, dir, sessions)
}

// onlySessions: the store has its sessions with their locks, and nothing else.
func onlySessions(t *testing.T, dir string, n int) {
	t.Helper()
	files, err := os.ReadDir(filepath.Join(dir, "sessions"))
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, f := range files {
		count[filepath.Ext(f.Name())]++
	}
	if diff := cmp.Diff(map[string]int{".session": n, ".lock": n}, count); diff != "" {
		t.Errorf("files by ending (-want +got):\n%s", diff)
	}
	if aside, err := store.Open(dir).Aside(); err != nil || len(aside) > 0 {
		t.Errorf("set aside: %v, %v", aside, err)
	}
}

// butcher plays an agent whose hook processes are killed.
type butcher struct {
	t             testing.TB
	dir           string
	session, name string
	dice          *rand.Rand
	limit         time.Duration // that about half of the processes live through
	killed        int
	answered      map[string]*answers
}

// answers are of the processes before and after one call: each is true if its
// process came to its end.
type answers struct{ before, after bool }

// work makes n hook calls.
func (b *butcher) work(n int) {
	b.answered = map[string]*answers{}
	for i := 0; n > 0; i++ {
		id := fmt.Sprint(b.name, "-", i)
		c := recorded{Tool: fmt.Sprint("tool", b.dice.IntN(4)), Status: "ok"}
		if b.dice.IntN(3) == 0 {
			c.Status, c.Signature = "fail", "HTTP 503 Service Unavailable"
		}
		seen := &answers{}
		b.answered[id] = seen
		denied := b.call(c.before(b.session, id), &seen.before)
		n--
		if after, ok := c.after(b.session, id); ok && !denied && n > 0 {
			b.call(after, &seen.after)
			n--
		}
	}
}

// call runs a process and kills it after a while, if it is still there.
func (b *butcher) call(in hookInput, answered *bool) (denied bool) {
	ctx, cancel := context.WithTimeout(b.t.Context(), time.Duration(b.dice.Int64N(int64(2*b.limit))))
	defer cancel()
	began := time.Now()
	out, err := hookProcess(ctx, b.dir, in.json()).Output()
	if err != nil {
		b.killed++
		b.limit += b.limit / 32 // or none lives on a slow machine
		if ctx.Err() == nil {
			b.t.Errorf("%s of %s: %v", in.Event, in.ID, err)
		}
		return false
	}
	b.limit = (7*b.limit + time.Since(began)) / 8
	*answered = true
	return reasonOf(hook.Output{Stdout: out}) != ""
}

// check compares what was answered with what is there. A call that was not
// allowed has no end: either nobody told the agent so, since the process was
// killed, or the agent went round us.
func (b *butcher) check(calls map[string]told) {
	for id, answered := range b.answered {
		c := calls[id]
		lost := (answered.before || answered.after) && c.Decided == 0 || answered.after && c.Allowed && c.Ended == 0
		if lost || c.Decided > 1 || c.Ended > 1 {
			b.t.Errorf("%s: answered %+v, and the journal tells %+v", id, *answered, c)
		}
	}
}
