//go:build unix

package proof

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/expediter-go/expediter/integration/redisfleet"
)

func (r *rig) named(name string) *process {
	r.t.Helper()
	for _, p := range r.members {
		if p.cfg.Name == name {
			return p
		}
	}
	r.t.Fatalf("no member %s", name)
	return nil
}

func (p *process) signal(s syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

func short(c *memberConfig) { c.LeaseTTL = 600 * time.Millisecond }

// heldOpen opens Grep, lets it work again, and stops its first trial in the middle.
func (r *rig) heldOpen() heldTrial {
	r.t.Helper()
	r.tools.hold("Grep", true)
	r.tools.set(true, "Grep")
	r.agree(map[string]string{"Grep": "OPEN", "Read": "CLOSED"})
	return r.tools.nextHeld(r.t)
}

func TestProberIsKilled(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.fleet(4, short)
	first := r.heldOpen()
	r.during(func() {
		r.named(first.member).kill()
		second := r.tools.nextHeld(t)
		if second.member == first.member {
			t.Errorf("%s tried again after its death", second.member)
		}
		r.tools.set(false, "Grep")
		r.tools.hold("Grep", false)
		second.answer <- true
	})
	r.agree(map[string]string{"Grep": "CLOSED"})
	first.answer <- true
	r.check()
}

func TestProberIsStoppedAndWakesUp(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.fleet(4, short)
	first := r.heldOpen()
	stopped := r.named(first.member)
	r.during(func() {
		stopped.signal(syscall.SIGSTOP)
		second := r.tools.nextHeld(t)
		r.tools.set(false, "Grep")
		r.tools.hold("Grep", false)
		second.answer <- true
		await(t, "the fleet has closed it", func() bool { return r.shared("Grep") == "CLOSED" })
		first.answer <- false // its outcome comes late, and is another one
		stopped.signal(syscall.SIGCONT)
	})
	r.agree(map[string]string{"Grep": "CLOSED"})
	before := stopped.say("status").Counts.Calls
	await(t, "it works again", func() bool { return stopped.say("status").Counts.Calls > before+20 })
	r.agree(map[string]string{"Grep": "CLOSED"})
	for _, a := range r.readLog() {
		if a.member == stopped.cfg.Name && a.change.Kind == "probe_failed" {
			t.Errorf("the outcome of a lease that was over was counted: %+v", a)
		}
	}
	r.check()
}

func TestMemberJoinsInTheMiddle(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.fleet(3, nil)
	first := r.heldOpen()
	late := r.begin(r.member("late"))
	if a := late.answer(); !a.Connected || a.Tools["Grep"] != "OPEN" {
		t.Errorf("the joiner begins with %+v, want Grep OPEN: it has never called it", a)
	}
	late.say("work")
	await(t, "the joiner asks for Grep", func() bool { return late.say("status").Counts.Skips > 5 })
	r.tools.hold("Grep", false)
	first.answer <- false // one more failed trial, which the joiner hears of
	await(t, "more trials", func() bool { return len(r.tools.seen()) > 3 })
	r.tools.set(false, "Grep")
	r.agree(map[string]string{"Grep": "CLOSED", "Read": "CLOSED"})
	r.check()
}

func TestTwoScopesSideBySide(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.fleet(2, nil)
	other := &rig{t: t, server: r.server, client: r.client, tools: startTools(t), dir: t.TempDir(), scope: "proof/other"}
	other.fleet(2, nil)
	r.tools.set(true, "Grep")
	other.tools.set(true, "Fetch")
	r.agree(map[string]string{"Grep": "OPEN", "Fetch": "CLOSED"})
	other.agree(map[string]string{"Grep": "CLOSED", "Fetch": "OPEN"})
	r.tools.set(false, "Grep")
	r.agree(map[string]string{"Grep": "CLOSED"})
	other.agree(map[string]string{"Fetch": "OPEN"})
	r.check()
	other.check()
}

func TestFiftyLeaveAtOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.fleet(2, nil)
	for i := range 50 {
		cfg := r.member(fmt.Sprintf("leaver%d", i))
		cfg.Work = nil // the machine is small
		r.begin(cfg)
	}
	for _, p := range r.members[2:] {
		p.answer()
	}
	r.tools.set(true, "Grep")
	r.agree(map[string]string{"Grep": "OPEN"})
	ends := make(chan error)
	for i, p := range r.members[2:] {
		go func() {
			if i%5 == 0 {
				p.kill()
				ends <- nil
				return
			}
			ends <- p.leave()
		}()
	}
	for range 50 {
		if err := <-ends; err != nil {
			t.Error(err)
		}
	}
	r.tools.set(false, "Grep")
	r.agree(map[string]string{"Grep": "CLOSED"})
	await(t, "the dead are forgotten too", func() bool {
		v, err := redisfleet.Look(t.Context(), r.client, redisfleet.Options{Scope: r.scope})
		return err == nil && v.Members == 2
	})
	r.check()
}
