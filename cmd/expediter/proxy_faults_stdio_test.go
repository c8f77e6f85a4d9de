//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// soon is the deadline of calls that no answer comes to.
const soon = "proxy: {deadline: 1s}\n"

// A server on stdio does what it should not in one call; what the agent is told,
// what is recorded, and that all goes on in the same session.
func TestProxyFaultsOfServers(t *testing.T) {
	tests := []struct {
		tool, args, more string
		want             string // the agent's text, or its beginning
		cause            any    // nil: it is the server's own result
		records          []string
	}{
		{"mute", "{}", soon, "expediter: the call of mute has no result: the server did not answer within its deadline.", "timeout", []string{"CALL", "failure timeout"}},
		{"other_id", "{}", soon, "expediter: the call of other_id has no result: the server did not answer within its deadline.", "timeout", []string{"CALL", "failure timeout"}},
		{"progress", "{}", soon, "expediter: the call of progress has no result: the server did not answer within its deadline.", "timeout", []string{"CALL", "failure timeout"}},
		{"garbage", "{}", "", "ok", nil, []string{"CALL", "success"}},
		{"twice", "{}", "", "first", nil, []string{"CALL", "success"}},
		{"flood", "{}", "", "ok", nil, []string{"CALL", "success"}},
		{"nothing", "{}", "", "expediter: the call of nothing has no result: the server's answer cannot be read: it has neither", "unknown", []string{"CALL", "failure"}},
		{"deep", `{"bytes":100000}`, "", "expediter: the call of deep has no result: the server's answer cannot be read: ", "unknown", []string{"CALL", "failure"}},
		{"die", "{}", "", "expediter: the call of die has no result: the connection to the server was lost while the call was under way; whether it took effect is unknown: the server's process ended (exit status 3)",
			"network", []string{"CALL", "failure network"}},
		{"huge", `{"bytes":104857600}`, "", "expediter: the call of huge has no result: the server's message is larger than the proxy's limit for results.", "unknown", []string{"CALL", "failure"}},
	}
	for _, tt := range tests {
		t.Run(tt.tool+tt.args, func(t *testing.T) {
			t.Parallel()
			f := besideFaulty(t, "{command: mcp-faulty}", tt.more)
			a := f.ask(tt.tool, tt.args)
			if !strings.HasPrefix(a.text, tt.want) || a.failed != (tt.cause != nil) || a.verdict["cause"] != tt.cause {
				t.Errorf("the agent is told %.300q, error %t, %v", a.text, a.failed, a.verdict)
			}
			f.goesOn()
			if most := f.mostMemory(); most > 48<<20 && tt.tool != "huge" || most > 400<<20 {
				t.Errorf("the proxy has held %d MB", most>>20)
			}
			if got := f.recorded("bad/" + tt.tool); !cmp.Equal(got, tt.records) {
				t.Errorf("recorded %v, want %v", got, tt.records)
			}
		})
	}
}

// serverPid is the process of the bad server.
func (f *faults) serverPid() int {
	f.Helper()
	n, err := strconv.Atoi(f.ask("pid", "{}").text)
	if err != nil {
		f.Fatal(err)
	}
	return n
}

// What a server that is killed in mid-call had under way is lost; it is started
// anew, and tried by the agent's own next call.
func TestProxyServerKilled(t *testing.T) {
	t.Parallel()
	f := besideFaulty(t, "{command: mcp-faulty}", "")
	pid := f.serverPid()
	end := make(chan agentSees, 1)
	go func() { end <- f.ask("progress", "{}") }()
	f.until(func() (string, bool) { return "no progress", f.beat.Load() > 0 })
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	a := <-end
	if !strings.Contains(a.text, "whether it took effect is unknown: the server's process ended (signal: killed)") || a.verdict["outcome"] != "failure" {
		t.Errorf("the agent is told %q, %v", a.text, a.verdict)
	}
	skip := f.ask("ok", "{}")
	if !strings.Contains(skip.text, "SKIP. ok is unavailable: its server bad is not connected") || skip.verdict["decision"] != "SKIP" || skip.verdict["server"] != "bad" {
		t.Errorf("the agent is told %q, %v", skip.text, skip.verdict)
	}
	f.goesOn()
	if again := f.serverPid(); again == pid {
		t.Error("the same process again")
	}
	if got := slices.Compact(f.recorded("bad/ok")); !slices.Equal(got, []string{"SKIP", "PROBE", "success"}) {
		t.Errorf("recorded %v", got)
	}
}

// A server that trickles holds up its own calls alone, until it is started anew.
func TestProxyServerTrickles(t *testing.T) {
	t.Parallel()
	f := besideFaulty(t, "{command: mcp-faulty}", soon)
	pid := f.serverPid()
	if a := f.ask("trickle", "{}"); a.verdict["cause"] != "timeout" {
		t.Errorf("the agent is told %q, %v", a.text, a.verdict)
	}
	f.says("getNotes", `{"text":"x"}`, false, "notes x")
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	f.goesOn()
	if got := f.recorded("bad/trickle"); !slices.Equal(got, []string{"CALL", "failure timeout"}) {
		t.Errorf("recorded %v", got)
	}
}

// A server that closes its input and goes away in mid-write ends nobody else: a
// broken pipe is its own loss, and what was not sent is nobody's failure.
func TestProxyServerClosesItsInput(t *testing.T) {
	t.Parallel()
	f := besideFaulty(t, "{command: mcp-faulty}", "")
	f.ask("deaf", "{}")
	a := f.ask("ok", `{"x":"`+strings.Repeat("x", 1<<20)+`"}`)
	if !strings.Contains(a.text, "SKIP. ok is unavailable") || !strings.Contains(a.text, "the server closed its input") {
		t.Errorf("the agent is told %q, %v", a.text, a.verdict)
	}
	f.goesOn()
	if got := slices.Compact(f.recorded("bad/ok")); !slices.Equal(got[:2], []string{"CALL", "refused"}) || slices.Contains(got, "failure network") {
		t.Errorf("recorded %v", got)
	}
}

// A server may change its tools: they come and go in the same session.
func TestProxyServerChangesItsTools(t *testing.T) {
	t.Parallel()
	f := besideFaulty(t, "{command: mcp-faulty}", "")
	f.lists("ok", "mute", "getNotes")
	f.says("change", "{}", false, "ok")
	f.until(func() (string, bool) {
		names := f.names()
		return fmt.Sprint(names), slices.Contains(names, "new") && !slices.Contains(names, "ok") && slices.Contains(names, "getNotes")
	})
	f.says("new", "{}", false, "ok")
}

// A server that ends at its start costs only its own tools; when it can start,
// they are there.
func TestProxyServerExitsAtStart(t *testing.T) {
	t.Parallel()
	gate := filepath.Join(t.TempDir(), "gate")
	f := besideFaulty(t, fmt.Sprintf("{command: sh, args: [-c, 'test -e %s || { echo no licence >&2; exit 7; }; exec mcp-faulty']}", gate), "")
	f.says("getNotes", `{"text":"x"}`, false, "notes x")
	if slices.Contains(f.names(), "ok") {
		t.Error("it has tools already")
	}
	f.says("expediter_status", "{}", false, "no licence")
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f.until(func() (string, bool) { names := f.names(); return fmt.Sprint(names), slices.Contains(names, "ok") })
	f.goesOn()
}

// Lists without measure: of many tools, with long descriptions, and one that has
// no end.
func TestProxyLongLists(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]int{"many": 10_000 + 15 + 1 + 3, "wordy": 1 + 1 + 3, "endless": 1 + 3} {
		t.Run(kind, func(t *testing.T) {
			f := besideFaulty(t, "{command: mcp-faulty, args: ["+kind+"]}", "")
			if got := len(f.names()); got != want {
				t.Errorf("%d tools, want %d", got, want)
			}
			f.says("getNotes", `{"text":"x"}`, false, "notes x")
			if kind == "endless" {
				f.says("expediter_status", "{}", false, "more than 1000 pages")
			} else {
				f.goesOn()
			}
			if most := f.mostMemory(); most > 300<<20 {
				t.Errorf("the proxy has held %d MB", most>>20)
			}
		})
	}
}
