package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/expediter-go/expediter/integration/hook"
	"github.com/expediter-go/expediter/internal/session"
	"github.com/expediter-go/expediter/internal/store"
)

// printsALine is what a hook process is measured against.
const printsALine = `package main

import "fmt"

func main() { fmt.Println("a line") }
`

// BenchmarkHookProcess measures whole processes, from start to exit, in turns: a
// program that prints a line; the hooks before and after a call, by expediter and
// by expediter-hook, in a session of 100 and in one of 10,000 calls. Of each it
// tells the median in microseconds, and its ratio to the line's.
func BenchmarkHookProcess(b *testing.B) {
	dir := b.TempDir()
	line := filepath.Join(dir, "line")
	if err := os.WriteFile(line+".go", []byte(printsALine), 0o600); err != nil {
		b.Fatal(err)
	}
	build(b, line, line+".go")
	var hooks []*benched
	for _, program := range []string{"expediter", "expediter-hook"} {
		path := filepath.Join(dir, program)
		build(b, path, "../"+program)
		for _, calls := range []int{100, 10_000} {
			h := &benched{name: fmt.Sprintf("%s/%d", program, calls), program: path, calls: calls, dir: fmt.Sprintf("%s-%d", path, calls)}
			h.fill(b)
			hooks = append(hooks, h)
		}
	}
	var lines []time.Duration
	for b.Loop() {
		lines = append(lines, timed(b, exec.Command(line)))
		for _, h := range hooks {
			h.next(b)
		}
	}
	b.ReportMetric(0, "ns/op") // of all of them together, which says nothing
	base := median(lines)
	b.Logf("%-22s %6d µs", "prints a line", base.Microseconds())
	for _, h := range hooks {
		m := median(h.took)
		b.Logf("%-22s %6d µs  %.2f times", h.name, m.Microseconds(), float64(m)/float64(base))
		b.ReportMetric(float64(m)/float64(base), h.name)
		h.check(b)
	}
}

// build makes a program as a release is made: without cgo, which would cost each
// start the dynamic linker. CGO_ENABLED=1 in the environment says otherwise.
func build(b *testing.B, to, from string) {
	b.Helper()
	cmd := exec.Command("go", "build", "-trimpath", "-o", to, from)
	if cmd.Env = os.Environ(); os.Getenv("CGO_ENABLED") == "" {
		cmd.Env = append(cmd.Env, "CGO_ENABLED=0")
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v: %v\n%s", cmd, err, out)
	}
}

// benched is a session whose hooks are measured.
type benched struct {
	name    string
	program string
	calls   int // that it has before
	dir     string
	n       int
	took    []time.Duration
}

func (h *benched) call() recorded {
	programs := [...]string{"git", "go", "ls", "rg"}
	return recorded{Tool: [...]string{"Bash", "Read", "Edit", "Grep", "mcp__db__query"}[h.n/2%5], Program: programs[h.n/2%4], Status: "ok"}
}

// event is the next hook call: one before a call, then the one after it.
func (h *benched) event() []byte {
	c, id := h.call(), fmt.Sprintf("toolu_%06d", h.n/2)
	in := c.before("bench", id)
	if h.n%2 == 1 {
		in, _ = c.after("bench", id)
	}
	h.n++
	return in.json()
}

// fill makes the calls that the session has before. Those of a long session are
// told in large transactions: a hundred at a time.
func (h *benched) fill(b *testing.B) {
	b.Helper()
	st, at := store.Open(h.dir), time.Now().Add(-time.Hour)
	if out, err := hook.Serve(b.Context(), st, h.event(), claude, at); err != nil || len(out.Stdout) > 0 {
		b.Fatalf("%v: %s", err, out.Stdout)
	}
	h.n = 0
	for h.n < 2*h.calls {
		err := session.Update(b.Context(), st, store.ID{Agent: claude.Agent, Session: "bench"}, at, nil, func(s *session.Session) error {
			for range min(200, 2*h.calls-h.n) {
				e, err := hook.Decode(claude.Agent, h.event(), nil)
				if err != nil {
					return err
				}
				c := session.Call{ID: e.Call.ID, Observation: e.Call.Observation}
				if e.Kind == hook.Before {
					s.Before(c)
				} else {
					s.After(c)
				}
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}

func (h *benched) next(b *testing.B) {
	cmd := exec.Command(h.program, "hook", claude.Agent)
	cmd.Env = []string{"HOME=" + h.dir, "EXPEDITER_STORE=" + h.dir}
	cmd.Stdin = bytes.NewReader(h.event())
	h.took = append(h.took, timed(b, cmd))
}

// check: what was measured did its work.
func (h *benched) check(b *testing.B) {
	noTrouble(b, h.dir)
	if got, want := len(journal(b, h.dir, "bench")), (h.n+1)/2; got != want {
		b.Errorf("the session of %s has %d calls, want %d", h.name, got, want)
	}
}

// timed runs a command that is to print nothing but a line.
func timed(b *testing.B, cmd *exec.Cmd) time.Duration {
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	began := time.Now()
	err := cmd.Run()
	took := time.Since(began)
	if err != nil || out.Len() > len("a line\n") {
		b.Fatalf("%v: %v: %s", cmd, err, out.Bytes())
	}
	return took
}

func median(list []time.Duration) time.Duration {
	list = slices.Sorted(slices.Values(list))
	return list[len(list)/2]
}
