package breaker

import (
	"math"
	"strconv"
	"strings"
	"testing"
)

// play runs a script through a new machine. F and S are a failure and a
// success that must be admitted, R an event that must be rejected, +n lets time
// pass, trial, trip and close are what the caller does, and =C, =O, =H say
// where the machine must stand; a number after it is its counter.
func play(t *testing.T, m *Machine, script string) {
	t.Helper()
	now := int64(0)
	for i, word := range strings.Fields(script) {
		before := m.State()
		switch {
		case word == "F" || word == "S":
			if !m.Admit(now) {
				t.Fatalf("word %d: %s at %d was rejected", i, word, now)
			}
			from := m.State()
			var moved bool
			if word == "F" {
				moved = m.Fail(now)
			} else {
				moved = m.Succeed()
			}
			if got := m.State() != from; got != moved {
				t.Fatalf("word %d: %s reported change %v, got change %v (%s to %s)", i, word, moved, got, from, m.State())
			}
		case word == "R":
			if m.Admit(now) {
				t.Fatalf("word %d: an event at %d got through", i, now)
			}
		case word == "trial":
			m.Trial()
		case word == "trip":
			m.Trip(now)
		case word == "close":
			m.Close()
		case word[0] == '+':
			n, err := strconv.ParseInt(word[1:], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			now += n
		case word[0] == '=':
			stands(t, m, i, word)
		default:
			t.Fatalf("word %d: unknown %q (before it: %s)", i, word, before)
		}
	}
}

func stands(t *testing.T, m *Machine, i int, word string) {
	t.Helper()
	want := map[byte]State{'C': Closed, 'O': Open, 'H': HalfOpen}[word[1]]
	if m.State() != want {
		t.Fatalf("word %d: got %s, want %s", i, m.State(), want)
	}
	if len(word) == 2 {
		return
	}
	count := m.Fails()
	if want == HalfOpen {
		count = m.Goods()
	}
	if got := strconv.Itoa(count); got != word[2:] {
		t.Fatalf("word %d: counter: got %s, want %s", i, got, word[2:])
	}
}

// The names are rows of the scenarios that other breakers are tested by.
func TestMachineScenarios(t *testing.T) {
	tests := []struct {
		name             string
		threshold, goods int
		cooldown         int64
		script           string
	}{
		{"A1 the sixth of six opens, a success starts over", 6, 1, 60, "F F F F F =C5 S =C0 F =C1 F F F F =C5 F =O"},
		{"A2 every failure on the way to three", 3, 1, 10, "F =C1 F =C2 F =O"},
		{"A3 a success in between", 3, 1, 10, "F S F F =C2 F =O"},
		{"A4 threshold one", 1, 1, 10, "F =O"},
		{"A5 alternation never opens", 2, 1, 10, strings.Repeat("S F =C1 ", 20)},
		{"A6 two that are not in a row", 2, 1, 10, "F =C S =C0 F =C1"},
		{"A7 nothing runs after the opening", 2, 1, 10, "F =C F =O R R"},
		{"A13 entering a state clears its counters", 3, 2, 10, "F F =C2 close =C0 F F F =O0 trial =H0 S =H1 F =O trial =H0"},
		{"B1 rejections change nothing", 3, 1, 60, "F F F =O R R R R =O0 +60 S =C0"},
		{"B2 the last instant of the cooldown is over", 1, 1, 500, "F +499 R =O +1 S =C"},
		{"B3 rejected, and later tried", 1, 2, 5, "F R +3 R +3 S =H1"},
		{"B10 closed by hand without waiting", 2, 1, 10, "F F =O close =C0 S F =C1"},
		{"C1 a failed trial opens, a good one closes", 1, 1, 10, "F +10 F =O0 R +10 S =C0"},
		{"C2 three good trials", 1, 3, 10, "F +10 S =H1 S =H2 S =C0"},
		{"C5 four good trials clear the failures", 1, 4, 10, "F +10 S S S =H3 S =C0"},
		{"C6 a failed trial keeps no count", 3, 2, 10, "F F F +10 S F =O0 +10 S S =C0 F F =C2"},
		{"C8 two good trials are not three", 1, 3, 10, "F +10 S S =H2 F =O R"},
		{"C8 the wait starts over at the failed trial", 1, 1, 10, "F +10 F +9 R +1 S =C"},
		{"D1 the whole life", 1, 4, 10, "F =O +10 F =O +10 S =H1 S S S =C"},
		{"D6 closing a closed one clears", 3, 1, 10, "F F close =C0 F F =C2 F =O"},
		{"E1 three failures", 3, 1, 3, "F F F =O"},
		{"E2 the run starts over", 3, 1, 3, "F S F F F =O"},
		{"E3 threshold two, alternating", 2, 1, 3, "S F S F S F S F =C1"},
		{"E4 the caller paces two trials", 3, 1, math.MaxInt64, "F F F R R trial F =O R R trial S =C S =C"},
		{"E8 reset, then a success", 3, 1, 10, "F F F close S =C0"},
		{"E9 tripped without a failure", 3, 1, math.MaxInt64, "trip =O R R R R R R R R R =O"},
		{"no cooldown: the next event at the same time is a trial", 1, 1, 0, "F =O F =O S =C F =O"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			m, err := New(tc.threshold, tc.goods, tc.cooldown)
			if err != nil {
				t.Fatal(err)
			}
			play(t, &m, tc.script)
		})
	}
}

// E10 and B11: two calls were under way when the breaker opened.
func TestLateOutcomesOfAnOpenMachine(t *testing.T) {
	m, err := New(3, 1, 10)
	if err != nil {
		t.Fatal(err)
	}
	play(t, &m, "F F F =O")
	if m.Fail(5) || m.Succeed() {
		t.Error("a late outcome changed the state")
	}
	if m.State() != Open || m.OpenedAt() != 0 || m.Fails() != 0 {
		t.Errorf("got %s opened at %d with %d failures, want OPEN at 0 with 0", m.State(), m.OpenedAt(), m.Fails())
	}
}

// D8: looking does not move a machine whose cooldown has passed.
func TestReadingChangesNothing(t *testing.T) {
	m, err := New(1, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	play(t, &m, "F =O")
	want := m.Save()
	_, _, _, _ = m.State(), m.Fails(), m.Goods(), m.OpenedAt()
	if got := m.Save(); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestThresholdOfOneFailure(t *testing.T) {
	tests := []struct {
		name      string
		threshold int
		want      State
	}{
		{"lower", 1, Open},
		{"none is read as one", 0, Open},
		{"off only counts", Off, Closed},
	}
	for _, tc := range tests {
		m, err := New(3, 1, 10)
		if err != nil {
			t.Fatal(err)
		}
		if opened := m.FailAt(1, tc.threshold); opened != (tc.want == Open) || m.State() != tc.want {
			t.Errorf("%s: got opened %v, state %s; want %s", tc.name, opened, m.State(), tc.want)
		}
	}
}

// D9: what cannot be meant is refused, all of it at once.
func TestNewRefuses(t *testing.T) {
	tests := []struct {
		name             string
		threshold, goods int
		cooldown         int64
		want             []string // empty: allowed
	}{
		{"threshold 0", 0, 1, 1, []string{"failure_threshold is 0"}},
		{"successes 0", 1, 0, 1, []string{"half_open_successes is 0"}},
		{"cooldown below 0", 1, 1, -1, []string{"cooldown is -1"}},
		{"everything", -1, -1, -1, []string{"failure_threshold", "half_open_successes", "cooldown"}},
		{"cooldown 0", 1, 1, 0, nil},
		{"the largest", math.MaxInt, math.MaxInt, math.MaxInt64, nil},
	}
	for _, tc := range tests {
		_, err := New(tc.threshold, tc.goods, tc.cooldown)
		if (err != nil) != (len(tc.want) > 0) {
			t.Errorf("%s: got error %v", tc.name, err)
			continue
		}
		for _, want := range tc.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got %q, want %q in it", tc.name, err, want)
			}
		}
	}
}

// The end of a cooldown may lie beyond what an integer holds.
func TestCooldownDoesNotOverflow(t *testing.T) {
	tests := []struct {
		name             string
		opened, cooldown int64
		at               int64
		want             bool
	}{
		{"far future", math.MaxInt64 - 1, math.MaxInt64, math.MaxInt64, false},
		{"the very end", 0, math.MaxInt64, math.MaxInt64, true},
		{"just before the end", 0, math.MaxInt64, math.MaxInt64 - 1, false},
		{"all of time", math.MinInt64, math.MaxInt64, math.MaxInt64, true},
		{"from the very beginning", math.MinInt64, math.MaxInt64, -2, false},
		{"exactly from the very beginning", math.MinInt64, math.MaxInt64, -1, true},
		{"back in time", 10, 0, 9, false},
	}
	for _, tc := range tests {
		m, err := New(1, 1, tc.cooldown)
		if err != nil {
			t.Fatal(err)
		}
		m.Trip(tc.opened)
		if got := m.Admit(tc.at); got != tc.want {
			t.Errorf("%s: got %v, want %v", tc.name, got, tc.want)
		}
	}
}

func TestZeroMachineIsOpen(t *testing.T) {
	var m Machine
	if m.State() != Open {
		t.Errorf("got %s, want OPEN", m.State())
	}
}

func TestStateWords(t *testing.T) {
	for s, want := range map[State]string{Open: "OPEN", HalfOpen: "HALF_OPEN", Closed: "CLOSED"} {
		text, err := s.MarshalText()
		if err != nil || string(text) != want || s.String() != want {
			t.Errorf("got %q, %v, want %q", text, err, want)
		}
		var back State
		if err := back.UnmarshalText(text); err != nil || back != s {
			t.Errorf("%s reads back as %s, %v", want, back, err)
		}
	}
	if _, err := State(9).MarshalText(); err == nil || State(9).String() != "STATE(9)" {
		t.Errorf("an invalid state was written as %s", State(9))
	}
	var s State
	if err := s.UnmarshalText([]byte("closed")); err == nil {
		t.Error("lower case was read")
	}
}
