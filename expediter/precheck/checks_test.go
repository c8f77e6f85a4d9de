package precheck_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/expediter/precheck"
)

func TestChecks(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "tool")
	text := filepath.Join(dir, "text")
	dangling := filepath.Join(dir, "dangling")
	for path, mode := range map[string]os.FileMode{program: 0o700, text: 0o600} {
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(dir, "gone"), dangling); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	tests := []struct {
		name  string
		check precheck.Check
		want  capability.Score
		fails bool
	}{
		{"tool in the list", precheck.ToolExists("Grep", []string{"Read", "Grep"}), capability.Available, false},
		{"tool not in the list", precheck.ToolExists("Grep", []string{"Read", "grep"}), capability.Unavailable, false},
		{"program on PATH", precheck.ProgramOnPath("tool"), capability.Available, false},
		{"program not on PATH", precheck.ProgramOnPath("rg"), capability.Unavailable, false},
		{"program without the x bit", precheck.ProgramOnPath("text"), capability.Unavailable, false},
		{"program by its path", precheck.ProgramOnPath(program), capability.Available, false},
		{"program gone from its path", precheck.ProgramOnPath(filepath.Join(dir, "gone")), capability.Unavailable, false},
		{"file", precheck.FileExists(text), capability.Available, false},
		{"folder", precheck.FileExists(dir), capability.Available, false},
		{"no file", precheck.FileExists(filepath.Join(dir, "gone")), capability.Unavailable, false},
		{"dangling link", precheck.FileExists(dangling), capability.Unavailable, false},
		{"path through a file", precheck.FileExists(filepath.Join(text, "x")), capability.Available, true},
		{"all good", precheck.All(fixed(0, nil), fixed(0, nil)), capability.Available, false},
		{"all with one degraded", precheck.All(fixed(capability.Degraded, nil), fixed(0, nil)), capability.Degraded, false},
		{"all with one gone", precheck.All(fixed(capability.Degraded, nil), fixed(0, errors.New("x")), fixed(capability.Unavailable, nil)), capability.Unavailable, false},
		{"all with one that fails", precheck.All(fixed(0, errors.New("x")), fixed(0, nil)), capability.Available, true},
		{"all of none", precheck.All(), capability.Available, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.check(t.Context())
			if got != tt.want || (err != nil) != tt.fails {
				t.Errorf("got %v, %v; want %v, error: %v", got, err, tt.want, tt.fails)
			}
		})
	}
}

func TestAllStopsAtUnavailable(t *testing.T) {
	last := &counted{}
	check := precheck.All(fixed(capability.Unavailable, nil), last.check)
	if got, err := check(t.Context()); got != capability.Unavailable || err != nil {
		t.Errorf("got %v, %v; want unavailable", got, err)
	}
	if got := last.runs.Load(); got != 0 {
		t.Errorf("checks after the verdict: got %d, want 0", got)
	}
}

// listen opens a port; with refuse it closes it again, so that the port
// refuses connections.
func listen(t *testing.T, refuse bool) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if refuse {
		l.Close()
	} else {
		t.Cleanup(func() { l.Close() })
	}
	return l.Addr().String()
}

func TestTCPAnswers(t *testing.T) {
	if got, err := precheck.TCPAnswers(listen(t, false))(t.Context()); got != capability.Available || err != nil {
		t.Errorf("listening: got %v, %v; want available", got, err)
	}
	if got, err := precheck.TCPAnswers(listen(t, true))(t.Context()); got != capability.Unavailable || err != nil {
		t.Errorf("refused: got %v, %v; want unavailable", got, err)
	}
	if got, err := precheck.TCPAnswers("no port")(t.Context()); got != capability.Available || err == nil {
		t.Errorf("bad address: got %v, %v; want available and an error", got, err)
	}
	past, cancel := context.WithDeadline(t.Context(), time.Unix(1, 0))
	defer cancel()
	if got, err := precheck.TCPAnswers(listen(t, false))(past); got != capability.Available || err == nil {
		t.Errorf("no time: got %v, %v; want available and an error", got, err)
	}
}

func TestHTTPAnswers(t *testing.T) {
	silent := make(chan struct{})
	mux := http.NewServeMux()
	mux.HandleFunc("/{status}", func(w http.ResponseWriter, r *http.Request) {
		var status int
		for _, digit := range r.PathValue("status") {
			status = status*10 + int(digit-'0')
		}
		w.Header().Set("Location", "/nowhere")
		w.WriteHeader(status)
	})
	mux.HandleFunc("/silent", func(http.ResponseWriter, *http.Request) { <-silent })
	mux.HandleFunc("/hangs-up", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	server := httptest.NewServer(mux)
	defer server.Close()
	defer close(silent)
	secure := httptest.NewTLSServer(mux)
	defer secure.Close()
	secure.Config.ErrorLog = nil

	tests := []struct {
		name, url string
		want      capability.Score
		fails     bool
	}{
		{"ok", server.URL + "/200", capability.Available, false},
		{"redirect, not followed", server.URL + "/302", capability.Available, false},
		{"refusal", server.URL + "/401", capability.Available, false},
		{"no such page", server.URL + "/404", capability.Available, false},
		{"no HEAD here", server.URL + "/405", capability.Available, false},
		{"HEAD not implemented", server.URL + "/501", capability.Available, false},
		{"broken inside", server.URL + "/500", capability.Degraded, false},
		{"down for now", server.URL + "/503", capability.Degraded, false},
		{"connection refused", "http://" + listen(t, true), capability.Unavailable, false},
		{"no answer in time", server.URL + "/silent", capability.Available, true},
		{"hangs up", server.URL + "/hangs-up", capability.Available, true},
		{"certificate of nobody", secure.URL + "/200", capability.Available, true},
		{"no URL", "http://a b", capability.Available, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			got, err := precheck.HTTPAnswers(tt.url)(ctx)
			if got != tt.want || (err != nil) != tt.fails {
				t.Errorf("got %v, %v; want %v, error: %v", got, err, tt.want, tt.fails)
			}
		})
	}
}

func TestTargetEndsWithItsCaller(t *testing.T) {
	c := newChecker(t, precheck.Config{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	check := func(ctx context.Context) (capability.Score, error) {
		<-ctx.Done()
		return capability.Available, ctx.Err()
	}
	if got := c.Target(ctx, check); got != capability.Available {
		t.Errorf("got %v, want available", got)
	}
}
