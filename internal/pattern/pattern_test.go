package pattern

import (
	"sync"
	"testing"
)

var word = New(`^\w+$`)

func TestAPatternIsCompiledOnce(t *testing.T) {
	before := Compiled()
	p := New(`^a+$`)
	if got := Compiled(); got != before {
		t.Errorf("New has compiled %d", got-before)
	}
	first := p.RE()
	if second := p.RE(); second != first || Compiled() != before+1 {
		t.Errorf("compiled %d times", Compiled()-before)
	}
	if !first.MatchString("aa") || first.MatchString("b") {
		t.Errorf("%s matches the wrong texts", p)
	}
}

func TestTheZeroPatternMatchesEverything(t *testing.T) {
	var p Pattern
	if !p.RE().MatchString("x") || p.String() != "" {
		t.Errorf("got %q", p.String())
	}
}

func TestManyAskAtOnce(t *testing.T) {
	p := New(`^a+$`)
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			if !p.RE().MatchString("aaa") {
				t.Error("no match")
			}
		})
	}
	all.Wait()
}

func TestAFaultyPatternPanicsWhenItIsUsed(t *testing.T) {
	p := New(`(`)
	for range 2 { // again, and not with a nil expression the second time
		func() {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			p.RE().MatchString("x")
		}()
	}
}

func BenchmarkRE(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		word.RE()
	}
}
