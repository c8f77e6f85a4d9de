package expediter_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
)

// batchRun drives one tool: a run of words, and what each failure was.
type batchRun struct {
	*rig
	calls []expediter.Decision
	seen  []string
}

// do applies words: call decides; f, g (another signature) and h (another
// category) record the oldest call as a failure, s as a success, slow as a slow
// one; step and 1000ms or 1001ms move on; restore goes on from a snapshot.
func (r *batchRun) do(script string, cfg expediter.Config) {
	for _, word := range strings.Fields(script) {
		switch word {
		case "call":
			r.calls = append(r.calls, r.ask("Grep", "CALL"))
		case "step":
			r.step++
		case "1000ms":
			r.at += 1000
		case "1001ms":
			r.at += 1001
		case "restore":
			r.restore(cfg)
		default:
			r.end(word)
		}
	}
}

func (r *batchRun) end(word string) {
	o := expediter.Failure(cascade.Upstream, "502")
	o.Signature = "bad gateway"
	switch word {
	case "g":
		o.Signature = "gateway timeout"
	case "h":
		o.Category = cascade.Network
	case "s":
		o = expediter.Success()
	case "slow":
		o = expediter.Success()
		o.Duration = time.Second
	}
	call := r.calls[0]
	r.calls = r.calls[1:]
	switch res := r.record(call, o); {
	case res.Batched:
		r.seen = append(r.seen, "batched")
	case o.Result == cascade.Failed && res.Stale:
		r.seen = append(r.seen, "stale")
	case o.Result == cascade.Failed:
		r.seen = append(r.seen, "counted")
	}
}

func (r *batchRun) restore(cfg expediter.Config) {
	raw, err := json.Marshal(r.x.Snapshot())
	r.must(err)
	var s expediter.Snapshot
	r.must(json.Unmarshal(raw, &s))
	r.x, err = expediter.Restore(cfg, &s)
	r.must(err)
}

// Policy batch: what becomes of failures of one tool (docs/task.md).
func TestBatch(t *testing.T) {
	const on, off = breaker.On, breaker.No
	rate := breaker.Trip{Policy: breaker.Rate, Window: 10, MinCalls: 3, Rate: 0.5}
	tests := []struct {
		name     string
		policy   breaker.Policy
		stepless bool
		do       string
		seen     string
		run      int // consecutive failures, or those that opened it
		consumed int
	}{
		{"parallel and alike", breaker.Policy{Batch: on}, false, "call call call call f f f f", "counted batched batched batched", 1, 1},
		{"off", breaker.Policy{Batch: off}, false, "call call f f", "counted counted", 2, 2},
		{"by default", breaker.Policy{}, false, "call call f f", "counted counted", 2, 2},
		{"one after the other", breaker.Policy{Batch: on}, false, "call f call f", "counted counted", 2, 2},
		{"decided between the records", breaker.Policy{Batch: on}, false, "call call f call f f", "counted batched counted", 2, 2},
		{"another signature", breaker.Policy{Batch: on}, false, "call call f g", "counted counted", 2, 2},
		{"another category", breaker.Policy{Batch: on}, false, "call call f h", "counted counted", 2, 2},
		{"like the last that counted alone", breaker.Policy{Batch: on, FailureThreshold: 9}, false, "call call call f g f", "counted counted counted", 3, 3},
		{"at a later step", breaker.Policy{Batch: on}, false, "call call f step f", "counted counted", 2, 2},
		{"much later at the same step", breaker.Policy{Batch: on}, false, "call call f 1001ms 1001ms f", "counted batched", 1, 1},
		{"no steps, a second later", breaker.Policy{Batch: on}, true, "call call f 1000ms f", "counted batched", 1, 1},
		{"no steps, later than that", breaker.Policy{Batch: on}, true, "call call f 1001ms f", "counted counted", 2, 2},
		{"a success in between", breaker.Policy{Batch: on}, false, "call call call f s f", "counted batched", 0, 1},
		{"a slow call is none", breaker.Policy{Batch: on, SlowCallMS: 10}, false, "call call call slow slow f", "counted", 3, 1},
		{"a slow call ends one", breaker.Policy{Batch: on, SlowCallMS: 10, FailureThreshold: 9}, false, "call call call f slow f", "counted counted", 3, 2},
		{"after the opening", breaker.Policy{Batch: on, FailureThreshold: 1}, false, "call call call f f g", "counted batched stale", 1, 2},
		{"a rate counts one outcome", breaker.Policy{Batch: on, Trip: rate}, false, "call call call call f f f f", "counted batched batched batched", 1, 1},
		{"across a restart", breaker.Policy{Batch: on}, false, "call call call f restore f f", "counted batched batched", 1, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cfg := expediter.Config{Tools: tools("Grep"), Policy: expediter.Policy{Policy: tt.policy, Budget: 50}}
			r := &batchRun{rig: newRig(t, cfg)}
			if tt.stepless {
				r.step = expediter.NoStep
			}
			r.do(tt.do, cfg)
			if got := strings.Join(r.seen, " "); got != tt.seen {
				t.Errorf("failures: got %s, want %s", got, tt.seen)
			}
			row := r.row("Grep")
			if got := max(row.Consecutive, row.Run); got != tt.run {
				t.Errorf("run of failures: got %d, want %d", got, tt.run)
			}
			r.consumed(tt.consumed)
		})
	}
}

// A batched failure is still the tool's last one, asks for its pause, and makes
// a suspect of its tool (SPEC section 7).
func TestSection7_ABatchedFailureIsStillItsToolsLatest(t *testing.T) {
	r := newRig(t, expediter.Config{Tools: tools("Grep", "Bash"), Policy: expediter.Policy{Budget: 50, Policy: breaker.Policy{Batch: breaker.On, FailureThreshold: 2}}})
	one, two, three := r.ask("Grep", "CALL"), r.ask("Grep", "CALL"), r.ask("Grep", "CALL")
	r.record(one, expediter.Failure(cascade.Network, "refused, first"))
	r.record(two, expediter.Success())
	late := expediter.Failure(cascade.Network, "refused, second")
	late.RetryAfter = time.Minute
	if !r.record(three, late).Batched {
		t.Fatal("the second failure is an observation of its own")
	}
	if row := r.row("Grep"); row.LastFailure.Text != "refused, second" || row.State != breaker.Closed || len(row.RunFailures) != 0 {
		t.Errorf("got %+v, want the last text and no run", row)
	}
	_, err := r.x.DeclareOutage(cascade.Network, []string{"Else"}, r.step, r.now())
	r.must(err)
	r.fail("Bash", 2, cascade.Network)
	r.heard("declared network [Else] @1", "ended network [Else] @1", "flagged network [Bash Else Grep] @1", "pause systemic")
}
