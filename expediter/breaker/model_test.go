package breaker

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// story is the model of a Machine: all outcomes since its last change of
// state, from which everything else is derived.
type story struct {
	threshold, needed  int
	cooldown, openedAt int64
	state              State
	outcomes           []bool // failed
}

func (s *story) enter(state State) { s.state, s.outcomes = state, nil }

func (s *story) open(t int64) {
	s.enter(Open)
	s.openedAt = t
}

// admit is the seed's rule in numbers that cannot overflow.
func (s *story) admit(t int64) bool {
	if s.state != Open {
		return true
	}
	end := new(big.Int).Add(big.NewInt(s.openedAt), big.NewInt(s.cooldown))
	if big.NewInt(t).Cmp(end) < 0 {
		return false
	}
	s.enter(HalfOpen)
	return true
}

func (s *story) record(t int64, failed bool, threshold int) {
	if s.state == Open {
		return
	}
	s.outcomes = append(s.outcomes, failed)
	switch {
	case s.state == HalfOpen && failed, s.state == Closed && failed && s.fails() >= threshold:
		s.open(t)
	case s.state == HalfOpen && len(s.outcomes) >= s.needed:
		s.enter(Closed)
	}
}

// fails counts the failures that a closed one's outcomes end in.
func (s *story) fails() (n int) {
	for i := len(s.outcomes) - 1; s.state == Closed && i >= 0 && s.outcomes[i]; i-- {
		n++
	}
	return n
}

func (s *story) goods() int {
	if s.state == HalfOpen {
		return len(s.outcomes)
	}
	return 0
}

func TestMachineAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		model := &story{
			threshold: rapid.IntRange(1, 5).Draw(t, "threshold"),
			needed:    rapid.IntRange(1, 3).Draw(t, "needed"),
			cooldown:  rapid.OneOf(rapid.Int64Range(0, 6), rapid.Just(int64(math.MaxInt64))).Draw(t, "cooldown"),
			state:     Closed,
		}
		m, err := New(model.threshold, model.needed, model.cooldown)
		if err != nil {
			t.Fatal(err)
		}
		now := rapid.SampledFrom([]int64{0, math.MinInt64, -3, math.MaxInt64 - 40}).Draw(t, "begin")
		pass := rapid.SampledFrom([]int64{0, 0, 1, 2, 5, 10})
		t.Repeat(map[string]func(*rapid.T){
			"event": func(t *rapid.T) {
				failed := rapid.Bool().Draw(t, "failed")
				got, want := m.Admit(now), model.admit(now)
				if got != want {
					t.Fatalf("admitted at %d: got %v, want %v", now, got, want)
				}
				if got {
					record(t, &m, model, now, failed, model.threshold)
				}
			},
			"late outcome": func(t *rapid.T) {
				record(t, &m, model, now, rapid.Bool().Draw(t, "failed"), model.threshold)
			},
			"other threshold": func(t *rapid.T) {
				threshold := rapid.IntRange(Off, 4).Draw(t, "once")
				m.FailAt(now, threshold)
				switch threshold {
				case Off:
					threshold = math.MaxInt
				case 0:
					threshold = 1
				}
				model.record(now, true, threshold)
			},
			"time passes": func(t *rapid.T) {
				if by := pass.Draw(t, "by"); now <= math.MaxInt64-by {
					now += by
				}
			},
			"trial": func(t *rapid.T) { m.Trial(); model.enter(HalfOpen) },
			"trip":  func(t *rapid.T) { m.Trip(now); model.open(now) },
			"close": func(t *rapid.T) { m.Close(); model.enter(Closed) },
			"restored": func(t *rapid.T) {
				saved := m.Save()
				m, _ = New(model.threshold, model.needed, model.cooldown)
				m.Load(saved)
			},
			"": func(t *rapid.T) {
				if m.State() != model.state || m.Fails() != model.fails() || m.Goods() != model.goods() {
					t.Fatalf("got %s with %d failures, %d good; want %s with %d, %d",
						m.State(), m.Fails(), m.Goods(), model.state, model.fails(), model.goods())
				}
				if m.State() == Open && m.OpenedAt() != model.openedAt {
					t.Fatalf("opened at: got %d, want %d", m.OpenedAt(), model.openedAt)
				}
			},
		})
	})
}

func record(t *rapid.T, m *Machine, model *story, now int64, failed bool, threshold int) {
	before := model.state
	model.record(now, failed, threshold)
	var moved bool
	if failed {
		moved = m.Fail(now)
	} else {
		moved = m.Succeed()
	}
	if want := model.state != before; moved != want {
		t.Fatalf("a change of state: got %v, want %v", moved, want)
	}
}

func TestWindowAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		trip := Trip{
			Policy:   Rate,
			Window:   rapid.IntRange(1, 130).Draw(t, "window"),
			MinCalls: rapid.IntRange(1, 20).Draw(t, "min_calls"),
			Rate:     float64(rapid.IntRange(0, 100).Draw(t, "percent")) / 100,
		}
		percent := int(math.Round(trip.Rate * 100))
		w := NewWindow(trip)
		var held []bool
		t.Repeat(map[string]func(*rapid.T){
			"push": func(t *rapid.T) {
				failed := rapid.Bool().Draw(t, "failed")
				w.Push(failed)
				if held = append(held, failed); len(held) > trip.Window {
					held = held[1:]
				}
			},
			"reset": func(t *rapid.T) { w.Reset(); held = nil },
			"restored": func(t *rapid.T) {
				saved := w.Outcomes()
				w = NewWindow(trip)
				w.Load(saved)
			},
			"": func(t *rapid.T) {
				failures, text := 0, ""
				for _, failed := range held {
					digit := "0"
					if failed {
						failures++
						digit = "1"
					}
					text += digit
				}
				if got := w.Outcomes(); got != text {
					t.Fatalf("outcomes: got %s, want %s", got, text)
				}
				want := len(held) >= trip.MinCalls && failures*100 > percent*len(held)
				if got := w.Exceeded(); got != want {
					t.Fatalf("exceeded with %d of %d at %d %%: got %v, want %v", failures, len(held), percent, got, want)
				}
			},
		})
	})
}
