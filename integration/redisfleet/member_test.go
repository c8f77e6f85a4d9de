package redisfleet_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/integration/redisfleet"
)

// memberEnv holds, as JSON, what a process of this binary is to do as a member of a
// fleet, in place of running tests.
const memberEnv = "EXPEDITER_TEST_FLEET_MEMBER"

func TestMain(m *testing.M) {
	if text := os.Getenv(memberEnv); text != "" {
		if err := runMember(text); err != nil {
			fmt.Fprintln(os.Stderr, "member:", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// errand is what a member process does: it calls tools until its standard input
// ends. A line "hold" there stops its calls.
type errand struct {
	Addr    string // of Redis
	Tool    string // where the tools are, a URL
	Tools   []string
	Journal string // a file
	Every   time.Duration

	Scope, Member                           string
	LeaseTTL, LeaseHold, Timeout, BeatEvery time.Duration
}

func (e errand) options() redisfleet.Options {
	return redisfleet.Options{Scope: e.Scope, Member: e.Member, LeaseTTL: e.LeaseTTL, LeaseHold: e.LeaseHold, Timeout: e.Timeout, BeatEvery: e.BeatEvery}
}

// line is one line of a member's journal.
type line struct {
	Event *expediter.Event `json:"event"`
}

// calm is the quick policy without incidents: several tools may be down at once.
func calm() expediter.Policy {
	p := quick()
	p.Cascade.MinTools = 1000
	return p
}

type member struct {
	errand
	engine *expediter.Engine
	held   atomic.Bool
}

func runMember(text string) error {
	m := &member{}
	if err := json.Unmarshal([]byte(text), &m.errand); err != nil {
		return err
	}
	file, err := os.Create(m.Journal)
	if err != nil {
		return err
	}
	lines := json.NewEncoder(file) // one write for each event: a killed process loses none
	cfg := expediter.Config{Policy: calm(), Events: expediter.Events{Journal: func(e *expediter.Event) { _ = lines.Encode(line{e}) }}}
	if m.engine, err = expediter.New(cfg); err != nil {
		return err
	}
	client := redis.NewClient(&redis.Options{Addr: m.Addr, ContextTimeoutEnabled: true, MaxRetries: -1})
	fleet, err := redisfleet.Join(context.Background(), client, m.engine, m.options())
	if err != nil {
		return err
	}
	m.work()
	if err := fleet.Close(); err != nil {
		return err
	}
	return file.Close()
}

// work calls every tool in turns of its own until standard input ends.
func (m *member) work() {
	ctx, stop := context.WithCancel(context.Background())
	var all sync.WaitGroup
	for _, tool := range m.Tools {
		all.Go(func() { m.turns(ctx, tool) })
	}
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		m.held.Store(in.Text() == "hold")
	}
	stop()
	all.Wait()
}

func (m *member) turns(ctx context.Context, tool string) {
	turn := time.NewTicker(m.Every)
	defer turn.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-turn.C:
		}
		if m.held.Load() {
			continue
		}
		d := m.engine.Decide(tool, expediter.NoStep, time.Now())
		if d.Verb == expediter.Call || d.Verb == expediter.Probe {
			o := m.call(tool, d)
			_, _ = m.engine.Record(d.Call, o, expediter.NoStep, time.Now()) // the journal has what came of it
		}
	}
}

// call makes a call as the decision says.
func (m *member) call(tool string, d expediter.Decision) expediter.Outcome {
	about := url.Values{"tool": {tool}, "member": {m.Member}, "call": {fmt.Sprint(d.Call)}, "verb": {d.Verb.String()}}
	resp, err := http.Get(m.Tool + "/?" + about.Encode())
	if err != nil {
		return expediter.Failure(cascade.Network, err.Error())
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return expediter.Failure(cascade.Upstream, resp.Status)
	}
	return expediter.Success()
}
