package mcpproxy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"pgregory.net/rapid"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/replay"
)

// ways are all that a call can come to.
var ways = map[string]func(b *bench, c *client, ctx context.Context, cancel func(), to target) (answer, error){
	"result": func(*bench, *client, context.Context, func(), target) (answer, error) {
		return answer{Result: json.RawMessage(okResult)}, nil
	},
	"failure": func(*bench, *client, context.Context, func(), target) (answer, error) {
		return answer{Result: json.RawMessage(broken)}, nil
	},
	"garbage": func(*bench, *client, context.Context, func(), target) (answer, error) {
		return answer{Result: json.RawMessage(`[`)}, nil
	},
	"nothing": func(*bench, *client, context.Context, func(), target) (answer, error) { return answer{}, nil },
	"rpc error": func(*bench, *client, context.Context, func(), target) (answer, error) {
		return answer{Error: &jsonrpc.Error{Code: -32603, Message: "boom"}}, nil
	},
	"refused on the way": func(*bench, *client, context.Context, func(), target) (answer, error) {
		return answer{}, &jsonrpc.Error{Code: -32602, Message: "bad"}
	},
	"down": func(*bench, *client, context.Context, func(), target) (answer, error) {
		return answer{}, fmt.Errorf("%w: EOF", errDown)
	},
	"lost": func(*bench, *client, context.Context, func(), target) (answer, error) {
		return answer{}, fmt.Errorf("%w: EOF", errLost)
	},
	"deadline": func(*bench, *client, context.Context, func(), target) (answer, error) { return answer{}, errDeadline },
	"too large": func(*bench, *client, context.Context, func(), target) (answer, error) {
		return answer{}, errTooLarge
	},
	"gone and lost": func(_ *bench, c *client, _ context.Context, _ func(), to target) (answer, error) {
		setUp(to.up, false)
		c.serverDown(to.up, errors.New("exit status 2"))
		return answer{}, fmt.Errorf("%w: EOF", errLost)
	},
	"cancelled": func(_ *bench, _ *client, ctx context.Context, cancel func(), _ target) (answer, error) {
		cancel()
		return answer{}, context.Cause(ctx)
	},
	"panic":     func(*bench, *client, context.Context, func(), target) (answer, error) { panic("no") },
	"nil panic": func(*bench, *client, context.Context, func(), target) (answer, error) { panic(nil) },
	"end of world": func(*bench, *client, context.Context, func(), target) (answer, error) {
		runtime.Goexit()
		return answer{}, nil
	},
}

var wayNames = func() []string {
	var names []string
	for n := range ways {
		names = append(names, n)
	}
	return names
}()

// Whatever servers, humans and clients do: each call that was allowed is recorded
// exactly once, none is made that was not allowed, and the journal replays.
func TestEachAllowedCallIsRecordedOnce(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		cfg := two
		cfg.Strict = rapid.Bool().Draw(rt, "strict")
		cfg.Policy.Budget = rapid.IntRange(1, 6).Draw(rt, "budget")
		cfg.Tools = capability.Map{{Tool: "hub/search", Alternatives: []capability.Alternative{{Tool: "alt/find", Passthrough: rapid.Bool().Draw(rt, "passthrough")}}}, {Tool: "hub/read"}}
		b := newBench(t, cfg, twoTools)
		h := human{elicit: func(context.Context, string, json.RawMessage) (string, json.RawMessage, error) {
			choice := rapid.SampledFrom([]string{choiceCycle, choiceConfirm, choiceStop}).Draw(rt, "choice")
			return "accept", encode(map[string]string{"choice": choice}), nil
		}}
		c := b.newClient(fmt.Sprint(b.env.JournalDir), h)
		made := uint64(0)
		rt.Repeat(map[string]func(*rapid.T){
			"call": func(rt *rapid.T) {
				to := b.target(t, rapid.SampledFrom([]string{"hub/search", "hub/read", "alt/find"}).Draw(rt, "tool"))
				way := ways[rapid.SampledFrom(wayNames).Draw(rt, "way")]
				again := ways[rapid.SampledFrom([]string{"result", "failure", "lost", "panic"}).Draw(rt, "instead")]
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				var done sync.WaitGroup
				done.Go(func() { // a goroutine that may end
					first := true
					_, _ = c.callTool(ctx, to, someParams, func(ctx context.Context, to target, _ json.RawMessage) (answer, error) {
						made++
						if first {
							first = false
							return way(b, c, ctx, cancel, to)
						}
						return again(b, c, ctx, cancel, to)
					})
				})
				done.Wait()
			},
			"down": func(rt *rapid.T) {
				u := rapid.SampledFrom(b.ups).Draw(rt, "server")
				setUp(u, false)
				c.serverDown(u, errors.New("EOF"))
			},
			"up": func(rt *rapid.T) {
				u := rapid.SampledFrom(b.ups).Draw(rt, "server")
				setUp(u, true)
				c.serverUp(u)
			},
			"time": func(rt *rapid.T) {
				b.pass(time.Duration(rapid.Int64Range(0, 400).Draw(rt, "seconds")) * time.Second)
			},
			"": func(rt *rapid.T) {
				st := c.engine.Status()
				if n := st.Counts; n.Calls+n.Probes != n.Successes+n.Failures+n.Ignored || n.Calls+n.Probes != made {
					rt.Fatalf("%d were made; %+v", made, n)
				}
				if len(c.engine.Snapshot().Pending) != 0 || c.busy.Load() != 0 {
					rt.Fatalf("pending %v, busy %d", c.engine.Snapshot().Pending, c.busy.Load())
				}
			},
		})
		c.close()
		checkJournal(rt, b.env.JournalDir)
	})
}

func checkJournal(t rapid.TB, dir string) {
	files, _ := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := replay.Journal(bytes.NewReader(data)); err != nil {
			t.Fatalf("%v", err)
		}
		recorded := map[expediter.CallID]int{}
		for line := range bytes.Lines(data) {
			var ev expediter.Event
			if err := json.Unmarshal(line, &ev); err != nil {
				t.Fatal(err)
			}
			switch ev.Op {
			case expediter.OpDecide:
				if ev.Call != 0 {
					recorded[ev.Call] += 0
				}
			case expediter.OpRecord, expediter.OpRefuse:
				recorded[ev.Call]++
			}
		}
		for id, n := range recorded {
			if n != 1 {
				t.Fatalf("call %v was recorded %d times", id, n)
			}
		}
		_ = os.Remove(name)
	}
}

// The same with everything at once; the race detector watches.
func TestEverythingAtOnce(t *testing.T) {
	cfg := two
	cfg.Tools = capability.Map{{Tool: "hub/search", SideEffects: capability.EffectsNone, Alternatives: []capability.Alternative{{Tool: "alt/find", Passthrough: true}}}}
	b := newBench(t, cfg, twoTools)
	c := b.newClient("s", human{elicit: func(context.Context, string, json.RawMessage) (string, json.RawMessage, error) {
		return "accept", encode(map[string]string{"choice": choiceCycle}), nil
	}})
	keys := []string{"hub/search", "hub/read", "alt/find"}
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for k := range 100 {
				switch u := b.ups[k%2]; {
				case i == 0:
					setUp(u, false)
					c.serverDown(u, errors.New("EOF"))
					setUp(u, true)
					c.serverUp(u)
				case i == 1 && k%10 == 0:
					own(t, c, []string{ownStatus, ownReport}[k/10%2], `{}`)
				}
				ctx, cancel := context.WithCancel(t.Context())
				name := wayNames[(i*37+k)%len(wayNames)]
				var one sync.WaitGroup
				one.Go(func() {
					_, _ = c.callTool(ctx, b.target(t, keys[k%3]), someParams, func(ctx context.Context, to target, _ json.RawMessage) (answer, error) {
						b.pass(500 * time.Millisecond)
						return ways[name](b, c, ctx, cancel, to)
					})
				})
				one.Wait()
				cancel()
			}
		})
	}
	all.Wait()
	if n := c.engine.Status().Counts; n.Calls+n.Probes != n.Successes+n.Failures+n.Ignored || c.busy.Load() != 0 {
		t.Errorf("%+v, busy %d", n, c.busy.Load())
	}
	c.close()
	checkJournal(t, b.env.JournalDir)
}

func BenchmarkCallTool(b *testing.B) {
	for _, kind := range []string{"call", "call with a journal", "skip"} {
		b.Run(kind, func(b *testing.B) {
			p := newBench(b, two, twoTools)
			if kind != "call with a journal" {
				p.env.JournalDir = ""
			}
			c := p.newClient("s", human{})
			to := p.target(b, "hub/search")
			f := gives(okResult)
			if kind == "skip" {
				if err := c.engine.ForceOpen(to.key, "a benchmark", expediter.NoStep, c.now()); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportAllocs()
			for b.Loop() {
				_, _ = c.callTool(b.Context(), to, someParams, f)
			}
		})
	}
}
