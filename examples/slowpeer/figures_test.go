package main

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const s = time.Second

func TestMeasure(t *testing.T) {
	p := plan{slots: 4, ill: 1, begin: 10 * s, end: 20 * s, length: 40 * s}
	visits := []visit{
		{peer: 1, arrived: 1 * s, started: 1 * s, ended: 2 * s, end: own, reached: true},
		{peer: summarizer, arrived: 9 * s, started: 9 * s, ended: 12 * s, end: own, reached: true},      // reached it before the outage
		{peer: summarizer, arrived: 10 * s, started: 11 * s, ended: 16 * s, end: failed, reached: true}, // holds a slot for 5 s
		{peer: summarizer, arrived: 12 * s, started: 12 * s, ended: 12 * s, end: standIn},
		{peer: summarizer, arrived: 15 * s, started: 16 * s, ended: 17 * s, end: failed, reached: true, probe: true},
		{peer: 1, arrived: 16 * s, started: 18 * s, ended: 19 * s, end: own, reached: true},
		{peer: 2, arrived: 17 * s, started: 22 * s, ended: 22 * s, end: gaveUp},
		{peer: summarizer, arrived: 21 * s, started: 21 * s, ended: 21 * s, end: refused},
		{peer: 2, arrived: 23 * s, started: 24 * s, ended: 25 * s, end: own, reached: true}, // late
		{peer: 2, arrived: 24 * s, started: 24 * s, ended: 24 * s, end: own, reached: true, late: 1},
		{peer: 2, arrived: 34 * s, started: 34 * s, ended: 34 * s, end: refused}, // long after all was well
	}
	got := measure("all", p, visits)
	bins := got.bins
	got.bins = nil
	want := figures{name: "all", callers: 5, endings: [own + 1]int{gaveUp: 1, failed: 2, standIn: 1, own: 1},
		healthy: 1, p50: 3 * s, p99: 5 * s, worst: 5 * s, held: 0.8, heldMax: 2, reached: 2, probes: 1, recovered: 3 * s, late: 1}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(figures{})); diff != "" {
		t.Errorf("figures (-want +got):\n%s", diff)
	}
	if len(bins) != 40 || bins[2].healthy != 1 || bins[12].summarizer != 1 || bins[12].standIn != 1 || bins[11].held != 2 || bins[15].held != 1 || bins[16].held != 1 {
		t.Errorf("bins: got %+v", bins)
	}
}

func TestShort(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "0", 1500 * time.Microsecond: "2ms", 999 * time.Millisecond: "999ms", 7250 * time.Millisecond: "7.2s", 2 * time.Minute: "120.0s"} {
		if got := short(d); got != want {
			t.Errorf("%v: got %s, want %s", d, got, want)
		}
	}
}

func TestBlock(t *testing.T) {
	for n, want := range map[int]rune{0: ' ', 1: '▁', 40: '▄', 80: '█', 200: '█'} {
		if got := block(n, 80); got != want {
			t.Errorf("%d of 80: got %c, want %c", n, got, want)
		}
	}
	if got := block(0, 0); got != ' ' {
		t.Errorf("of nothing: got %c", got)
	}
}
