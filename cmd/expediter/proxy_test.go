//go:build unix

package main

import (
	"bufio"
	"context"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// proxyConfig writes a configuration, and returns its path.
func proxyConfig(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "proxy.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// calls are a client's, whose errors end the test.
type calls struct {
	*testing.T
	session *mcp.ClientSession
}

func (c calls) call(name, args string) (text string, failed bool) {
	c.Helper()
	text, failed, err := callText(c.Context(), c.session, []string{name, args})
	if err != nil {
		c.Fatalf("%s: %v", name, err)
	}
	return text, failed
}

// gone reports that a process has ended and has been waited for.
func gone(t *testing.T, pid string) bool {
	t.Helper()
	n, err := strconv.Atoi(pid)
	if err != nil {
		t.Fatal(err)
	}
	return errors.Is(syscall.Kill(n, 0), syscall.ESRCH)
}

func TestProxyEndsBySignalWithItsServers(t *testing.T) {
	for _, signal := range []os.Signal{syscall.SIGTERM, os.Interrupt} {
		t.Run(signal.String(), func(t *testing.T) {
			cmd := exec.Command("expediter", "proxy", "--config", proxyConfig(t, "mcpServers: {one: {command: mcp-server}}\n"))
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			session, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(), &mcp.IOTransport{Reader: out, Writer: in}, nil)
			if err != nil {
				t.Fatal(err)
			}
			// A pipe that broke, as that of a server that ends, is no reason to.
			if err := cmd.Process.Signal(syscall.SIGPIPE); err != nil {
				t.Fatal(err)
			}
			pid, _ := calls{t, session}.call("pid", `{"text":""}`)
			if err := cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			// Its input stays open: the signal alone ends it.
			if state, err := cmd.Process.Wait(); err != nil || state.ExitCode() != 0 {
				t.Errorf("the proxy ended with %v (%v), want status 0", state, err)
			}
			if !gone(t, pid) {
				t.Errorf("the server %s is still there", pid)
			}
		})
	}
}

func TestProxyEndsWithItsClient(t *testing.T) {
	cmd := exec.Command("expediter", "proxy", "--config", proxyConfig(t, "mcpServers: {one: {command: mcp-server}}\n"))
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	pid, _ := calls{t, session}.call("pid", `{"text":""}`)
	if err := session.Close(); err != nil {
		t.Error(err)
	}
	if !gone(t, pid) {
		t.Errorf("the server %s is still there", pid)
	}
}

// bearer adds a token to each request.
type bearer string

func (b bearer) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(req)
}

// listening starts a proxy on HTTP and returns its URL.
func listening(t *testing.T, address, config string) string {
	t.Helper()
	cmd := exec.Command("expediter", "proxy", "--listen", address, "--config", proxyConfig(t, config))
	log, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	found := make(chan string, 1)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for lines := bufio.NewScanner(log); lines.Scan(); {
			if m := regexp.MustCompile(`"url": "(.*?)"`).FindStringSubmatch(lines.Text()); m != nil {
				found <- m[1]
			}
		}
	}()
	t.Cleanup(func() {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		<-ended
		if err := cmd.Wait(); err != nil {
			t.Errorf("the proxy ended with %v", err)
		}
	})
	select {
	case url := <-found:
		return url
	case <-ended:
		t.Fatal("the proxy ended")
	case <-time.After(30 * time.Second):
		t.Fatal("the proxy does not listen")
	}
	return ""
}

func connectHTTP(ctx context.Context, url string, client *http.Client) (*mcp.ClientSession, error) {
	return mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(ctx, &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: client}, nil)
}

func TestProxyListens(t *testing.T) {
	url := listening(t, "localhost:0", "mcpServers: {one: {command: mcp-server}}\n")
	session, err := connectHTTP(t.Context(), url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, failed := (calls{t, session}).call("read_note", `{"text":"x"}`); got != "note x" || failed {
		t.Errorf("got %q, error %t", got, failed)
	}
	// The session's stream stays open: the end of the proxy does not wait for it.
}

func TestProxyListensWithToken(t *testing.T) {
	t.Setenv("LISTEN_TOKEN", "sesame-open")
	url := listening(t, ":0", "mcpServers: {one: {command: mcp-server}}\nproxy: {listen_token: '${LISTEN_TOKEN}'}\n")
	url = strings.Replace(url, "[::]", "127.0.0.1", 1)
	if _, err := connectHTTP(t.Context(), url, nil); err == nil || !strings.Contains(err.Error(), "Unauthorized") {
		t.Errorf("without a token: got %v", err)
	}
	session, err := connectHTTP(t.Context(), url, &http.Client{Transport: bearer("sesame-open")})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	if got, _ := (calls{t, session}).call("read_note", `{"text":"x"}`); got != "note x" {
		t.Errorf("got %q", got)
	}
}

// What a proxy did that is killed outright is in its journal, its servers end,
// and the next one begins beside it.
func TestProxyKilled(t *testing.T) {
	journals := t.TempDir()
	config := proxyConfig(t, "mcpServers: {one: {command: mcp-server}}\n")
	start := func() (*exec.Cmd, calls) {
		cmd := exec.Command("expediter", "proxy", "--config", config, "--journal-dir", journals)
		session, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return cmd, calls{t, session}
	}
	cmd, c := start()
	pid, _ := c.call("pid", `{"text":""}`)
	c.call("fetch_note", `{"text":""}`)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := callText(t.Context(), c.session, []string{"pid"}); err == nil {
		t.Error("a call of a killed proxy has a result")
	}
	_ = c.session.Close() // says that it was killed
	if got, want := verbsOf(t, journals, "one/fetch_note"), []string{"CALL"}; !cmp.Equal(got, want) {
		t.Errorf("decisions: got %v, want %v", got, want)
	}
	c.until(func() (string, bool) { return "the server " + pid + " is there", gone(t, pid) })
	_, again := start()
	again.says("read_note", `{"text":"x"}`, false, "note x")
	if err := again.session.Close(); err != nil {
		t.Error(err)
	}
	if files, _ := filepath.Glob(filepath.Join(journals, "*.jsonl")); len(files) != 2 {
		t.Errorf("got the journals %v, want two", files)
	}
}
