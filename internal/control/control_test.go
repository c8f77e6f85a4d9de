package control

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/expediter-go/expediter/internal/store"
)

// shortDir is a folder whose path leaves room for a socket's.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "x")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func listen(t *testing.T, st *store.Store, h Handler) *Server {
	t.Helper()
	s, err := Listen(st, h)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// sockets are the files in the folder of sockets.
func sockets(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(dir, Folder))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestRequests(t *testing.T) {
	st := store.Open(shortDir(t))
	var did []Request
	var wrote int
	s := listen(t, st, Handler{
		Write: func(context.Context) error { wrote++; return nil },
		Tool: func(session, typed string) (string, error) {
			if typed == "no" {
				return "", fmt.Errorf("%w: \x1b[31m%q", ErrNoTool, typed)
			}
			return session + "/" + typed, nil
		},
		Do: func(_ context.Context, r Request) error {
			did = append(did, r)
			switch r.Session {
			case "gone":
				return ErrNoSession
			case "idle":
				return fmt.Errorf("no incident is active, %w", ErrNothing)
			case "odd":
				return errors.New("odd")
			}
			return nil
		},
	})
	p, err := Reach(st, s.Name())
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Write(t.Context()); err != nil || wrote != 1 {
		t.Errorf("write: error %v, %d times", err, wrote)
	}
	if got, err := p.Tool(t.Context(), "s", "fetch"); got != "s/fetch" || err != nil {
		t.Errorf("tool: got %q, error %v", got, err)
	}
	if _, err := p.Tool(t.Context(), "s", "no"); !errors.Is(err, ErrNoTool) || strings.Contains(err.Error(), "\x1b") {
		t.Errorf("tool: got %q, want %v, cleaned", err, ErrNoTool)
	}
	want := []Request{{Op: Confirm, Session: "a", Why: "b"}, {Op: Open, Session: "gone", Tool: "c"}, {Op: Reset, Session: "idle"}, {Op: Resume, Session: "odd"}}
	errs := []error{nil, ErrNoSession, ErrNothing, nil}
	for i, r := range want {
		err := p.Do(t.Context(), r)
		if errs[i] != nil && !errors.Is(err, errs[i]) || (err == nil) != (r.Session == "a") {
			t.Errorf("%v: error %v, want %v", r, err, errs[i])
		}
	}
	if diff := cmp.Diff(want, did); diff != "" {
		t.Errorf("requests (-sent +heard):\n%s", diff)
	}
	if err := p.Do(t.Context(), Request{Op: Confirm, Why: strings.Repeat("x", maxBody)}); err == nil || len(did) != len(want) {
		t.Errorf("a request that is too large: error %v", err)
	}
	if err := p.Do(t.Context(), Request{Session: "a"}); err == nil || len(did) != len(want) {
		t.Errorf("no control: error %v", err)
	}
}

func TestOps(t *testing.T) {
	for op := Confirm; op <= Open; op++ {
		text, _ := op.MarshalText()
		var back Op
		if err := back.UnmarshalText(text); err != nil || back != op {
			t.Errorf("%s: got %v, error %v", op, back, err)
		}
	}
	var op Op
	for _, bad := range []string{"", "none", "disable"} {
		if err := op.UnmarshalText([]byte(bad)); err == nil || op != None {
			t.Errorf("%q: got %v, error %v", bad, op, err)
		}
	}
	if got := Op(200).String(); got != "none" {
		t.Errorf("got %q", got)
	}
}

// A socket is private, goes with its server, and is left alone while it is heard at.
func TestSockets(t *testing.T) {
	dir := shortDir(t)
	st := store.Open(dir)
	write := Handler{Write: func(context.Context) error { return nil }}
	one := listen(t, st, write)
	for path, want := range map[string]os.FileMode{"": 0o700, one.Name(): 0o600} {
		info, err := os.Stat(filepath.Join(dir, Folder, path))
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%q: got %v (%v), want %v", path, info.Mode(), err, want)
		}
	}
	dead := filepath.Join(dir, Folder, "dead.sock")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: dead, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	note := filepath.Join(dir, Folder, "note.sock")
	if err := os.WriteFile(note, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, want := WriteAll(t.Context(), st), map[string]bool{one.Name(): true}; !cmp.Equal(got, want) {
		t.Errorf("running: got %v, want %v", got, want)
	}
	p, err := Reach(st, "dead.sock")
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Write(t.Context()); !errors.Is(err, ErrGone) {
		t.Errorf("a dead socket: got %v", err)
	}
	two := listen(t, st, write)
	if got := sockets(t, dir); len(got) != 3 { // a file that is no socket is nobody's to remove
		t.Errorf("got %v, want two sockets and the note", got)
	}
	if got, want := WriteAll(t.Context(), st), map[string]bool{one.Name(): true, two.Name(): true}; !cmp.Equal(got, want) {
		t.Errorf("running: got %v, want %v", got, want)
	}
	if err := errors.Join(one.Close(), two.Close()); err != nil {
		t.Error(err)
	}
	if got := sockets(t, dir); len(got) != 1 {
		t.Errorf("got %v, want the note alone", got)
	}
}

func TestUnreachable(t *testing.T) {
	st := store.Open(filepath.Join(shortDir(t), "none"))
	for _, name := range []string{"a.sock", "../a.sock", "", "a"} {
		if _, err := Reach(st, name); !errors.Is(err, ErrGone) {
			t.Errorf("%q: got %v, want %v", name, err, ErrGone)
		}
	}
	if got := WriteAll(t.Context(), st); len(got) != 0 {
		t.Errorf("running: got %v", got)
	}
	long := filepath.Join(shortDir(t), strings.Repeat("x", 90))
	if _, err := Listen(store.Open(long), Handler{}); err == nil || !strings.Contains(err.Error(), "bytes shorter") {
		t.Errorf("a long path: got %v", err)
	}
}

// A proxy that hangs keeps no command waiting for long, and counts as running.
func TestProxyHangs(t *testing.T) {
	st := store.Open(shortDir(t))
	s := listen(t, st, Handler{Write: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if got := WriteAll(ctx, st); !got[s.Name()] {
		t.Errorf("running: got %v", got)
	}
}

// No other path and no other method is answered.
func TestOnlyRequests(t *testing.T) {
	st := store.Open(shortDir(t))
	s := listen(t, st, Handler{Write: func(context.Context) error { t.Error("heard"); return nil }})
	p, err := Reach(st, s.Name())
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]int{"/": http.StatusNotFound, pathWrite: http.StatusMethodNotAllowed} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.base+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := p.client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("GET %s: got %d, want %d", path, res.StatusCode, want)
		}
	}
}
