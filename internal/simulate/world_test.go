package simulate

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/expediter-go/expediter/cascade"
)

// What happens to a request hangs on nothing that was asked before.
func TestFateIsAFunctionOfRequestAndTime(t *testing.T) {
	for _, m := range Models() {
		t.Run(m.String(), func(t *testing.T) {
			forward, backward := newWorld(7, m, 0.3, 400_000), newWorld(7, m, 0.3, 400_000)
			const n = 400
			var got, want [n]fate
			ask := func(w *world, i int) fate {
				return w.fate(request{agent: i % 3, subtask: i, place: i % 2, tool: i % len(devices), attempt: i % 4}, int64(i)*3_000)
			}
			for i := range n {
				want[i] = ask(forward, i)
				got[n-1-i] = ask(backward, n-1-i)
			}
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(fate{})); diff != "" {
				t.Errorf("asked forward and backward (-forward +backward):\n%s", diff)
			}
		})
	}
}

// share is how much of the requests or of the time is bad, over many worlds.
func share(model Model, rate float64, tool int) float64 {
	const worlds, asked, every = 300, 200, 2_000
	bad := 0
	for seed := range uint64(worlds) {
		w := newWorld(seed, model, rate, asked*every)
		for i := range asked {
			if f := w.fate(request{subtask: i, tool: tool}, int64(i)*every); f.down || f.wrong {
				bad++
			}
		}
	}
	return float64(bad) / (worlds * asked)
}

func TestRateIsTheShareThatIsDown(t *testing.T) {
	fetch, shell := deviceIndex("fetch"), deviceIndex("shell")
	for _, m := range Models() {
		for _, rate := range []float64{0, 0.05, 0.3} {
			want := rate
			if m == Correlated {
				if got := share(m, rate, shell); got != 0 {
					t.Errorf("correlated, rate %v: shell, which is no part of the network, is down %v of the time", rate, got)
				}
			}
			// Spells are long beside a world, so that the mean of 300 worlds is rough.
			if got := share(m, rate, fetch); math.Abs(got-want) > 0.25*rate {
				t.Errorf("%s, rate %v: got a share of %v", m, rate, got)
			}
		}
	}
}

func TestEpisodesTakeTheWholeNetworkDown(t *testing.T) {
	w := newWorld(3, Correlated, 0.3, 0)
	falls := 0
	for at := int64(0); at < 3_600_000; at += 1_000 {
		down := w.isDown(deviceIndex("fetch"), at)
		if down {
			falls++
		}
		for i, d := range devices {
			if got, want := w.isDown(i, at), down && d.network; got != want {
				t.Fatalf("%s at %d ms: down %v, want %v", d.name, at, got, want)
			}
		}
	}
	if falls == 0 {
		t.Error("an hour without an episode proves nothing; choose another seed")
	}
}

// The truth that reports are held against is what package classify sees in the
// text of the fault.
func TestFaultsAreClassified(t *testing.T) {
	for m, f := range faults {
		for _, own := range []bool{false, true} {
			w := &world{fault: f, ownWords: own}
			o, other := w.failure("fetch"), w.failure("shell")
			if o.Result != cascade.Failed || o.Category != f.cause {
				t.Errorf("%s: %q is a %v of category %v, want a failure of %v", m, o.Text, o.Result, o.Category, f.cause)
			}
			if differ := o.Signature != other.Signature; differ != own || o.Signature == "" {
				t.Errorf("%s, own words %v: signatures %q and %q", m, own, o.Signature, other.Signature)
			}
		}
	}
}

func TestModelText(t *testing.T) {
	for _, m := range append(Models(), NoFault) {
		text, err := m.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		back := Model(99)
		if err := back.UnmarshalText(text); err != nil || back != m {
			t.Errorf("round trip of %s: got %s, error %v", text, back, err)
		}
	}
	var m Model
	if err := m.UnmarshalText([]byte("sunspots")); err == nil {
		t.Error("an unknown model was accepted")
	}
	if got, want := Model(99).String(), "model(99)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
