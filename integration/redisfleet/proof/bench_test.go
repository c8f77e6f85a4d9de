package proof

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

const (
	benchProcesses = 50
	benchTools     = 20
)

// BenchmarkFleet measures what docs/fleet.md says of a fleet's cost and prints it as
// that page's tables. Run it with -benchtime 1x, on a machine that does nothing
// else; `make fleetbench` does.
func BenchmarkFleet(b *testing.B) {
	var p page
	part := func(name string, do func(b *testing.B)) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				do(b)
			}
		})
	}
	part("numbers", func(b *testing.B) {
		p.section("One fleet, in numbers", "what", "measured")
		p.spread(b)
		p.decide(b)
		p.roundTrips(b)
	})
	part("outages", func(b *testing.B) {
		ours, theirs := outages(b), peers(b)
		p.section("Tools that fail and recover", "50 processes, 20 tools", "expediter, a fleet", "gobreaker, DistributedCircuitBreaker")
		p.rows(ours, theirs)
	})
	part("size", func(b *testing.B) {
		p.section("Size", "what", "measured")
		p.memory(b)
	})
	part("readers", func(b *testing.B) {
		p.section("Fan-out", "readers of one log", "bytes out per event", "Redis's processor time per event", "last reader has it after", "memory per reader")
		p.fanOut(b)
	})
}

// page is Markdown on the standard output, written as it comes.
type page struct{}

// section begins a table.
func (p *page) section(title string, columns ...string) {
	fmt.Printf("\n### %s\n\n", title)
	p.row(columns...)
	p.row(slices.Repeat([]string{"---"}, len(columns))...)
}

func (p *page) row(cells ...string) {
	fmt.Println("| " + strings.Join(cells, " | ") + " |")
}

// cell is one figure with its name.
type cell struct{ name, value string }

// rows puts two columns side by side; a name that one of them does not have is a
// dash there.
func (p *page) rows(ours, theirs []cell) {
	of := func(cells []cell, name string) string {
		for _, c := range cells {
			if c.name == name {
				return c.value
			}
		}
		return "–"
	}
	for _, c := range ours {
		p.row(c.name, c.value, of(theirs, c.name))
	}
	for _, c := range theirs {
		if of(ours, c.name) == "–" {
			p.row(c.name, "–", c.value)
		}
	}
}

// quantile is the value that so large a part of the values do not exceed.
func quantile[T int64 | time.Duration](values []T, part float64) T {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	return values[min(int(part*float64(len(values))), len(values)-1)]
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000) }

func us(ns int64) string { return fmt.Sprintf("%.1f µs", float64(ns)/1000) }

// benchRig is a fleet as it is by default.
func benchRig(b testing.TB, change func(*memberConfig)) *rig {
	r := newRig(b)
	r.fleet(benchProcesses, func(c *memberConfig) {
		c.Journal, c.Work = "", nil
		c.LeaseTTL, c.LeaseHold, c.Timeout, c.BeatEvery = 0, 0, 0, 0
		if change != nil {
			change(c)
		}
	})
	return r
}

func toolNames() []string {
	var tools []string
	for i := range benchTools {
		tools = append(tools, fmt.Sprintf("tool%02d", i))
	}
	return tools
}

// spread measures from the failure that opens a tool in one process to the change
// in each other, in several rounds.
func (p *page) spread(b *testing.B) {
	r := benchRig(b, nil)
	defer r.end()
	var each, last [][]time.Duration
	for range 3 {
		e, l := r.openings(b, 100)
		each, last = append(each, e), append(last, l)
	}
	best := 0
	var p99s []string
	for i := range each {
		if quantile(each[i], 0.99) < quantile(each[best], 0.99) {
			best = i
		}
		p99s = append(p99s, ms(quantile(each[i], 0.99)))
	}
	e, l := each[best], last[best]
	p.row("an opening is known to each of 50 processes after", fmt.Sprintf("p50 %s, p99 %s (%d times; p99 of the rounds: %s)",
		ms(quantile(e, 0.5)), ms(quantile(e, 0.99)), len(e), strings.Join(p99s, ", ")))
	p.row("and to the last of them after", fmt.Sprintf("p50 %s, p99 %s (%d openings)", ms(quantile(l, 0.5)), ms(quantile(l, 0.99)), len(l)))
}

// openings lets one process after the other open a tool, and returns after what time
// each other one knew, and the last.
func (r *rig) openings(b *testing.B, n int) (each, last []time.Duration) {
	b.Helper()
	type opening struct {
		tool string
		at   time.Duration
	}
	var all []opening
	next := time.NewTicker(50 * time.Millisecond)
	defer next.Stop()
	tools := toolNames()
	for i := range n {
		m, tool := r.members[i%len(r.members)], tools[i%len(tools)]
		<-next.C
		all = append(all, opening{tool, m.say("open " + tool).Began})
		<-next.C
		m.say("reset " + tool)
	}
	r.all("all is closed", func(a report) bool {
		for _, s := range a.Tools {
			if s != "CLOSED" {
				return false
			}
		}
		return true
	})
	known := make([][]time.Duration, n)
	for _, m := range r.members {
		stamps := m.say("dump").Stamps
		for i, o := range all {
			for _, s := range stamps {
				if s.Tool == o.tool && s.Change == "CLOSED->OPEN" && !s.Own && s.At >= o.at && s.At < o.at+time.Second {
					known[i] = append(known[i], s.At-o.at)
				}
			}
		}
	}
	for i, k := range known {
		if len(k) != len(r.members)-1 {
			b.Errorf("opening %d is known to %d of %d others", i, len(k), len(r.members)-1)
		}
		each, last = append(each, k...), append(last, quantile(k, 1))
	}
	return each, last
}

// end ends the members and the server, so that they take nothing from what comes.
func (r *rig) end() {
	for _, p := range r.members {
		p.kill()
	}
	r.server.Kill()
}
