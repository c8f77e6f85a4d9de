package view

import (
	"testing"
	"time"

	"github.com/expediter-go/expediter/internal/analysis"
	"github.com/expediter-go/expediter/internal/trace"
	"github.com/google/go-cmp/cmp"
)

func TestWords(t *testing.T) {
	tests := []struct{ name, got, want string }{
		{"small", grouped(7), "7"},
		{"thousands", grouped(41816), "41,816"},
		{"millions", grouped(-1234567), "-1,234,567"},
		{"nothing", percent(0), "0%"},
		{"tenths", percent(0.0912), "9.1%"},
		{"whole", percent(1), "100%"},
		{"nearly whole", percent(0.99996), "99.996%"},
		{"nearly nothing", percent(0.00002), "0.002%"},
		{"hardly anything", percent(0.000001), "0.0001%"},
		{"one", plural(1, "call"), "1 call"},
		{"none", plural(0, "call"), "0 calls"},
		{"policies", plural(3, "policy"), "3 policies"},
		{"part", of(12, 300, "session"), "12 of 300 sessions (4%)"},
		{"part of nothing", of(0, 0, "session"), "0 of 0 sessions"},
		{"milliseconds", span(250 * time.Millisecond), "250ms"},
		{"seconds", span(3400 * time.Millisecond), "3.4s"},
		{"minutes", span(3*time.Minute + 5*time.Second), "3m 5s"},
		{"hours", span(1000*time.Hour + 12*time.Minute), "1,000h 12m"},
		{"bytes", size(999), "999 bytes"},
		{"kilobytes", size(6300), "6.3 kB"},
		{"megabytes", size(12_000_000), "12 MB"},
		{"gigabytes", size(5_123_000_000), "5.1 GB"},
		{"short enough", shorten("Bash/git", 8), "Bash/git"},
		{"cut in the middle", shorten("WebFetch/docs.example.org", 12), "WebFe…le.org"},
		{"wide characters", shorten("検索ツール検索ツール", 9), "検索…ール"},
		{"hardly any room", shorten("WebFetch", 3), "We…"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.got != tt.want {
				t.Errorf("got %q, want %q", tt.got, tt.want)
			}
		})
	}
}

func TestAxisTicks(t *testing.T) {
	tests := []struct {
		name string
		a    axis
		want []tick
	}{
		{"plain", axis{max: 10, from: 0, to: 100}, []tick{{0, "0"}, {20, "2"}, {40, "4"}, {60, "6"}, {80, "8"}, {100, "10"}}},
		{"downwards", axis{max: 2000, from: 400, to: 0}, []tick{{400, "0"}, {300, "500"}, {200, "1,000"}, {100, "1,500"}, {0, "2,000"}}},
		{"logarithmic", axis{max: 99, from: 0, to: 100, log: true}, []tick{{0, "0"}, {15.1, "1"}, {30.1, "3"}, {52.1, "10"}, {74.6, "30"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, tt.a.ticks()); diff != "" {
				t.Errorf("ticks (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPlotNumbersDoNotCollide(t *testing.T) {
	var dots []dot
	for i := range 40 {
		dots = append(dots, dot{Point: analysis.Point{Saved: 100 - i/2, Lost: 40 - i/2, Frontier: true}, number: i + 1})
	}
	p, seen := draw(dots), 0
	for i, a := range p.Dots {
		if a.Number == 0 {
			continue
		}
		seen++
		for _, b := range p.Dots[i+1:] {
			if b.Number != 0 && abs(a.TX-b.TX) < 8 && abs(a.TY-b.TY) < 10 {
				t.Errorf("the numbers %d and %d lie on each other", a.Number, b.Number)
			}
		}
	}
	if seen == 0 {
		t.Error("no number at all")
	}
}

func abs(v float64) float64 { return max(v, -v) }

func TestPlotOfPoliciesThatSaveTheSame(t *testing.T) {
	dots := []dot{{Point: analysis.Point{Avoided: 90, Made: 10, Frontier: true}}, {Point: analysis.Point{Avoided: 40, Made: 60}}}
	p := draw(dots)
	if p.Remark == "" || p.Line != "" || p.Dots[0].Y <= p.Dots[1].Y {
		t.Errorf("want the outages to tell them apart: %+v", p)
	}
}

func TestBelow(t *testing.T) {
	tests := []struct {
		name, want string
		files      []string
		left       []string
	}{
		{"one folder", "home/recordings/", []string{"home/recordings/a.jsonl", "home/recordings/b/c.jsonl"}, []string{"a.jsonl", "b/c.jsonl"}},
		{"alike beginnings", "recordings/", []string{"recordings/aa/x", "recordings/ab/y"}, []string{"aa/x", "ab/y"}},
		{"too short to matter", "", []string{"a/x", "a/y"}, []string{"a/x", "a/y"}},
		{"nothing in common", "", []string{"one/long/folder/x", "other/long/folder/y"}, []string{"one/long/folder/x", "other/long/folder/y"}},
		{"one source", "", []string{"home/recordings/a.jsonl"}, []string{"home/recordings/a.jsonl"}},
		{"standard input", "", []string{"home/recordings/a.jsonl", "-"}, []string{"home/recordings/a.jsonl", "-"}},
		{"none", "", nil, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := &analysis.Result{}
			for _, f := range tt.files {
				r.Files = append(r.Files, trace.Stats{File: f})
			}
			got := below(r)
			var left []string
			for _, f := range r.Files {
				left = append(left, f.File)
			}
			if diff := cmp.Diff(tt.left, left); diff != "" || got != tt.want {
				t.Errorf("got %q, want %q; names (-want +got):\n%s", got, tt.want, diff)
			}
		})
	}
}
