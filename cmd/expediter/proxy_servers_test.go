//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/replay"
)

// serversFolder is where `make mcpservers` has put the public servers.
const serversFolder = "MCP_SERVERS"

// realServers returns the folder of the public servers' programs.
func realServers(t *testing.T) string {
	t.Helper()
	dir := os.Getenv(serversFolder)
	if dir != "" {
		return filepath.Join(dir, "node_modules", ".bin")
	}
	const do = "run 'make mcpservers', which needs Node 18 or later with npm (packages nodejs and npm)"
	if os.Getenv("CI") == "true" {
		t.Fatal("the public MCP servers are missing; " + do)
	}
	t.Skip(do)
	return ""
}

// realConfig has the three servers. That of files starts while there is a gate,
// and says under which number it runs.
const realConfig = `
mcpServers:
  everything: {command: %[1]s/mcp-server-everything}
  files:
    command: sh
    args: [-c, 'test -e %[2]s/gate || exit 9; echo $$ >%[2]s/pid; exec %[1]s/mcp-server-filesystem %[2]s/files']
  memory: {command: %[1]s/mcp-server-memory, env: {MEMORY_FILE_PATH: %[2]s/memory.json}}
capability_map:
  - tool: files/read_text_file
    provides: the text of a file
    alternatives:
      - {tool: memory/search_nodes, method: search what was noted of the file, degradation: notes alone, level: high}
    fallback: ask the user to paste the file
    side_effects: none
  - tool: memory/search_nodes
    provides: search in the notes
    fallback: ask the user
`

// The SDK's client drives three public servers through the proxy: list, call,
// kill one, SKIP with its route, restart, PROBE, CALL.
func TestProxyOfRealServers(t *testing.T) {
	bin, dir := realServers(t), t.TempDir()
	gate := filepath.Join(dir, "gate")
	write := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(gate, "")
	write(filepath.Join(dir, "files", "a.txt"), "what is in it\n")
	journals := filepath.Join(dir, "journals")
	cmd := exec.Command("expediter", "proxy", "--config", proxyConfig(t, fmt.Sprintf(realConfig, bin, dir)), "--journal-dir", journals)
	cmd.Stderr = t.Output()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := calls{t, session}
	c.lists("echo", "read_text_file", "create_entities", "search_nodes", "expediter_status")
	c.says("echo", `{"message":"hello"}`, false, "Echo: hello")
	c.says("create_entities", `{"entities":[{"name":"a.txt","entityType":"file","observations":["noted"]}]}`, false, "noted")
	read := fmt.Sprintf(`{"path":%q}`, filepath.Join(dir, "files", "a.txt"))
	c.says("read_text_file", read, false, "what is in it")

	if err := os.Remove(gate); err != nil {
		t.Fatal(err)
	}
	kill(t, filepath.Join(dir, "pid"))
	skip := c.until(func() (string, bool) {
		text, failed := c.call("read_text_file", read)
		return text, failed && strings.Contains(text, "SKIP")
	})
	t.Log(skip)
	for _, want := range []string{"files", "search_nodes", "search what was noted of the file", "notes alone"} {
		if !strings.Contains(skip, want) {
			t.Errorf("the SKIP does not say %q: %s", want, skip)
		}
	}
	c.says("search_nodes", `{"query":"a.txt"}`, false, "noted")
	c.says("echo", `{"message":"still"}`, false, "Echo: still")

	write(gate, "")
	text := c.until(func() (string, bool) { text, failed := c.call("read_text_file", read); return text, !failed })
	if !strings.Contains(text, "what is in it") {
		t.Errorf("after the restart: %q", text)
	}
	c.says("read_text_file", read, false, "what is in it")
	c.lists("read_text_file")
	if err := session.Close(); err != nil {
		t.Error(err)
	}
	verbs := verbsOf(t, journals, "files/read_text_file")
	if want := []string{"CALL", "SKIP", "PROBE", "CALL"}; !cmp.Equal(slices.Compact(verbs), want) {
		t.Errorf("decisions: got %v, want %v", verbs, want)
	}
}

// lists requires tools in the list.
func (c calls) lists(want ...string) {
	c.Helper()
	var names []string
	for tool, err := range c.session.Tools(c.Context(), nil) {
		if err != nil {
			c.Fatal(err)
		}
		names = append(names, tool.Name)
	}
	for _, name := range want {
		if !slices.Contains(names, name) {
			c.Errorf("the list has no %s: %v", name, names)
		}
	}
}

// says requires an answer that has a text.
func (c calls) says(tool, args string, failed bool, want string) {
	c.Helper()
	if text, got := c.call(tool, args); got != failed || !strings.Contains(text, want) {
		c.Errorf("%s: error %t, %q; want %t, %q", tool, got, text, failed, want)
	}
}

// until asks until the answer is the one that was waited for.
func (c calls) until(ask func() (text string, done bool)) string {
	c.Helper()
	turn := time.NewTicker(50 * time.Millisecond)
	defer turn.Stop()
	end := time.After(time.Minute)
	for {
		text, done := ask()
		if done {
			return text
		}
		select {
		case <-turn.C:
		case <-end:
			c.Fatalf("it did not come; the last answer: %s", text)
		}
	}
}

// kill ends the process whose number a file holds.
func kill(t *testing.T, file string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}

// verbsOf are the decisions about a tool in the one journal of a folder, which
// is replayed.
func verbsOf(t *testing.T, dir, tool string) []string {
	t.Helper()
	data := oneJournal(t, dir)
	var verbs []string
	for r := replay.NewReader(bytes.NewReader(data)); ; {
		e, err := r.Next()
		if err != nil {
			break
		}
		if e.Op == expediter.OpDecide && e.Tool == tool {
			verbs = append(verbs, e.Decided.Decision.String())
		}
	}
	return verbs
}
