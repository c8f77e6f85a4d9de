package store

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"
)

// asProcess makes the test binary a process that uses a store.
const asProcess = "STORE_TEST_PROCESS"

func TestMain(m *testing.M) {
	if what := os.Getenv(asProcess); what != "" {
		if err := processes[what](os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// processes are what the test binary does as a process of its own.
var processes = map[string]func(args []string) error{
	"append": appendLines,
	"hold":   holdLock,
}

// process is killed when ctx is done.
func process(ctx context.Context, what string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Env = append(os.Environ(), asProcess+"="+what)
	return cmd
}

var theSession = ID{"claude-code", "abc"}

// appendLines appends lines WHO-0, WHO-1, ... to a session and prints each when it is
// there. Its arguments: the store, the session, WHO, how many.
func appendLines(args []string) error {
	dir, id, who := args[0], ID{"claude-code", args[1]}, args[2]
	count, err := strconv.Atoi(args[3])
	if err != nil {
		return err
	}
	s, out := Open(dir), bufio.NewWriter(os.Stdout)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for n := range count {
		begun := time.Now()
		if err := s.Update(ctx, id, addLine(fmt.Sprint(who, "-", n))); err != nil {
			return err
		}
		fmt.Fprintln(out, who, n, time.Since(begun).Milliseconds())
		if err := out.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// addLine appends a line, counts it and puts back a state of 20 kB.
func addLine(line string) func(*Tx) error {
	return func(tx *Tx) error {
		if n := tx.SegmentLen(); n == 0 || n >= 100 {
			if err := tx.NewSegment(); err != nil {
				return err
			}
		}
		state := make([]byte, 20_000)
		count := 0
		if old := tx.Get("state"); old != nil {
			state = old
			if _, err := fmt.Sscan(string(old[:20]), &count); err != nil {
				return err
			}
		}
		copy(state, fmt.Sprintf("%-20d", count+1))
		return errors.Join(tx.Put("state", state), tx.Append([]byte(line)))
	}
}

// counted is how many lines the state says there are.
func counted(tx *Tx) (n int) {
	fmt.Sscan(string(tx.Get("state")), &n)
	return n
}

// holdLock holds the session's lock until it is killed or its input ends.
func holdLock(args []string) error {
	return Open(args[0]).Update(context.Background(), theSession, func(*Tx) error {
		fmt.Println("held")
		bufio.NewReader(os.Stdin).ReadByte()
		return nil
	})
}

// journal returns all lines, in their order.
func journal(t *testing.T, s *Store, id ID) (lines []string, count int) {
	t.Helper()
	err := s.View(t.Context(), id, func(tx *Tx) error {
		lines, count = nil, counted(tx)
		for _, segment := range tx.Segments() {
			for line := range segment {
				lines = append(lines, string(line))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return lines, count
}

// folder is a temporary one, in memory where the machine has a place for that: only
// the tests of processes that end early need a disk.
func folder(t testing.TB) string {
	dir, err := os.MkdirTemp("/dev/shm", "store")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}
