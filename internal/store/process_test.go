package store

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestManyProcesses(t *testing.T) {
	const many, each = 32, 4
	dir := t.TempDir()
	var cmds []*exec.Cmd
	outs := make([]bytes.Buffer, many)
	for i := range many {
		cmd := process(t.Context(), "append", dir, theSession.Session, fmt.Sprint("p", i), strconv.Itoa(each))
		cmd.Stdout, cmd.Stderr = &outs[i], &outs[i]
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		cmds = append(cmds, cmd)
	}
	longest := 0
	for i, cmd := range cmds {
		if err := cmd.Wait(); err != nil {
			t.Fatalf("process %d: %v\n%s", i, err, &outs[i])
		}
		for line := range strings.Lines(outs[i].String()) {
			var who string
			var n, ms int
			if _, err := fmt.Sscan(line, &who, &n, &ms); err != nil {
				t.Fatal(err)
			}
			longest = max(longest, ms)
		}
	}
	if longest > 1000 {
		t.Errorf("an update took %d ms, want at most 1000", longest)
	}
	lines, counted := journal(t, Open(dir), theSession)
	once(t, lines)
	if len(lines) != many*each || counted != many*each {
		t.Errorf("journal has %d lines, state counts %d, want %d", len(lines), counted, many*each)
	}
}

// once checks that each process's lines are there without a gap, in order, once.
func once(t *testing.T, lines []string) map[string]int {
	t.Helper()
	next := map[string]int{}
	for _, line := range lines {
		who, n, _ := strings.Cut(line, "-")
		if n != strconv.Itoa(next[who]) {
			t.Fatalf("line %q, want number %d of it", line, next[who])
		}
		next[who]++
	}
	return next
}

// TestKilled ends processes at random instants, most of them amid a transaction: in
// one session all the time, and in sessions that they are just beginning.
func TestKilled(t *testing.T) {
	tests := []struct {
		name    string
		rounds  int
		session func(round int) string
	}{
		{"one session", 30, func(int) string { return theSession.Session }},
		{"many sessions", 20, func(round int) string { return fmt.Sprint("s", round) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			told := map[string]map[string]int{}
			for round := range tt.rounds {
				session := tt.session(round)
				if told[session] == nil {
					told[session] = map[string]int{}
				}
				killSome(t, dir, session, round, told[session])
			}
			for session, acknowledged := range told {
				survived(t, Open(dir), ID{"claude-code", session}, acknowledged)
			}
			if aside, err := Open(dir).Aside(); len(aside) != 0 || err != nil {
				t.Errorf("set aside: %v, %v", aside, err)
			}
		})
	}
}

// killSome lets three processes append to a session, ends them, and counts what they
// told of.
func killSome(t *testing.T, dir, session string, round int, acknowledged map[string]int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Duration(rand.IntN(60_000))*time.Microsecond)
	defer cancel()
	var cmds []*exec.Cmd
	outs := make([]bytes.Buffer, 3)
	for i := range outs {
		cmd := process(ctx, "append", dir, session, fmt.Sprintf("r%dp%d", round, i), "1000000")
		cmd.Stdout = &outs[i]
		if err := cmd.Start(); err == nil { // else it was late already
			cmds = append(cmds, cmd)
		}
	}
	for _, cmd := range cmds {
		_ = cmd.Wait() // killed
	}
	for _, out := range outs {
		for line := range strings.Lines(out.String()) {
			who, _, _ := strings.Cut(line, " ")
			acknowledged[who]++
		}
	}
}

// survived checks that a session has what was acknowledged, and can go on at once.
func survived(t *testing.T, s *Store, id ID, acknowledged map[string]int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := s.Update(ctx, id, addLine("end-0")); err != nil {
		t.Fatalf("%v: %v", id, err)
	}
	lines, counted := journal(t, s, id)
	if counted != len(lines) {
		t.Errorf("%v: state counts %d lines, journal has %d", id, counted, len(lines))
	}
	have := once(t, lines)
	for who, n := range acknowledged {
		if got := have[who]; got != n && got != n+1 { // one more may be there that was not told yet
			t.Errorf("%v: %s has %d lines, and %d were acknowledged", id, who, got, n)
		}
	}
}

func TestBusy(t *testing.T) {
	dir := t.TempDir()
	cmd := process(t.Context(), "hold", dir)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "held\n" {
		t.Fatalf("%q, %v", line, err)
	}
	s := Open(dir)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	err = s.Update(ctx, theSession, addLine("p-0"))
	if !errors.Is(err, ErrBusy) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("update beside: %v, want ErrBusy", err)
	}
	other := ID{"codex", "abc"}
	if err := s.Update(t.Context(), other, addLine("p-0")); err != nil {
		t.Errorf("another session has to wait: %v", err)
	}
	if n, err := s.Prune(t.Context(), Limits{Age: 1, Count: 1, Bytes: 1}, time.Now().Add(time.Hour)); n != 1 || err != nil {
		t.Errorf("removed %d, %v, want the session that nobody holds", n, err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	in.Close()
	if err := s.Update(t.Context(), theSession, addLine("p-0")); err != nil {
		t.Errorf("after the holder was killed: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(s.sessions(), "*"+endNew)); len(left) != 0 {
		t.Errorf("left over: %q", left)
	}
}
