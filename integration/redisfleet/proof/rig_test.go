package proof

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/redis/go-redis/v9"

	"github.com/expediter-go/expediter/integration/redisfleet"
	"github.com/expediter-go/expediter/integration/redisfleet/redistest"
)

// patience is how long a test waits for what must come.
const patience = 30 * time.Second

// rig is a Redis, tools, and members.
type rig struct {
	t       testing.TB
	server  *redistest.Server
	client  *redis.Client
	tools   *toolServer
	dir     string
	scope   string
	members []*process
	lapses  []lapse
	proxy   *toxiproxy.Proxy // nil: none
}

// lapse is a time in which more than one trial may be made in one generation: its
// process was dead or stopped, or Redis could not be reached.
type lapse struct{ from, to time.Time }

func newRig(t testing.TB, redisArgs ...string) *rig {
	t.Helper()
	server := redistest.Start(t, redisArgs...)
	return &rig{t: t, server: server, client: server.Client(), tools: startTools(t), dir: t.TempDir(), scope: "proof"}
}

// member is the usual configuration.
func (r *rig) member(name string) memberConfig {
	return memberConfig{Redis: r.server.Addr, Tools: r.tools.addr, Name: name, Scope: r.scope, Journal: filepath.Join(r.dir, name+".jsonl"),
		Work: []string{"Grep", "Fetch", "Read"}, Pause: 10 * time.Millisecond, ProbeEvery: 150 * time.Millisecond,
		LeaseTTL: 2 * time.Second, LeaseHold: time.Second, Timeout: time.Second, BeatEvery: 200 * time.Millisecond}
}

// process is a member's.
type process struct {
	t    testing.TB
	cfg  memberConfig
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	errs *strings.Builder
	gone bool
}

// start starts a process of this test binary with a configuration in its environment.
func start(t testing.TB, env string, cfg any) (*exec.Cmd, io.WriteCloser, *bufio.Reader, *strings.Builder) {
	t.Helper()
	text, err := json.Marshal(cfg)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), env+"="+string(text), "GOMAXPROCS=2")
	var errs strings.Builder
	cmd.Stderr = &errs
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, in, bufio.NewReaderSize(out, 1<<16), &errs
}

// begin starts a member; it has joined when its first answer is read.
func (r *rig) begin(cfg memberConfig) *process {
	r.t.Helper()
	p := &process{t: r.t, cfg: cfg}
	p.cmd, p.in, p.out, p.errs = start(r.t, memberEnv, cfg)
	r.t.Cleanup(p.kill)
	r.members = append(r.members, p)
	return p
}

// fleet starts so many members, which work.
func (r *rig) fleet(n int, change func(*memberConfig)) {
	r.t.Helper()
	for i := range n {
		cfg := r.member(fmt.Sprintf("m%d", i))
		if change != nil {
			change(&cfg)
		}
		r.begin(cfg)
	}
	for _, p := range r.members {
		p.answer()
		p.say("work")
	}
	r.all("connected", func(a report) bool { return a.Connected })
}

// answer reads one answer.
func (p *process) answer() report {
	p.t.Helper()
	var a report
	line, err := p.out.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &a)
	}
	if err != nil {
		p.t.Fatalf("%s: %v\n%s", p.cfg.Name, err, p.errs)
	}
	return a
}

// say gives a command and returns the answer.
func (p *process) say(what string) report {
	p.t.Helper()
	if _, err := fmt.Fprintln(p.in, what); err != nil {
		p.t.Fatalf("%s: %v\n%s", p.cfg.Name, err, p.errs)
	}
	a := p.answer()
	if a.Error != "" {
		p.t.Fatalf("%s: %s: %s", p.cfg.Name, what, a.Error)
	}
	return a
}

// kill ends the process at once.
func (p *process) kill() {
	if p.gone {
		return
	}
	p.gone = true
	_ = p.cmd.Process.Kill()
	_, _ = p.cmd.Process.Wait()
}

// leave lets the process leave its fleet, and waits for its end.
func (p *process) leave() error {
	p.gone = true
	if _, err := fmt.Fprintln(p.in, "leave"); err != nil {
		return err
	}
	if err := p.cmd.Wait(); err != nil {
		return fmt.Errorf("%w: %s", err, p.errs)
	}
	return nil
}

// alive are the members that are.
func (r *rig) alive() []*process {
	var alive []*process
	for _, p := range r.members {
		if !p.gone {
			alive = append(alive, p)
		}
	}
	return alive
}

// all waits until something is so for every member.
func (r *rig) all(what string, so func(report) bool) {
	r.t.Helper()
	for _, p := range r.alive() {
		await(r.t, p.cfg.Name+": "+what, func() bool { return so(p.say("status")) })
	}
}

// agree waits until every member, and the fleet itself, says of the tools what is
// wanted.
func (r *rig) agree(want map[string]string) {
	r.t.Helper()
	for tool, state := range want {
		r.all(tool+" "+state, func(a report) bool { return a.Connected && a.Tools[tool] == state })
		await(r.t, "the fleet: "+tool+" "+state, func() bool { return r.shared(tool) == state })
	}
}

// shared is what the fleet says of a tool.
func (r *rig) shared(tool string) string {
	v, err := redisfleet.Look(r.t.Context(), r.client, redisfleet.Options{Scope: r.scope})
	if err != nil {
		return err.Error()
	}
	for _, w := range v.Tools {
		if w.Change.Tool == tool {
			return "OPEN"
		}
	}
	return "CLOSED"
}

// during runs what makes a lapse.
func (r *rig) during(what func()) {
	l := lapse{from: time.Now()}
	what()
	l.to = time.Now()
	r.lapses = append(r.lapses, l)
}

// await waits until something is so.
func await(t testing.TB, what string, so func() bool) {
	t.Helper()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	end := time.After(patience)
	for !so() {
		select {
		case <-look.C:
		case <-end:
			t.Fatalf("it never came to be: %s", what)
		}
	}
}
