package proof

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"testing"
	"time"

	"github.com/expediter-go/expediter/integration/redisfleet/redistest"
)

const (
	benchCalls    = 200_000
	benchInterval = 200 * time.Millisecond // between two trials
	benchPause    = 100 * time.Millisecond // of each of the 1,000 workers
	peersRun      = 30 * time.Second
)

// script lets one tool after the other be down for two seconds, six at a time, until
// it is told to stop. The channel that it returns is closed when all work again.
func (s *toolServer) script(stop <-chan struct{}) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		tools := toolNames()
		next := time.NewTicker(333 * time.Millisecond)
		defer next.Stop()
		for i := 0; ; i++ {
			select {
			case <-stop:
				s.set(false, tools...)
				return
			case <-next.C:
			}
			s.set(true, tools[i*7%benchTools])
			if i >= 6 {
				s.set(false, tools[(i-6)*7%benchTools])
			}
		}
	}()
	return done
}

// trials judges the trials from the tools' side.
func (s *toolServer) trials() []cell {
	seen := s.seen()
	latest := map[string]visit{}
	early, together := 0, 0
	most := 0
	for _, v := range seen {
		if was, ok := latest[v.tool]; ok && v.from.Sub(was.to) < benchInterval-2*time.Millisecond {
			early++
		}
		if v.atOnce > 1 {
			together++
		}
		most = max(most, v.atOnce)
		latest[v.tool] = v
	}
	return []cell{
		{"trials that reached the tools", fmt.Sprint(len(seen))},
		{"of them within 200 ms of the one before", fmt.Sprint(early)},
		{"of them beside another", fmt.Sprintf("%d (%d at once at most)", together, most)},
	}
}

func costs(all []int64) []cell {
	if len(all) == 0 {
		return nil
	}
	return []cell{{"cost of a call beside the tool", fmt.Sprintf("p50 %s, p99 %s", us(quantile(all, 0.5)), us(quantile(all, 0.99)))}}
}

// outages lets a fleet make its calls while the tools fail and recover.
func outages(b *testing.B) []cell {
	r := benchRig(b, func(c *memberConfig) {
		c.Work, c.Pause, c.ProbeEvery, c.Calls = toolNames(), benchPause, benchInterval, benchCalls/benchProcesses
	})
	defer r.end()
	began := time.Now()
	stop := make(chan struct{})
	done := r.tools.script(stop)
	r.all("has made its calls", func(a report) bool { return a.Resting })
	took := time.Since(began)
	close(stop)
	<-done
	before := r.scripts()
	for _, m := range r.members {
		m.say("work") // without an end, so that what is down recovers
	}
	for _, tool := range toolNames() {
		r.agree(map[string]string{tool: "CLOSED"})
	}
	e := evidence{log: r.readLog(), visits: r.tools.seen()}
	var all []int64
	var sum report
	for _, m := range r.members {
		a := m.say("dump")
		all = append(all, a.Costs...)
		sum.Counts.Calls, sum.Counts.Probes, sum.Counts.Skips = sum.Counts.Calls+a.Counts.Calls, sum.Counts.Probes+a.Counts.Probes, sum.Counts.Skips+a.Counts.Skips
		for _, s := range a.Stamps {
			if s.Own {
				e.owns = append(e.owns, own{s.Wall, m.cfg.Name, s.Tool, s.Change})
			}
		}
	}
	faults := e.faults()
	for _, fault := range faults {
		b.Error(fault)
	}
	lost := 0
	for tool, log := range e.byTool() {
		lost += len(e.lostOpenings(tool, log))
	}
	openings := 0
	for _, o := range e.owns {
		if o.change == "CLOSED->OPEN" {
			openings++
		}
	}
	cells := []cell{
		{"calls made", fmt.Sprintf("%d in %.0f s", sum.Counts.Calls+sum.Counts.Probes, took.Seconds())},
		{"calls refused while a tool was down", fmt.Sprint(sum.Counts.Skips)},
		{"calls that failed for the breaker's own sake", "0 (a member that has one ends, and the measurement with it)"},
	}
	cells = append(cells, r.tools.trials()...)
	cells = append(cells, cell{"openings, and of them lost", fmt.Sprintf("%d, %d (faults that the checker found: %d)", openings, lost, len(faults))})
	cells = append(cells, costs(all)...)
	return append(cells, cell{"changes accepted, and round trips of all members in all", fmt.Sprintf("%d, %.0f", len(e.log), before)})
}

// scripts is how many scripts Redis has run for the fleet.
func (r *rig) scripts() float64 {
	b, ok := r.t.(*testing.B)
	if !ok {
		return 0
	}
	return float64(scripts(b, r.client))
}

// peers lets gobreaker's distributed breakers do the same for a while.
func peers(b *testing.B) []cell {
	server := redistest.Start(b)
	defer server.Kill()
	tools := startTools(b)
	stop := make(chan struct{})
	done := tools.script(stop)
	var cmds []*exec.Cmd
	var outs []*bufio.Reader
	for i := range benchProcesses {
		cmd, in, out, errs := start(b, peerEnv, peerConfig{Redis: server.Addr, Tools: tools.addr, Name: fmt.Sprintf("p%d", i),
			Work: toolNames(), Pause: benchPause, ProbeEvery: benchInterval, For: peersRun})
		defer func() { _ = in.Close() }()
		b.Cleanup(func() { _ = cmd.Process.Kill() })
		cmds, outs = append(cmds, cmd), append(outs, out)
		_ = errs
	}
	total := peerReport{Kinds: map[string]int{}}
	for i, out := range outs {
		line, err := out.ReadBytes('\n')
		var r peerReport
		if err == nil || err == io.EOF {
			err = json.Unmarshal(line, &r)
		}
		if err != nil {
			b.Fatal(err)
		}
		total.add(r)
		_ = cmds[i].Wait()
	}
	close(stop)
	<-done
	cells := []cell{
		{"calls made", fmt.Sprintf("%d in %.0f s", total.Made, peersRun.Seconds())},
		{"calls refused while a tool was down", fmt.Sprint(total.Refused)},
		{"calls that failed for the breaker's own sake", fmt.Sprintf("%d (%s)", total.Errors, kinds(total.Kinds))},
		{"updates of others that were overwritten", fmt.Sprintf("%d of %d", total.Lost, total.Made+total.Refused)},
	}
	return append(append(cells, tools.trials()...), costs(total.Costs)...)
}

// kinds names the most frequent errors.
func kinds(of map[string]int) string {
	most, name := 0, "none"
	for k, n := range of {
		if n > most {
			most, name = n, fmt.Sprintf("%d: %.60s", n, k)
		}
	}
	return name
}
