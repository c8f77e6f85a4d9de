//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const handshake = `{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`

// rawClient is a client by hand of a proxy on stdio.
type rawClient struct {
	faults
	in  io.WriteCloser
	out *bufio.Reader
}

func startRaw(t *testing.T, more string) *rawClient {
	t.Helper()
	c := &rawClient{faults: faults{calls: calls{T: t}, journals: t.TempDir(), log: &bytes.Buffer{}}}
	c.proxy = exec.Command("expediter", "proxy", "--config", proxyConfig(t, "mcpServers: {bad: {command: mcp-faulty}}\n"+more), "--journal-dir", c.journals)
	c.proxy.Stderr, c.proxy.Env = c.log, noExitSleep()
	var err error
	if c.in, err = c.proxy.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := c.proxy.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.out = bufio.NewReaderSize(out, 1<<20)
	if err := c.proxy.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.in.Close()
		_, _ = io.Copy(io.Discard, c.out)
		if err := c.proxy.Wait(); err != nil {
			t.Errorf("the proxy ended: %v\n%s", err, c.log)
		}
	})
	c.says(handshake)
	c.hears(`"id":"i"`)
	return c
}

func (c *rawClient) says(text string) {
	c.Helper()
	if _, err := io.WriteString(c.in, text); err != nil {
		c.Fatal(err)
	}
}

// hears reads lines until one has all the texts.
func (c *rawClient) hears(texts ...string) string {
	c.Helper()
	stuck := time.AfterFunc(time.Minute, func() { _ = c.proxy.Process.Kill() })
	defer stuck.Stop()
next:
	for {
		line, err := c.out.ReadString('\n')
		if err != nil {
			c.Fatalf("waiting for %q: %v", texts, err)
		}
		for _, text := range texts {
			if !strings.Contains(line, text) {
				continue next
			}
		}
		return line
	}
}

func toolCall(id, name, arguments string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":%s}}`+"\n", id, name, arguments)
}

// What a client says that is no message ends nothing: what it says next is
// answered, in the same session.
func TestProxyFaultsOfClients(t *testing.T) {
	t.Parallel()
	c := startRaw(t, "")
	tests := []struct {
		name, says string
		hears      []string
	}{
		{"no JSON", "hello\n", []string{`"id":null`, "-32700"}},
		{"cut off", `{"jsonrpc":"2.0","id":1,"method":` + "\n", []string{`"id":null`, "-32700"}},
		{"no message", `{"id":5,"method":"ping"}` + "\n", []string{`"id":5`, "-32600"}},
		{"deep arguments", toolCall("6", "ok", nested(100_000)), []string{`"id":null`, "-32700"}},
		{"arguments too deep for a message", toolCall("7", "ok", nested(9_900)), []string{`"id":7`, "-32600"}},
		{"a result as deep", toolCall("16", "deep", `{"bytes":9900}`), []string{`"id":16`, nested(9_900)}},
		{"a request beyond 16 MiB", toolCall("8", "ok", `"`+strings.Repeat("x", 17<<20)+`"`), []string{`"id":null`, "-32600"}},
		{"a large request", toolCall("9", "ok", `{"x":"`+strings.Repeat("x", 15<<20)+`"}`), []string{`"id":9`, `"text":"ok"`}},
		{"an id twice", toolCall("10", "mute", "{}") + toolCall("10", "ok", "{}") + toolCall("11", "ok", "{}"), []string{`"id":11`, `"text":"ok"`}},
		{"cancelled what is not there", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}` + "\n" + toolCall("12", "ok", "{}"), []string{`"id":12`, "ok"}},
		{"an answer to nothing", `{"jsonrpc":"2.0","id":77,"result":{}}` + "\n" + toolCall("13", "ok", "{}"), []string{`"id":13`, "ok"}},
		{"a batch", "[" + strings.TrimSpace(toolCall("14", "ok", "{}")) + `,7,{"jsonrpc":"2.0","id":15,"method":"ping"}]` + "\n", []string{`"id":15`, `"result"`}},
	}
	for _, tt := range tests {
		c.says(tt.says)
		c.hears(tt.hears...)
	}
	if most := c.mostMemory(); most > 400<<20 {
		t.Errorf("the proxy has held %d MB", most>>20)
	}
}

// A large result passes through as it is.
func TestProxyPassesLargeResults(t *testing.T) {
	t.Parallel()
	c := startRaw(t, "")
	const size = largeResult
	c.says(toolCall("1", "huge", fmt.Sprintf(`{"bytes":%d}`, size)))
	if got := c.hears(`"id":1`); !strings.Contains(got, `"`+strings.Repeat("x", size)+`"`) {
		t.Errorf("got %d bytes", len(got))
	}
	if most := c.mostMemory(); most > 6*size+64<<20 {
		t.Errorf("the proxy has held %d MB", most>>20)
	}
}

// A client that asks and asks and reads nothing is held up, and the proxy does
// not grow with it.
func TestProxyClientThatDoesNotRead(t *testing.T) {
	t.Parallel()
	c := startRaw(t, "proxy: {max_in_flight: 100}\n")
	const most = 3_000
	sent := make(chan int, 1)
	go func() {
		large := `{"x":"` + strings.Repeat("x", 4096) + `"}`
		for n := range most {
			if _, err := io.WriteString(c.in, toolCall(fmt.Sprint(n), "ok", large)); err != nil {
				sent <- n
				return
			}
		}
		sent <- most
	}()
	select {
	case n := <-sent:
		t.Errorf("the proxy took %d calls of a client that does not read", n)
	case <-time.After(time.Second): // it stands still; nothing says so
	}
	if used := c.mostMemory(); used > 200<<20 {
		t.Errorf("the proxy has held %d MB", used>>20)
	}
	drained := make(chan struct{})
	go func() { defer close(drained); _, _ = io.Copy(io.Discard, c.out) }() // now it reads
	t.Cleanup(func() { _ = c.in.Close(); <-drained })
	select {
	case n := <-sent:
		if n != most {
			t.Errorf("%d calls were taken, want %d", n, most)
		}
	case <-time.After(3 * time.Minute):
		t.Error("the proxy is stuck")
	}
}

// The client cancels: the server is told, nobody is blamed.
func TestProxyClientCancels(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"mute", "progress"} {
		f := besideFaulty(t, "{command: mcp-faulty}", "proxy: {deadline: 1s, progress_extends: "+fmt.Sprint(tool == "progress")+"}\n")
		if tool == "mute" {
			f.says("ok", "{}", false, "ok")
		}
		c := startCancelled(f, tool)
		if c == nil {
			t.Errorf("%s: a call that was cancelled has a result", tool)
		}
		f.goesOn()
		if got, want := fmt.Sprint(f.recorded("bad/"+tool)), "[CALL ignored]"; got != want {
			t.Errorf("recorded %s, want %s", got, want)
		}
		if !strings.Contains(f.log.String(), "told that a call was cancelled") {
			t.Errorf("%s: the server does not know", tool)
		}
	}
}

// startCancelled makes a call and cancels it: one with progress when that has
// come for longer than the deadline.
func startCancelled(f *faults, tool string) error {
	after := 200 * time.Millisecond
	if tool == "progress" {
		after = 2 * time.Second
	}
	ctx, cancel := context.WithTimeout(f.Context(), after)
	defer cancel()
	_, err := f.session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage("{}")})
	return err
}

// Over HTTP what is no message is refused by itself.
func TestProxyFaultsOfHTTPClients(t *testing.T) {
	t.Parallel()
	url := listening(t, "127.0.0.1:0", "mcpServers: {bad: {command: mcp-faulty}}\n")
	session, err := connectHTTP(t.Context(), url, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	for name, body := range map[string]string{"no JSON": "hello", "nothing": "", "cut off": `{"jsonrpc":"2.0",`, "no message": `{"id":5}`, "deep": toolCall("6", "ok", nested(100_000)),
		"no array": "[1,2", "an empty batch": "[]", "an id that is none": `{"jsonrpc":"2.0","id":{},"method":"ping"}`} {
		req, err := http.NewRequest("POST", url, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Mcp-Session-Id": {session.ID()}}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: HTTP %d, want 400", name, res.StatusCode)
		}
		if got, failed := (calls{t, session}).call("ok", "{}"); got != "ok" || failed {
			t.Errorf("after %s: %q", name, got)
		}
	}
}
