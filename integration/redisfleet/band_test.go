package redisfleet_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
	"github.com/expediter-go/expediter/integration/redisfleet"
)

// band is a fleet of processes, their tools, and what they have written.
type band struct {
	*toolbox
	t       testing.TB
	client  *redis.Client // the test's own
	options redisfleet.Options
	tools   []string
	all     []*process
	past    [][]logged      // logs that Redis has lost
	stood   map[string]bool // members that stood still or died in a trial
}

// process is a member.
type process struct {
	*account
	t      testing.TB
	cmd    *exec.Cmd
	in     io.WriteCloser
	errors bytes.Buffer
	path   string
	read   int64 // bytes of the journal
}

func newBand(t testing.TB, client *redis.Client, o redisfleet.Options, tools ...string) *band {
	return &band{toolbox: newToolbox(t), t: t, client: client, options: o, tools: tools, stood: map[string]bool{}}
}

// start starts n processes that reach Redis at an address, and waits until they
// belong to the fleet.
func (b *band) start(n int, addr string) []*process {
	b.t.Helper()
	begun := len(b.all)
	for range n {
		b.all = append(b.all, b.run(fmt.Sprintf("m%d", len(b.all)), addr))
	}
	for _, p := range b.all[begun:] {
		p.stands(expediter.FleetLeased)
	}
	return b.all[begun:]
}

func (b *band) run(name, addr string) *process {
	b.t.Helper()
	p := &process{account: newAccount(name), t: b.t, path: filepath.Join(b.t.TempDir(), name+".jsonl")}
	o := b.options
	text, err := json.Marshal(errand{Addr: addr, Tool: b.URL, Tools: b.tools, Journal: p.path, Every: 10 * time.Millisecond,
		Scope: o.Scope, Member: name, LeaseTTL: o.LeaseTTL, LeaseHold: o.LeaseHold, Timeout: o.Timeout, BeatEvery: o.BeatEvery})
	if err != nil {
		b.t.Fatal(err)
	}
	p.cmd = exec.Command(os.Args[0])
	p.cmd.Env, p.cmd.Stderr = append(os.Environ(), memberEnv+"="+string(text)), &p.errors
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		b.t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(p.kill)
	return p
}

// named is the process of a member.
func (b *band) named(name string) *process {
	return b.all[slices.IndexFunc(b.all, func(p *process) bool { return p.member == name })]
}

// kill ends the process in the middle of what it does.
func (p *process) kill() {
	if p.cmd.ProcessState == nil {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
	}
}

// catchUp reads what the process has written since.
func (p *process) catchUp() {
	p.t.Helper()
	file, err := os.Open(p.path)
	if os.IsNotExist(err) {
		return // it has not begun yet
	}
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	data, err := io.ReadAll(io.NewSectionReader(file, p.read, 1<<30))
	if err != nil {
		p.t.Fatal(err)
	}
	data = data[:bytes.LastIndexByte(data, '\n')+1]
	p.read += int64(len(data))
	for text := range bytes.Lines(data) {
		var l line
		if err := json.Unmarshal(text, &l); err != nil {
			p.t.Fatalf("%s: %v in %s", p.member, err, text)
		}
		p.take(l.Event)
	}
}

// stands waits until the engine stands to the fleet in a way.
func (p *process) stands(want expediter.FleetMode) {
	p.t.Helper()
	await(p.t, fmt.Sprintf("%s: mode %v", p.member, want), func() bool { p.catchUp(); return p.mode == want })
}

// is waits until a tool has a state in all the processes.
func (b *band) is(all []*process, tool string, want breaker.State) {
	b.t.Helper()
	for _, p := range all {
		await(b.t, fmt.Sprintf("%s %v in %s", tool, want, p.member), func() bool { p.catchUp(); return p.state(tool) == want })
	}
}

// known waits until a tool is not CLOSED in all the processes: one may be trying it.
func (b *band) known(all []*process, tool string) {
	b.t.Helper()
	for _, p := range all {
		await(b.t, tool+" known to be down to "+p.member, func() bool { p.catchUp(); return p.state(tool) != breaker.Closed })
	}
}

// goesOn waits until each of the processes has made some more calls of a tool.
func (b *band) goesOn(all []*process, tool string) {
	b.t.Helper()
	since := time.Now().UnixNano()
	for _, p := range all {
		await(b.t, p.member+" goes on", func() bool {
			return len(b.requests(func(r request) bool { return r.member == p.member && r.tool == tool && r.began > since })) > 3
		})
	}
}

// log reads what the fleet's log holds.
func (b *band) log() []logged {
	b.t.Helper()
	messages, err := b.client.XRange(b.t.Context(), "expediter:{"+b.options.Scope+"}:log", "-", "+").Result()
	if err != nil {
		b.t.Fatal(err)
	}
	var log []logged
	for _, m := range messages {
		l, err := parseLogged(m)
		if err != nil {
			b.t.Fatal(err)
		}
		log = append(log, l)
	}
	return log
}

// view is what the fleet says of the tools that are not CLOSED.
func (b *band) view() map[string]bool {
	b.t.Helper()
	v, err := redisfleet.Look(b.t.Context(), b.client, b.options)
	if err != nil {
		b.t.Fatal(err)
	}
	open := map[string]bool{}
	for _, t := range v.Tools {
		open[t.Change.Tool] = true
	}
	return open
}

// finish ends the calls, waits until all agree with the fleet, lets them leave, and
// checks what all have written.
func (b *band) finish() {
	b.t.Helper()
	live := slices.DeleteFunc(slices.Clone(b.all), func(p *process) bool { return p.cmd.ProcessState != nil })
	for _, p := range live {
		if _, err := io.WriteString(p.in, "hold\n"); err != nil {
			b.t.Fatalf("%s: %v\n%s", p.member, err, p.errors.String())
		}
	}
	for _, p := range live {
		await(b.t, p.member+" agrees with the fleet", func() bool { p.catchUp(); return p.idle() && p.agrees(b.view(), b.tools) })
	}
	h := history{segments: append(b.past, b.log()), view: b.view(), tools: b.tools, stood: b.stood}
	for _, p := range live {
		_ = p.in.Close()
	}
	for _, p := range live {
		if err := p.cmd.Wait(); err != nil {
			b.t.Errorf("%s: %v\n%s", p.member, err, p.errors.String())
		}
	}
	for _, p := range b.all {
		p.catchUp()
		h.accounts = append(h.accounts, p.account)
	}
	h.requests = b.requests(func(request) bool { return true })
	if faults := h.faults(); len(faults) > 0 {
		b.t.Errorf("%d faults:\n%s", len(faults), strings.Join(faults[:min(len(faults), 20)], "\n"))
	}
}
