package session_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/replay"
	"github.com/expediter-go/expediter/internal/session"
	"github.com/expediter-go/expediter/internal/store"
)

var mirrored = store.ID{Agent: session.AgentProxy, Session: "client"}

// living is an engine that lives in this process, and its mirror.
type living struct {
	t       reporter
	dir     string
	store   *store.Store
	engine  *expediter.Engine
	mirror  *session.Mirror
	now     time.Time
	waiting int
}

func newLiving(t reporter, dir string) *living {
	t.Helper()
	l := &living{t: t, dir: dir, store: store.Open(dir), now: epoch}
	setup := session.Setup{Policy: expediter.Interactive(), Stamp: "1", Source: "test", Stepless: true, MaxTools: expediter.DefaultMaxTools}
	meta := session.Meta{Agent: mirrored.Agent, Session: mirrored.Session, Began: epoch.UnixMilli(), Client: "test"}
	l.mirror = session.NewMirror(l.store, meta, setup)
	var err error
	l.engine, err = expediter.New(expediter.Config{Policy: setup.Policy, Stepless: true,
		Events: expediter.Events{Journal: func(ev *expediter.Event) { l.waiting = l.mirror.Event(ev) }}})
	if err != nil {
		t.Fatalf("%v", err)
	}
	return l
}

// call is one call of a tool, if the engine lets it be made.
func (l *living) call(tool string, failed bool) {
	l.now = l.now.Add(time.Second)
	d := l.engine.Decide(tool, expediter.NoStep, l.now)
	if d.Call == 0 {
		return
	}
	o := expediter.Outcome{Result: cascade.Succeeded}
	if failed {
		o = expediter.Outcome{Result: cascade.Failed, Category: cascade.Network, Text: "connect ECONNREFUSED <a>"}
	}
	if _, err := l.engine.Record(d.Call, o, expediter.NoStep, l.now); err != nil {
		l.t.Fatalf("record: %v", err)
	}
}

func (l *living) write() {
	l.t.Helper()
	if err := l.mirror.Write(context.Background(), l.engine.Snapshot(), nil); err != nil {
		l.t.Fatalf("write: %v", err)
	}
}

// journal is what the store has, after a look whether the state is the engine's.
func (l *living) journal() []byte {
	l.t.Helper()
	var b bytes.Buffer
	err := session.View(context.Background(), l.store, mirrored, l.now, func(s *session.Session) error {
		for line := range s.Journal() {
			b.Write(append(bytes.Clone(line), '\n'))
		}
		if got, want := text(s.Status().Tools), text(l.engine.Status().Tools); got != want {
			l.t.Errorf("the store's tools differ:\n%s\n%s", got, want)
		}
		if got, want := s.Status().Consumed, l.engine.Status().Consumed; got != want {
			l.t.Errorf("consumed %d, want %d", got, want)
		}
		return nil
	})
	if err != nil {
		l.t.Fatalf("view: %v", err)
	}
	return b.Bytes()
}

func text(v any) string {
	data, _ := json.Marshal(v)
	return string(data)
}

// replays requires that a journal folds to the engine's state, but for the numbers
// of its events.
func (l *living) replays(journal []byte) {
	l.t.Helper()
	end, err := replay.Journal(bytes.NewReader(journal))
	if err != nil {
		l.t.Fatalf("replay: %v\n%s", err, journal)
	}
	got, want := end.Snapshot, l.engine.Snapshot()
	got.EventSeq, want.EventSeq = 0, 0
	if diff := cmp.Diff(text(want), text(got)); diff != "" {
		l.t.Errorf("the journal folds to another state (-engine +journal):\n%s", diff)
	}
}

func TestMirror(t *testing.T) {
	l := newLiving(t, t.TempDir())
	for i := range 5 {
		l.call(fmt.Sprint("tool", i%2), i > 1)
		l.write()
	}
	l.write() // nothing new
	journal := l.journal()
	l.replays(journal)
	if got := bytes.Count(journal, []byte(`"op":"start"`)); got != 1 {
		t.Errorf("%d starts, want one\n%s", got, journal)
	}
	if !strings.Contains(string(journal), "<a>") {
		t.Error("a text was escaped")
	}
	l.mirror.End()
	l.write()
	all, err := session.List(t.Context(), l.store)
	if err != nil || len(all) != 1 || !all[0].Ended || !all[0].Mirrored() || all[0].Client != "test" || all[0].Seen != l.now.UnixMilli() {
		t.Errorf("got %+v, error %v", all, err)
	}
}

func TestMirrorIsBehind(t *testing.T) {
	l := newLiving(t, t.TempDir())
	l.call("a", false)
	s := l.engine.Snapshot()
	s.EventSeq++
	if err := l.mirror.Write(t.Context(), s, nil); !errors.Is(err, session.ErrBehind) {
		t.Errorf("got %v, want %v", err, session.ErrBehind)
	}
	l.write()
}

// Events that come after the snapshot wait for the next.
func TestMirrorKeepsOrder(t *testing.T) {
	l := newLiving(t, t.TempDir())
	l.call("a", false)
	early := l.engine.Snapshot()
	l.call("a", true)
	if err := l.mirror.Write(t.Context(), early, nil); err != nil {
		t.Fatal(err)
	}
	err := session.View(t.Context(), l.store, mirrored, l.now, func(s *session.Session) error {
		n := 0
		for range s.Journal() {
			n++
		}
		if n != int(early.EventSeq) {
			t.Errorf("%d events are written, want %d", n, early.EventSeq)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	l.write()
	l.replays(l.journal())
}

// What waits is bounded. Beyond the bound the journal begins with the state.
func TestMirrorIsBounded(t *testing.T) {
	l := newLiving(t, t.TempDir())
	l.call("a", true)
	l.write()
	most := 0
	for range 1<<13 + 10 { // two events each
		l.call("a", false)
		most = max(most, l.waiting)
	}
	if most > 1<<14 || l.waiting > 100 {
		t.Errorf("%d events waited, and %d do after the bound", most, l.waiting)
	}
	l.write()
	l.call("a", false)
	l.write()
	journal := l.journal()
	l.replays(journal)
	if n := bytes.Count(journal, []byte("\n")); n != 3 {
		t.Errorf("%d lines, want the start and one call:\n%s", n, journal)
	}
}

// A long journal goes on in segments.
func TestMirrorOfManyEvents(t *testing.T) {
	l := newLiving(t, t.TempDir())
	for i := range 10_500 {
		l.call("a", i%100 == 0)
		if i%500 == 499 {
			l.write()
		}
	}
	journal := l.journal()
	l.replays(journal)
	if got := bytes.Count(journal, []byte(`"op":"start"`)); got != 2 {
		t.Errorf("%d starts, want two", got)
	}
}

// A session that was pruned or set aside meanwhile begins anew with its state.
func TestMirrorIsLost(t *testing.T) {
	l := newLiving(t, t.TempDir())
	l.call("a", true)
	l.write()
	files, _ := filepath.Glob(filepath.Join(l.dir, "sessions", "*.session"))
	if len(files) != 1 {
		t.Fatalf("got the files %v, want one", files)
	}
	if err := os.Remove(files[0]); err != nil {
		t.Fatal(err)
	}
	l.call("a", true)
	l.write()
	l.call("b", false)
	l.write()
	l.replays(l.journal())
}

// A store that cannot be written keeps nothing, and what was told waits.
func TestMirrorWaitsForItsStore(t *testing.T) {
	dir := t.TempDir()
	l := newLiving(t, filepath.Join(dir, "store"))
	if err := os.WriteFile(l.dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	l.call("a", true)
	if err := l.mirror.Write(t.Context(), l.engine.Snapshot(), nil); err == nil {
		t.Error("a file is a store")
	}
	if err := os.Remove(l.dir); err != nil {
		t.Fatal(err)
	}
	l.write()
	l.replays(l.journal())
}

func TestMirrorModel(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		at, err := os.MkdirTemp(dir, "")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(at)
		l := newLiving(t, at)
		written := false
		t.Repeat(map[string]func(*rapid.T){
			"call": func(t *rapid.T) {
				l.call(rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "tool"), rapid.Bool().Draw(t, "failed"))
			},
			"control": func(t *rapid.T) {
				switch rapid.IntRange(0, 3).Draw(t, "which") {
				case 0:
					l.engine.BeginCycle(expediter.NoStep, l.now)
				case 1:
					_, _ = l.engine.ConfirmRecovery("why", expediter.NoStep, l.now)
				case 2:
					_ = l.engine.Reset("a", "why", expediter.NoStep, l.now)
				default:
					_ = l.engine.ForceOpen("b", "why", expediter.NoStep, l.now)
				}
			},
			"write": func(t *rapid.T) {
				l.write()
				written = true
			},
			"lose": func(t *rapid.T) {
				_ = os.RemoveAll(filepath.Join(at, "sessions"))
				written = false
			},
			"look": func(t *rapid.T) {
				if !written {
					return
				}
				l.write()
				l.replays(l.journal())
			},
		})
	})
}
