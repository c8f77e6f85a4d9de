package mcpproxy

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// A script is a server whose every byte is known. It speaks one revision.
type script struct {
	version string
	suffix  string // of the names of its tools
	mu      sync.Mutex
	heads   []http.Header // of the requests over HTTP
}

// results are tools' results, by the names of the tools.
var results = map[string]string{
	"text":       `{"content":[{"type":"text","text":"a <b> & \u2028 é 日本 \"q\" \\ / \/","x-unknown":{"z":1,"a":[9007199254740993,1e400,-0,1.0]}}],"isError":false,"z-unknown":9007199254740993,"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1","odd":9007199254740993},"vendor.example/x":{"b":1,"a":2}},"resultType":"complete"}`,
	"image":      `{"resultType":"complete","content":[{"type":"image","data":"AAECAw==","mimeType":"image/png","annotations":{"audience":["user"],"priority":0.30,"lastModified":"2025-01-12T15:00:58Z","odd":1}}],"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}}`,
	"audio":      `{"resultType":"complete","content":[{"type":"audio","mimeType":"audio/wav","data":"UklGRg=="}],"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}}`,
	"link":       `{"resultType":"complete","content":[{"type":"resource_link","uri":"file:///x","name":"x","size":9007199254740993,"icons":[{"src":"data:,","theme":"dark","odd":0}]}],"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}}`,
	"embedded":   `{"resultType":"complete","content":[{"type":"resource","resource":{"uri":"a://b","blob":"","odd":null,"_meta":{"k":9007199254740993}}}],"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}}`,
	"unknown":    `{"resultType":"complete","content":[{"type":"hologram","beams":9007199254740993}],"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}}`,
	"structured": `{"resultType":"complete","content":[],"structuredContent":{"z":9007199254740993,"a":{"d":1.10,"c":[null,true]}},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}}`,
	"array":      `{"resultType":"complete","content":[],"structuredContent":[1,"two",9007199254740993],"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}}`,
	"failed":     `{"resultType":"complete","content":[{"type":"text","text":"no"}],"isError":true,"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}}`,
}

// rpcErrors are what tools answer with an error.
var rpcErrors = map[string]string{
	"refuses": `{"code":-32602,"message":"no <such> & thing","data":{"z":9007199254740993,"a":[1.0]}}`,
	"odd":     `{"code":12345,"message":"","data":"text"}`,
}

// toolJSON is a tool as a server lists it.
func toolJSON(name string) string {
	return `{"vendor":{"z":1,"a":9007199254740993},"name":"` + name + `","inputSchema":{"type":"object","properties":{"z":{"maximum":9007199254740993},"a":{"pattern":"<&>"}},"$defs":{},"additionalProperties":true},"execution":{"taskSupport":"optional"},"annotations":{"readOnlyHint":true,"odd":0},"_meta":{"k":1.0}}`
}

func (s *script) toolNames() []string {
	names := []string{"echo"}
	names = append(names, "text", "image", "audio", "link", "embedded", "unknown", "structured", "array", "failed", "refuses", "odd")
	for i := range names {
		names[i] += s.suffix
	}
	return names
}

func (s *script) toolList() string {
	var all []string
	for _, n := range s.toolNames() {
		all = append(all, toolJSON(n))
	}
	return strings.Join(all, ",")
}

const caps = `{"tools":{"listChanged":true},"resources":{"listChanged":true,"subscribe":true},"prompts":{"listChanged":true},"completions":{},"logging":{}}`

// answer is the result, or the error, of a request.
func (s *script) answer(method string, params json.RawMessage) (result, rpcError string) {
	modern := s.version >= newest
	extra := ""
	if modern {
		extra = `,"resultType":"complete","ttlMs":0,"cacheScope":"private"`
	}
	var p struct{ Name, URI string }
	_ = json.Unmarshal(params, &p)
	switch {
	case method == "initialize" && !modern:
		return `{"protocolVersion":"` + s.version + `","capabilities":` + caps + `,"serverInfo":{"name":"script","version":"1"}}`, ""
	case method == "server/discover" && modern:
		return `{"supportedVersions":["` + s.version + `"],"capabilities":` + caps + extra + `,"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"script","version":"1"}}}`, ""
	case method == "ping":
		return `{}`, ""
	case method == "tools/list":
		return `{"tools":[` + s.toolList() + `]` + extra + `}`, ""
	case method == "resources/list":
		return `{"resources":[{"odd":9007199254740993,"uri":"mem://` + s.suffix + `","name":"m"}]` + extra + `}`, ""
	case method == "resources/templates/list":
		return `{"resourceTemplates":[{"uriTemplate":"doc` + s.suffix + `://{id}/page","name":"d","odd":9007199254740993}]` + extra + `}`, ""
	case method == "prompts/list":
		return `{"prompts":[{"odd":9007199254740993,"name":"p` + s.suffix + `"}]` + extra + `}`, ""
	case method == "tools/call":
		name := strings.TrimSuffix(p.Name, s.suffix)
		if r, ok := results[name]; ok {
			return r, ""
		}
		if e, ok := rpcErrors[name]; ok {
			return "", e
		}
		if name != "echo" {
			return "", `{"code":-32602,"message":"Unknown tool"}`
		}
		fallthrough
	case method == "resources/read", method == "prompts/get", method == "completion/complete":
		return `{"content":[],"server":"` + s.suffix + `","got":` + string(params) + extra + `}`, ""
	case method == "resources/subscribe", method == "resources/unsubscribe", method == "logging/setLevel":
		return `{}`, ""
	}
	return "", `{"code":-32601,"message":"Method not found"}`
}

// reply is the message that answers a message, empty if none does.
func (s *script) reply(line []byte) string {
	var m struct {
		ID     json.RawMessage
		Method string
		Params json.RawMessage
	}
	if json.Unmarshal(line, &m) != nil || len(m.ID) == 0 || m.Method == "" {
		return ""
	}
	result, rpcError := s.answer(m.Method, m.Params)
	if rpcError != "" {
		return `{"jsonrpc":"2.0","id":` + string(m.ID) + `,"error":` + rpcError + `}`
	}
	return `{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":` + result + `}`
}

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.heads = append(s.heads, r.Header.Clone())
	s.mu.Unlock()
	if r.Method != http.MethodPost {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	body, _ := io.ReadAll(r.Body)
	if strings.Contains(string(body), `"subscriptions/listen"`) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		return
	}
	if reply := s.reply(body); reply != "" {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, reply)
		return
	}
	w.WriteHeader(http.StatusAccepted)
}

const scriptEnv = "EXPEDITER_TEST_SCRIPT"

// TestScriptProcess is not a test: it is the script as a process of its own.
func TestScriptProcess(t *testing.T) {
	spec := os.Getenv(scriptEnv)
	if spec == "" {
		return
	}
	version, suffix, _ := strings.Cut(spec, ",")
	s := &script{version: version, suffix: suffix}
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 64<<20)
	for in.Scan() {
		if reply := s.reply(in.Bytes()); reply != "" {
			fmt.Println(reply)
		}
	}
	os.Exit(0)
}

// stdio is the script as the config of a process; http as that of a URL.
func (s *script) stdio(name string) Server {
	return Server{Name: name, Command: os.Args[0], Args: []string{"-test.run=^TestScriptProcess$"},
		Env: map[string]string{scriptEnv: s.version + "," + s.suffix}}
}

func (s *script) http(t *testing.T, name string) Server {
	srv := httptest.NewServer(s)
	t.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
	})
	return Server{Name: name, URL: srv.URL}
}

// newProxy is a proxy in front of servers, closed with the test.
func newProxy(t *testing.T, servers ...Server) *Proxy {
	t.Helper()
	p, err := New(Config{Servers: servers}, Env{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// rawClient is a client that sends and sees bytes.
type rawClient interface {
	call(t *testing.T, method, params string) (result, rpcError string)
}

// message is a JSON-RPC message, its parts as they came.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// lineClient speaks to Serve.
type lineClient struct {
	w    io.Writer
	got  chan message // all that is no response
	mu   sync.Mutex
	next int
	wait map[string]chan message
}

func newLineClient(t *testing.T, p *Proxy) *lineClient {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- p.Serve(ctx, inR, outW); outW.Close() }()
	c := &lineClient{w: inW, got: make(chan message, 1000), wait: map[string]chan message{}}
	go c.read(outR)
	t.Cleanup(func() {
		inW.Close()
		cancel()
		<-done
	})
	return c
}

func (c *lineClient) read(r io.Reader) {
	in := bufio.NewReader(r)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var m message
		if json.Unmarshal(line, &m) != nil {
			panic("no JSON on stdout: " + string(line))
		}
		if m.Method != "" {
			c.got <- m
			continue
		}
		c.mu.Lock()
		ch := c.wait[string(m.ID)]
		delete(c.wait, string(m.ID))
		c.mu.Unlock()
		if ch != nil {
			ch <- m
		}
	}
}

func (c *lineClient) start(t *testing.T, method, params string) (id string, answer chan message) {
	t.Helper()
	c.mu.Lock()
	c.next++
	id = fmt.Sprint(c.next)
	answer = make(chan message, 1)
	c.wait[id] = answer
	c.mu.Unlock()
	c.send(t, `{"jsonrpc":"2.0","id":`+id+`,"method":"`+method+`","params":`+params+`}`)
	return id, answer
}

func (c *lineClient) send(t *testing.T, line string) {
	t.Helper()
	if _, err := io.WriteString(c.w, line+"\n"); err != nil {
		t.Fatal(err)
	}
}

func (c *lineClient) call(t *testing.T, method, params string) (result, rpcError string) {
	t.Helper()
	_, answer := c.start(t, method, params)
	select {
	case m := <-answer:
		return string(m.Result), string(m.Error)
	case <-time.After(30 * time.Second):
		t.Fatalf("no answer to %s", method)
		return "", ""
	}
}

// httpClient speaks to Handler.
type httpClient struct {
	url, version, session string
	head                  http.Header
}

func (c *httpClient) post(t *testing.T, body string, more http.Header) *http.Response {
	t.Helper()
	req, err := http.NewRequest("POST", c.url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if c.version != "" {
		req.Header.Set("Mcp-Protocol-Version", c.version)
	}
	if c.session != "" {
		req.Header.Set("Mcp-Session-Id", c.session)
	}
	for _, h := range []http.Header{c.head, more} {
		for k, v := range h {
			req.Header[k] = v
		}
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { res.Body.Close() })
	return res
}

func (c *httpClient) call(t *testing.T, method, params string) (result, rpcError string) {
	t.Helper()
	var p struct{ Name, URI string }
	_ = json.Unmarshal([]byte(params), &p)
	more := http.Header{}
	if c.version >= newest {
		more = http.Header{"Mcp-Method": {method}, "Mcp-Name": {p.Name + p.URI}}
	}
	res := c.post(t, `{"jsonrpc":"2.0","id":7,"method":"`+method+`","params":`+params+`}`, more)
	if id := res.Header.Get("Mcp-Session-Id"); id != "" {
		c.session = id
	}
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(body) {
		line = bytes.TrimPrefix(bytes.TrimSpace(line), []byte("data: "))
		var m message
		if json.Unmarshal(line, &m) == nil && m.Method == "" && len(m.ID) > 0 {
			return string(m.Result), string(m.Error)
		}
	}
	t.Fatalf("%s: HTTP %d without an answer: %s", method, res.StatusCode, body)
	return "", ""
}

const modernMeta = `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}},"io.modelcontextprotocol/clientInfo":{"name":"raw","version":"1"}`

const legacyInit = `{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{},"sampling":{},"roots":{}},"clientInfo":{"name":"raw","version":"1"}}`

// clientOf is a raw client on a transport, ready to call.
func clientOf(t *testing.T, p *Proxy, transport, version string) rawClient {
	t.Helper()
	var c rawClient
	var lines *lineClient
	switch transport {
	case "stdio":
		lines = newLineClient(t, p)
		c = lines
	case "http":
		srv := httptest.NewServer(p.Handler())
		t.Cleanup(func() {
			srv.CloseClientConnections()
			srv.Close()
		})
		hc := &httpClient{url: srv.URL}
		if version >= newest {
			hc.version = version
		}
		c = hc
	}
	if version >= newest {
		return c
	}
	if _, e := c.call(t, "initialize", strings.Replace(legacyInit, "2025-11-25", version, 1)); e != "" {
		t.Fatal(e)
	}
	const done = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	if lines != nil {
		lines.send(t, done)
	} else {
		hc := c.(*httpClient)
		hc.version = version
		hc.post(t, done, nil)
	}
	return c
}
