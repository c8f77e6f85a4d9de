//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/replay"
)

// faults are a proxy, a process, with its client, and where its journal is.
type faults struct {
	calls
	proxy    *exec.Cmd
	journals string
	log      *bytes.Buffer // to be read when the proxy has ended
	beat     atomic.Int64  // counts the signs of progress
}

// besideFaulty starts a proxy between the SDK's client and two servers: bad,
// which the text configures, and good.
func besideFaulty(t *testing.T, bad, more string) *faults {
	t.Helper()
	f := &faults{journals: t.TempDir(), log: &bytes.Buffer{}}
	config := proxyConfig(t, "mcpServers:\n  bad: "+bad+"\n  good: {command: mcp-server, args: [two]}\n"+more)
	f.proxy = exec.Command("expediter", "proxy", "--config", config, "--journal-dir", f.journals, "--log-level", "debug")
	f.proxy.Stderr, f.proxy.Env = f.log, noExitSleep()
	in, err := f.proxy.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := f.proxy.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := f.proxy.Start(); err != nil {
		t.Fatal(err)
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(context.Context, *mcp.ProgressNotificationClientRequest) { f.beat.Add(1) }}).Connect(t.Context(),
		&mcp.IOTransport{Reader: io.NopCloser(out), Writer: in, MaxLineLength: -1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	f.calls = calls{t, session}
	t.Cleanup(func() {
		if f.proxy.ProcessState == nil {
			f.end()
		}
		if t.Failed() {
			t.Logf("the proxy's log:\n%.5000s", f.log)
		}
	})
	return f
}

// noExitSleep has processes with the race detector end at once.
func noExitSleep() []string { return append(os.Environ(), "GORACE=atexit_sleep_ms=0") }

// agentSees is a tool's answer as the agent has it.
type agentSees struct {
	text    string
	failed  bool
	verdict map[string]any // of a result that no server gave; nil: none
}

func (f *faults) ask(tool, args string) agentSees {
	f.Helper()
	params := &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(args)}
	params.SetProgressToken(tool)
	res, err := f.session.CallTool(f.Context(), params)
	if err != nil {
		f.Fatalf("%s: %v", tool, err)
	}
	a := agentSees{failed: res.IsError}
	if len(res.Content) > 0 {
		a.text = res.Content[0].(*mcp.TextContent).Text
	}
	a.verdict, _ = res.Meta["io.github.expediter/decision"].(map[string]any)
	return a
}

// names are those of the tools in the list.
func (f *faults) names() (names []string) {
	f.Helper()
	for tool, err := range f.session.Tools(f.Context(), nil) {
		if err != nil {
			f.Fatal(err)
		}
		names = append(names, tool.Name)
	}
	return names
}

// goesOn requires that the other server's tools work, and that the bad
// server's do, at once or once it is back.
func (f *faults) goesOn() {
	f.Helper()
	f.says("getNotes", `{"text":"x"}`, false, "notes x")
	f.until(func() (string, bool) {
		a := f.ask("ok", "{}")
		return a.text, !a.failed && a.text == "ok"
	})
}

// end ends the session, and with it the proxy.
func (f *faults) end() {
	f.Helper()
	if err := errors.Join(f.session.Close(), f.proxy.Wait()); err != nil {
		f.Errorf("the proxy ended: %v", err)
	}
}

// recorded ends the session and returns what the journal, which is replayed,
// says of a tool: its decisions and what came of them.
func (f *faults) recorded(tool string) []string {
	f.Helper()
	f.end()
	return recordsOf(f.T, f.journals, tool)
}

// oneJournal reads the one journal of a folder, which is replayed.
func oneJournal(t *testing.T, dir string) []byte {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil || len(files) != 1 {
		t.Fatalf("got the journals %v (%v), want one", files, err)
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := replay.Journal(bytes.NewReader(data)); err != nil {
		t.Errorf("the journal: %v", err)
	}
	return data
}

func recordsOf(t *testing.T, journals, tool string) []string {
	t.Helper()
	data := oneJournal(t, journals)
	var list []string
	var calls = map[expediter.CallID]bool{} // of the tool
	for r := replay.NewReader(bytes.NewReader(data)); ; {
		e, err := r.Next()
		switch {
		case err != nil:
			return list
		case e.Op == expediter.OpDecide && e.Tool == tool:
			calls[e.Call] = true
			list = append(list, e.Decided.Decision.String())
		case e.Op == expediter.OpRecord && calls[e.Call]:
			list = append(list, strings.TrimSuffix(e.Result.String()+" "+e.Category.String(), " unknown"))
		case e.Op == expediter.OpRefuse && calls[e.Call]:
			list = append(list, "refused")
		}
	}
}

// mostMemory is the most that the proxy has held, in bytes; 0: it cannot be told.
func (f *faults) mostMemory() int {
	f.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", f.proxy.Process.Pid))
	m := regexp.MustCompile(`VmHWM:\s*(\d+) kB`).FindSubmatch(status)
	if err != nil || m == nil || withRace {
		return 0 // no Linux
	}
	n, _ := strconv.Atoi(string(m[1]))
	return n << 10
}
