package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// perBlock is how many calls one way makes before it is the next one's turn.
const perBlock = 50

// BenchmarkProxy measures calls of a tool that does nothing, in processes of
// their own, in turns: straight to its server, through a plain proxy of the SDK's
// parts, and through ours; and calls of a tool that is skipped. Of each it tells
// p50 and p99, what the proxies add to the direct call, and the ratios.
func BenchmarkProxy(b *testing.B) {
	for _, transport := range []string{"stdio", "http"} {
		for _, version := range []string{"2025-11-25", "2026-07-28"} {
			b.Run(transport+"/"+version, func(b *testing.B) { benchProxy(b, transport, version) })
		}
	}
}

func benchProxy(b *testing.B, transport, version string) {
	server := []string{"mcp-bench", "server", transport, version}
	behind := strings.Join(server, " ")
	if transport == "http" {
		behind = serveBench(b, server...)
		server = []string{behind}
	}
	config := benchConfig(b, behind)
	ours := []string{"expediter", "proxy", "--log-level", "info", "--config", config}
	plain := []string{"mcp-bench", "plain", transport, version, behind}
	if transport == "http" {
		ours = []string{serveBench(b, append(ours, "--listen", "127.0.0.1:0")...)}
		plain = []string{serveBench(b, plain...)}
	}
	through := connectBench(b, version, ours)
	ways := []*way{
		{name: "direct", session: connectBench(b, version, server)},
		{name: "plain", session: connectBench(b, version, plain)},
		{name: "ours", session: through},
		{name: "skip", session: through, skips: true},
	}
	for _, w := range ways {
		w.warmUp(b)
	}
	turn := 0
	for b.Loop() {
		for i := range ways {
			ways[(turn+i)%len(ways)].block(b)
		}
		turn++
	}
	b.ReportMetric(0, "ns/op") // of all of them together, which says nothing
	tellWays(b, ways)
}

// way is one way to the tool, and what its calls took.
type way struct {
	name    string
	session *mcp.ClientSession
	skips   bool
	took    []time.Duration
	blocks  [][2]time.Duration // p50 and p99 of each
}

// warmUp makes the connections and, where calls are to be skipped, opens the tool.
func (w *way) warmUp(b *testing.B) {
	for range 20 * perBlock {
		if took := w.call(b); w.skips && took > 0 {
			return
		}
	}
	if w.skips {
		b.Fatal("the broken tool is not skipped")
	}
}

// call makes one call. It returns zero for one that was to be skipped and was
// made: a trial.
func (w *way) call(b *testing.B) time.Duration {
	params := &mcp.CallToolParams{Name: "noop", Arguments: json.RawMessage(`{"text":"a small argument"}`)}
	if w.skips {
		params.Name = "broken"
	}
	began := time.Now()
	r, err := w.session.CallTool(b.Context(), params)
	took := time.Since(began)
	if err != nil || r.IsError != w.skips || len(r.Content) != 1 {
		b.Fatalf("%s: %v: %+v", w.name, err, r)
	}
	if w.skips && r.Meta["io.github.expediter/decision"] == nil {
		return 0
	}
	return took
}

func (w *way) block(b *testing.B) {
	var took []time.Duration
	for len(took) < perBlock {
		if d := w.call(b); d > 0 {
			took = append(took, d)
		}
	}
	w.took = append(w.took, took...)
	w.blocks = append(w.blocks, [2]time.Duration{percentile(took, 50), percentile(took, 99)})
}

func percentile(list []time.Duration, p int) time.Duration {
	list = slices.Sorted(slices.Values(list))
	return list[(len(list)-1)*p/100]
}

// tellWays prints the table of one transport and revision.
func tellWays(b *testing.B, ways []*way) {
	var at [2][4]float64 // of p50 and p99, in µs
	for i, w := range ways {
		for k, p := range []int{50, 99} {
			at[k][i] = float64(percentile(w.took, p)) / 1000
		}
	}
	b.Logf("%d calls of each, %d cores, %s", len(ways[0].took), runtime.NumCPU(), runtime.Version())
	for k, p := range []string{"p50", "p99"} {
		direct, plain, ours, skip := at[k][0], at[k][1], at[k][2], at[k][3]
		b.Logf("%s µs: direct %.0f, plain proxy %.0f, expediter %.0f, SKIP %.0f; added %.2f of the plain proxy's, SKIP %.2f of direct",
			p, direct, plain, ours, skip, (ours-direct)/(plain-direct), skip/direct)
		b.ReportMetric((ours-direct)/(plain-direct), "added-"+p)
		b.ReportMetric(skip/direct, "skip-"+p)
	}
	var added, skip []float64
	for i, direct := range ways[0].blocks {
		if plain := ways[1].blocks[i][0]; plain > direct[0] {
			added = append(added, float64(ways[2].blocks[i][0]-direct[0])/float64(plain-direct[0]))
			skip = append(skip, float64(ways[3].blocks[i][0])/float64(direct[0]))
		}
	}
	slices.Sort(added)
	slices.Sort(skip)
	if n := len(added); n > 0 {
		b.Logf("p50 of blocks, the middle one: added %.2f (%.2f to %.2f in nine of ten), SKIP %.2f", added[n/2], added[n/20], added[n-1-n/20], skip[n/2])
	}
}

// benchConfig is the proxy's file, for a server that is a URL or a command.
func benchConfig(b *testing.B, server string) string {
	entry := map[string]any{"url": server}
	if argv := strings.Fields(server); len(argv) > 1 {
		entry = map[string]any{"command": argv[0], "args": argv[1:]}
	}
	data, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"bench": entry}})
	path := filepath.Join(b.TempDir(), "proxy.json")
	if err == nil {
		err = os.WriteFile(path, data, 0o600)
	}
	if err != nil {
		b.Fatal(err)
	}
	return path
}

var benchURL = regexp.MustCompile(`http://127\.0\.0\.1:\d+[\w/]*`)

// serveBench starts a process that serves HTTP, and returns its URL, which it
// says on standard error.
func serveBench(tb testing.TB, argv ...string) string {
	cmd := exec.Command(argv[0], argv[1:]...)
	out, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	})
	var said strings.Builder
	for in := bufio.NewScanner(out); in.Scan(); {
		fmt.Fprintln(&said, in.Text())
		if url := benchURL.FindString(in.Text()); url != "" && strings.Contains(in.Text(), "listening") {
			go func() { _, _ = io.Copy(os.Stderr, out) }()
			return url
		}
	}
	tb.Fatalf("%v does not say where it listens: %s", argv, said.String())
	return ""
}

// connectBench connects the SDK's client to a URL or a command.
func connectBench(tb testing.TB, version string, to []string) *mcp.ClientSession {
	var transport mcp.Transport = &mcp.StreamableClientTransport{Endpoint: to[0]}
	if len(to) > 1 {
		cmd := exec.Command(to[0], to[1:]...)
		cmd.Stderr = os.Stderr
		transport = &mcp.CommandTransport{Command: cmd}
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "1"}, nil)
	session, err := client.Connect(context.Background(), transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = session.Close() })
	if got := session.InitializeResult().ProtocolVersion; got != version {
		tb.Fatalf("%v speaks %s, want %s", to, got, version)
	}
	return session
}
