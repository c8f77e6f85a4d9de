package expediter_test

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
)

// crowd lets many goroutines drive the engine through every kind of trouble.
func crowd(x *expediter.Engine, workers, calls int) {
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := range calls {
				step, at := int64(i), time.UnixMilli(int64(1+i))
				d := x.Decide([]string{"Grep", "Bash", "Read"}[(w+i)%3], step, at)
				if d.Verb.Go() {
					o := expediter.Success()
					if (w*7+i)%4 != 0 {
						o = expediter.Failure(cascade.Upstream, "502")
					}
					_, _ = x.Record(d.Call, o, step, at)
				}
				if i%50 == 49 {
					x.BeginCycle(step, at)
				}
			}
		})
	}
	wg.Wait()
}

// Seq is given where the event is applied, so a journal that counts up without
// a gap tells the order of application. Each transition goes on from the one
// that was told before it.
func TestEventsComeInTheOrderOfApplication(t *testing.T) {
	var seq uint64
	var fault string
	states := map[string]string{"Grep": "CLOSED", "Bash": "CLOSED", "Read": "CLOSED"}
	var moves, told int
	// Observers run one at a time: the race detector would see it otherwise.
	x, err := expediter.New(expediter.Config{Tools: tools("Grep", "Bash", "Read"), Events: expediter.Events{
		Journal: func(ev *expediter.Event) {
			if seq++; ev.Seq != seq {
				fault = fmt.Sprintf("event %d came where %d is due", ev.Seq, seq)
			}
			moves += len(ev.Transitions)
		},
		Transition: func(tr expediter.Transition) {
			if told++; tr.From.String() != states[tr.Tool] {
				fault = fmt.Sprintf("%v, though %s was %s", tr, tr.Tool, states[tr.Tool])
			}
			states[tr.Tool] = tr.To.String()
		},
	}})
	if err != nil {
		t.Fatal(err)
	}
	crowd(x, 8, 400)
	if fault != "" {
		t.Error(fault)
	}
	if moves == 0 || moves != told {
		t.Errorf("%d transitions were told and %d are in the journal", told, moves)
	}
	for _, row := range x.Status().Tools {
		if row.State.String() != states[row.Tool] {
			t.Errorf("%s is %v, and was last told to be %s", row.Tool, row.State, states[row.Tool])
		}
	}
}

// Within one event observers hear of it in the order in which it happened, and
// the whole event last.
func TestEventsOfOneRecord(t *testing.T) {
	var heard []string
	var last expediter.CallID
	say := func(what string) { heard = append(heard, what) }
	x, err := expediter.New(expediter.Config{Tools: tools("Web", "Mail"), Events: expediter.Events{
		Recorded:   func(ev *expediter.Event) { last = ev.Call; say("recorded " + ev.Call.String()) },
		Transition: func(tr expediter.Transition) { say(tr.String() + " " + tr.Why) },
		Incident:   func(e expediter.IncidentEvent) { say(string(e.Kind)) },
		Paused:     func(e expediter.PauseEvent) { say(fmt.Sprintf("paused %v %d/%d", e.Reason, e.Consumed, e.Limit)) },
	}})
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, x: x, step: 4, at: 1000}
	r.fail("Web", 3, cascade.Network)
	r.fail("Mail", 1, cascade.Network)
	heard = nil
	r.fail("Mail", 1, cascade.Network)
	want := []string{"Mail:CLOSED->OPEN@4 on the verge: the budget is exhausted by one cause", "flagged", "paused systemic 1/5", "recorded " + last.String()}
	if diff := cmp.Diff(want, heard); diff != "" {
		t.Errorf("heard (-want +got):\n%s", diff)
	}
}

// No lock is held while an observer runs: it may ask and change the engine.
func TestObserversMayUseTheEngine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var x *expediter.Engine
		var heard []string
		depth := 0
		observe := func(what string) {
			heard = append(heard, what)
			if depth++; depth > 1 {
				t.Errorf("%s is told inside another event", what)
			}
			x.Status()
			if d := x.Decide("Read", 1, time.UnixMilli(1)); d.Verb.Go() {
				if _, err := x.Record(d.Call, expediter.Success(), 1, time.UnixMilli(1)); err != nil {
					t.Error(err)
				}
			}
			depth--
		}
		var err error
		x, err = expediter.New(expediter.Config{Tools: tools("Grep", "Bash"), Events: expediter.Events{
			Transition: func(tr expediter.Transition) {
				observe(tr.String())
				if tr.Tool == "Grep" {
					if err := x.ForceOpen("Bash", "with Grep", 2, time.UnixMilli(1)); err != nil {
						t.Error(err)
					}
				}
			},
			Routed: func(e expediter.Routing) { observe("route " + e.Tool) },
		}})
		if err != nil {
			t.Fatal(err)
		}
		r := &rig{t: t, x: x, step: 1, at: 1}
		r.fail("Grep", 3, cascade.Upstream)
		r.ask("Grep", "SKIP open")
		want := []string{"Grep:CLOSED->OPEN@1", "Bash:CLOSED->OPEN@2", "route Grep"}
		if diff := cmp.Diff(want, heard); diff != "" {
			t.Errorf("heard (-want +got):\n%s", diff)
		}
	})
}

// An observer that waits keeps nobody from deciding, and what the others cause
// meanwhile is told after it.
func TestASlowObserverKeepsNobodyWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		var heard []string
		x, err := expediter.New(expediter.Config{Tools: tools("Grep", "Bash"), Events: expediter.Events{Transition: func(tr expediter.Transition) {
			if tr.Tool == "Grep" {
				<-release
			}
			heard = append(heard, tr.String())
		}}})
		if err != nil {
			t.Fatal(err)
		}
		r := &rig{t: t, x: x, step: 1, at: 1}
		go func() {
			if err := x.ForceOpen("Grep", "", 1, time.UnixMilli(1)); err != nil {
				t.Error(err)
			}
		}()
		synctest.Wait()
		r.must(x.ForceOpen("Bash", "", 2, r.now()))
		r.ask("Bash", "SKIP forced_open")
		if len(heard) != 0 {
			t.Errorf("told before its turn: %v", heard)
		}
		close(release)
		synctest.Wait()
		if diff := cmp.Diff([]string{"Grep:CLOSED->OPEN@1", "Bash:CLOSED->OPEN@2"}, heard); diff != "" {
			t.Errorf("heard (-want +got):\n%s", diff)
		}
	})
}

// The panic of an observer reaches the caller on whose goroutine it ran. The
// event was applied; all others are told once.
func TestAPanicOfAnObserverReachesItsCallerAndLosesNothing(t *testing.T) {
	var seqs []uint64
	x, err := expediter.New(expediter.Config{Tools: tools("Grep"), Events: expediter.Events{
		Journal: func(ev *expediter.Event) {
			seqs = append(seqs, ev.Seq)
			if ev.Op == expediter.OpForceOpen {
				panic("disk full")
			}
		},
		Transition: func(expediter.Transition) { panic("cannot print") },
	}})
	if err != nil {
		t.Fatal(err)
	}
	caught := func(do func()) (value any) {
		defer func() { value = recover() }()
		do()
		return nil
	}
	at := time.UnixMilli(1)
	if got := caught(func() { _ = x.ForceOpen("Grep", "", 1, at) }); got != "cannot print" {
		t.Errorf("the caller caught %v, want the panic of Transition", got)
	}
	var d expediter.Decision
	if got := caught(func() { d = x.Decide("Grep", 1, at) }); got != "disk full" {
		t.Errorf("the next caller caught %v, want the panic that was left over", got)
	}
	if got := caught(func() { d = x.Decide("Grep", 1, at) }); got != nil || words(d) != "SKIP forced_open" {
		t.Errorf("then: %v, %q", got, words(d))
	}
	if diff := cmp.Diff([]uint64{1, 2, 3, 4}, seqs); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestAPanicInACrowdLosesNothing(t *testing.T) {
	var seq uint64
	var fault string
	x, err := expediter.New(expediter.Config{Tools: tools("Grep", "Bash", "Read"), Events: expediter.Events{Journal: func(ev *expediter.Event) {
		if seq++; ev.Seq != seq {
			fault = fmt.Sprintf("event %d came where %d is due", ev.Seq, seq)
		}
		if ev.Seq%17 == 0 {
			panic("now and then")
		}
	}}})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	panics := 0
	for range 8 {
		wg.Go(func() {
			for i := range 300 {
				func() {
					defer func() {
						if recover() != nil {
							mu.Lock()
							panics++
							mu.Unlock()
						}
					}()
					x.SetAvailability("Grep", capability.Score(i%2), int64(i), time.UnixMilli(1))
				}()
			}
		})
	}
	wg.Wait()
	for range 200 { // each call delivers until the next panic
		func() {
			defer func() {
				if recover() != nil {
					panics++
				}
			}()
			x.BeginCycle(1, time.UnixMilli(1))
		}()
	}
	if fault != "" {
		t.Error(fault)
	}
	if want := uint64(1 + 8*300 + 200); seq < want-17 || seq > want {
		t.Errorf("%d events were told, want %d or the few that the next call delivers", seq, want)
	}
	if want := int(seq / 17); panics != want {
		t.Errorf("%d panics reached a caller, want %d", panics, want)
	}
}

func TestNilObserversAreNotCalled(t *testing.T) {
	x, err := expediter.New(expediter.Config{Tools: tools("Web", "Mail", "Read")})
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, x: x, step: 1, at: 1000}
	r.fail("Web", 3, cascade.Network)
	r.fail("Mail", 2, cascade.Network)
	crowd(x, 2, 100)
	if c := x.Status().Counts; c.Calls == 0 || c.Pauses == 0 {
		t.Errorf("nothing happened: %+v", c)
	}
}

// The caller of an observer that panics never learns of its trial, so the trial
// is given up.
func TestPanickingObserverHoldsNoTrial(t *testing.T) {
	sore := false
	var results []string
	r := newRig(t, expediter.Config{
		Policy: expediter.Policy{Policy: breaker.Policy{FailureThreshold: 1, Probe: breaker.Pacing{Every: 1}}},
		Events: expediter.Events{
			Journal: func(ev *expediter.Event) {
				if ev.Result != nil {
					results = append(results, ev.Result.String())
				}
			},
			Decided: func(*expediter.Event) {
				if sore {
					panic("observer")
				}
			},
		},
	})
	r.fail("Grep", 1, cascade.Upstream)
	sore = true
	func() {
		defer func() {
			if got := recover(); got != "observer" {
				t.Errorf("got %v, want the observer's panic", got)
			}
		}()
		r.x.Decide("Grep", 1, r.now())
	}()
	sore = false
	r.ask("Grep", "PROBE")
	if diff := cmp.Diff([]string{"failure", "ignored"}, results); diff != "" {
		t.Errorf("recorded (-want +got):\n%s", diff)
	}
}
