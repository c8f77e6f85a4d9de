package redisfleet

import (
	"errors"
	"testing"
	"time"

	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
	"github.com/expediter-go/expediter/integration/redisfleet/redistest"
)

// still is a fleet whose loop does not run: the test takes its steps. The schedules
// are those that docs/fleet.pml has shown to matter.
func still(t *testing.T, server *redistest.Server, member string) *Fleet {
	t.Helper()
	o, err := Options{Scope: t.Name(), Member: member, Timeout: 10 * time.Second}.filled()
	if err != nil {
		t.Fatal(err)
	}
	x, err := expediter.New(expediter.Config{Policy: expediter.Policy{Policy: breaker.Policy{FailureThreshold: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	f := newFleet(server.Client(), x, o, view{})
	f.meetNow(t)
	f.connected()
	return f
}

// meetNow reads the view, as a session begins.
func (f *Fleet) meetNow(t *testing.T) {
	t.Helper()
	found, err := f.wire.join(t.Context(), f.o.Member, newEpoch())
	if err != nil {
		t.Fatal(err)
	}
	f.meet(found)
}

func (f *Fleet) publishNow(t *testing.T) {
	t.Helper()
	if err := f.publish(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func (f *Fleet) failNow(t *testing.T) {
	t.Helper()
	d := f.engine.Decide("Grep", expediter.NoStep, time.Now())
	if _, err := f.engine.Record(d.Call, expediter.Failure(cascade.Upstream, "broken"), expediter.NoStep, time.Now()); err != nil {
		t.Fatal(err)
	}
}

func (f *Fleet) isNow(t *testing.T, want breaker.State) {
	t.Helper()
	if s, _ := f.engine.Tool("Grep"); s.State != want {
		t.Errorf("%s: got %v, want %v", f.o.Member, s.State, want)
	}
}

// A Redis that fails over may lose what a member has from an answer and not yet from
// the log.
func TestForgottenBeforeItWasRead(t *testing.T) {
	t.Parallel()
	f := still(t, redistest.Start(t), "a")
	f.failNow(t)
	f.publishNow(t)
	if err := f.beat(t.Context()); err != nil {
		t.Fatal(err)
	}
	k := f.wire.keys
	if err := f.wire.client.Del(t.Context(), k.log, k.tools).Err(); err != nil {
		t.Fatal(err)
	}
	if err := f.wire.client.HDel(t.Context(), k.fleet, "last").Err(); err != nil {
		t.Fatal(err)
	}
	err := f.beat(t.Context())
	if !errors.Is(err, errForgot) {
		t.Fatalf("a beat after the failover: got %v, want %v", err, errForgot)
	}
	f.lost(err)
	f.meetNow(t)
	f.publishNow(t)
	if e := f.view.tools["Grep"]; !e.open() || e.gen == (place{}) {
		t.Errorf("the opening was not offered again: %+v", e)
	}
}

// An opening from before the tool was closed for all must not open it again, however
// the session ends in which it waited.
func TestOpeningFromBeforeAClosing(t *testing.T) {
	tests := []struct {
		name string
		how  func(t *testing.T, f *Fleet)
	}{
		{"cut after a refusal", func(t *testing.T, f *Fleet) {
			f.outbox = f.outbox[:1]
			f.publishNow(t) // refused: the tool is CLOSED by now; the second never gets there
		}},
		{"the log went on", func(t *testing.T, f *Fleet) {
			f.lost(errBehind)
			f.meetNow(t)
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			server := redistest.Start(t)
			a, b := still(t, server, "a"), still(t, server, "b")
			a.failNow(t)
			a.publishNow(t)
			b.lost(errBehind)
			b.meetNow(t)
			b.isNow(t, breaker.Open)
			// Two changes of a's wait: a trial that it made without a lease, and an opening.
			a.changed(expediter.Change{Kind: expediter.ChangeClosed, Tool: "Grep"})
			a.changed(expediter.Change{Kind: expediter.ChangeOpened, Tool: "Grep"})
			b.changed(expediter.Change{Kind: expediter.ChangeReset, Tool: "Grep"})
			b.publishNow(t)
			tt.how(t, a)
			a.lost(errors.New("cut"))
			a.meetNow(t)
			a.publishNow(t)
			a.isNow(t, breaker.Closed)
		})
	}
}

// A trial that began while Redis was away must not be counted under a lease that was
// wished for before.
func TestWishFromBeforeACut(t *testing.T) {
	t.Parallel()
	f := still(t, redistest.Start(t), "a")
	f.want(expediter.Want{Tool: "Grep"})
	f.lost(errors.New("cut"))
	f.meetNow(t)
	f.connected()
	if len(f.wanted) != 0 {
		t.Errorf("got %v, want no wish", f.wanted)
	}
}

// leaseNow asks for the lease of the trial.
func (f *Fleet) leaseNow(t *testing.T) {
	t.Helper()
	if err := f.askLease(t.Context(), expediter.Want{Tool: "Grep"}); err != nil {
		t.Fatal(err)
	}
}

// trialNow makes the trial, for which the lease is there.
func (f *Fleet) trialNow(t *testing.T, o expediter.Outcome) {
	t.Helper()
	for range 10 {
		if d := f.engine.Decide("Grep", expediter.NoStep, time.Now()); d.Verb == expediter.Probe {
			if _, err := f.engine.Record(d.Call, o, expediter.NoStep, time.Now()); err != nil {
				t.Fatal(err)
			}
			f.publishNow(t)
			return
		}
	}
	t.Fatal("no PROBE was given")
}

// A member that hears of another's trial because its wish for a lease is refused waits
// its interval anew, as those do that read of it in the log.
func TestTrialIsLearntFromARefusal(t *testing.T) {
	broken := expediter.Failure(cascade.Upstream, "broken")
	tests := []struct {
		name string
		how  func(t *testing.T, f *Fleet)
		want int // failed trials since the tool last closed
	}{
		{"failed", func(t *testing.T, f *Fleet) { f.trialNow(t, broken) }, 1},
		{"closed, and opened again", func(t *testing.T, f *Fleet) {
			f.trialNow(t, expediter.Success())
			f.failNow(t)
			f.publishNow(t)
		}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			server := redistest.Start(t)
			a, b := still(t, server, "a"), still(t, server, "b")
			a.failNow(t)
			a.publishNow(t)
			b.lost(errBehind)
			b.meetNow(t)
			b.connected()
			for range 5 { // the trial is due in b
				b.engine.Decide("Grep", expediter.NoStep, time.Now())
			}
			a.leaseNow(t)
			tt.how(t, a)
			b.leaseNow(t) // refused: b does not know
			b.isNow(t, breaker.Open)
			if s, _ := b.engine.Tool("Grep"); s.FailedProbes != tt.want {
				t.Errorf("got %d failed trials, want %d", s.FailedProbes, tt.want)
			}
			b.leaseNow(t)
			if d := b.engine.Decide("Grep", expediter.NoStep, time.Now()); d.Verb != expediter.Skip {
				t.Errorf("got %v, want SKIP: the interval has just begun", d.Verb)
			}
		})
	}
}
