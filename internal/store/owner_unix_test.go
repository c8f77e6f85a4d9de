//go:build unix

package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

func init() {
	processes["modes"] = checkModes
	processes["unwritable"] = checkUnwritable
	processes["limited"] = appendLimited
}

const nobody = 65534

// unprivileged runs a process of this test as a user whom modes bind, in a folder of
// their own.
func unprivileged(t *testing.T, what string) {
	t.Helper()
	dir := t.TempDir()
	exe := filepath.Join(dir, "exe")
	if err := errors.Join(os.WriteFile(exe, read(t, os.Args[0]), 0o755), os.Chmod(filepath.Dir(dir), 0o755)); err != nil {
		t.Fatal(err)
	}
	work := filepath.Join(dir, "work")
	if err := os.Mkdir(work, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := process(t.Context(), what, work)
	cmd.Path = exe
	cmd.Dir = work
	if os.Geteuid() == 0 {
		if err := os.Chown(work, nobody, nobody); err != nil {
			t.Fatal(err)
		}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestModes(t *testing.T) { unprivileged(t, "modes") }

// checkModes makes stores under several umasks.
func checkModes(args []string) error {
	var errs []error
	for _, mask := range []int{0, 0o22, 0o277, 0o777} {
		syscall.Umask(mask)
		s := Open(filepath.Join(args[0], fmt.Sprint("umask", mask)))
		for n := range 2 {
			if err := s.Update(context.Background(), theSession, addLine(fmt.Sprint("p-", n))); err != nil {
				errs = append(errs, fmt.Errorf("umask %#o: %w", mask, err))
			}
		}
		errs = append(errs, fs.WalkDir(os.DirFS(s.dir), ".", func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			want := fs.FileMode(0o600)
			if d.IsDir() {
				want = 0o700
			}
			if err == nil && info.Mode().Perm() != want {
				err = fmt.Errorf("umask %#o: %s has mode %#o, want %#o", mask, path, info.Mode().Perm(), want)
			}
			return err
		}))
	}
	return errors.Join(errs...)
}

func TestUnwritable(t *testing.T) { unprivileged(t, "unwritable") }

// checkUnwritable works on what may not be read or written: that is an error, and no
// damage.
func checkUnwritable(args []string) error {
	ctx := context.Background()
	s := Open(filepath.Join(args[0], "store"))
	p := s.paths(theSession)
	nothing := func(*Tx) error { return nil }
	var errs []error
	expect := func(what string, got, want error) {
		if !errors.Is(got, want) {
			errs = append(errs, fmt.Errorf("%s: %v, want %v", what, got, want))
		}
	}
	chmod := func(path string, mode fs.FileMode) { errs = append(errs, os.Chmod(path, mode)) }
	expect("begin", s.Update(ctx, theSession, addLine("p-0")), nil)

	chmod(p.session, 0)
	expect("update of a file that may not be read", s.Update(ctx, theSession, nothing), fs.ErrPermission)
	expect("view of it", s.View(ctx, theSession, nothing), fs.ErrPermission)
	_, err := s.Sessions(ctx)
	expect("sessions", err, fs.ErrPermission)
	chmod(p.session, 0o400)
	expect("update of a file that may not be written", s.Update(ctx, theSession, nothing), fs.ErrPermission)
	expect("view of it", s.View(ctx, theSession, nothing), nil)
	chmod(p.session, 0o600)

	chmod(s.sessions(), 0o500)
	expect("update in a folder that may not be written", s.Update(ctx, theSession, addLine("p-1")), nil)
	expect("new session in it", s.Update(ctx, ID{"codex", "x"}, nothing), fs.ErrPermission)
	chmod(s.sessions(), 0o700)
	errs = append(errs, os.Remove(p.lock))
	chmod(s.sessions(), 0o500)
	expect("view without a lock", s.View(ctx, theSession, nothing), nil)
	expect("update without a lock", s.Update(ctx, theSession, nothing), fs.ErrPermission)

	chmod(args[0], 0o500)
	expect("store that cannot be made", Open(filepath.Join(args[0], "other")).Update(ctx, theSession, nothing), fs.ErrPermission)
	chmod(args[0], 0o700)
	chmod(s.sessions(), 0o700)
	expect("in the end", s.Update(ctx, theSession, func(tx *Tx) error {
		if n := counted(tx); n != 2 {
			return fmt.Errorf("%d lines, want 2", n)
		}
		return nil
	}), nil)
	aside, err := s.Aside()
	if len(aside) != 0 {
		errs = append(errs, fmt.Errorf("set aside: %v", aside))
	}
	return errors.Join(append(errs, err)...)
}

func TestStrangers(t *testing.T) {
	tests := []struct {
		name    string
		change  func(s *Store) error
		refused string // empty: not refused
	}{
		{"as it was made", func(*Store) error { return nil }, ""},
		{"others may read the store", func(s *Store) error { return os.Chmod(s.dir, 0o755) }, ""},
		{"others may read the sessions", func(s *Store) error { return os.Chmod(s.sessions(), 0o755) }, ""},
		{"the group may write the store", func(s *Store) error { return os.Chmod(s.dir, 0o770) }, "others can write"},
		{"all may write the sessions", func(s *Store) error { return os.Chmod(s.sessions(), 0o777) }, "others can write"},
		{"all could write a session, were they let into its folder", func(s *Store) error { return os.Chmod(s.paths(theSession).session, 0o666) }, ""},
		{"the store is a link", func(s *Store) error {
			return errors.Join(os.Rename(s.dir, s.dir+"2"), os.Symlink(s.dir+"2", s.dir))
		}, ""},
		{"the sessions are a link", func(s *Store) error {
			return errors.Join(os.Rename(s.sessions(), s.dir+"2"), os.Symlink(s.dir+"2", s.sessions()))
		}, "is not a folder"},
		{"the store is a file", func(s *Store) error {
			return errors.Join(os.Rename(s.dir, s.dir+"2"), os.WriteFile(s.dir, nil, 0o600))
		}, "is not a folder"},
		{"the lock is a link", func(s *Store) error {
			lock := s.paths(theSession).lock
			return errors.Join(os.Rename(lock, lock+"2"), os.Symlink(lock+"2", lock))
		}, "lock"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, _ := session(t, filepath.Join(t.TempDir(), "store"), 1)
			if err := tt.change(s); err != nil {
				t.Fatal(err)
			}
			refused(t, s, tt.refused)
			if info, err := os.Stat(s.sessions()); tt.refused == "" && (err != nil || info.Mode().Perm() != 0o700) {
				t.Errorf("the folder of sessions: %v, %v, want mode 0700", info.Mode(), err)
			}
		})
	}
}

// refused checks that Update and View are refused with that, and nothing is lost.
func refused(t *testing.T, s *Store, why string) {
	t.Helper()
	nothing := func(*Tx) error { return nil }
	for what, err := range map[string]error{
		"view":   s.View(t.Context(), theSession, nothing),
		"update": s.Update(t.Context(), theSession, nothing),
	} {
		if (err == nil) != (why == "") || err != nil && !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v, want %q", what, err, why)
		}
	}
	if aside, _ := filepath.Glob(filepath.Join(s.sessions(), "*"+endAside+"*")); len(aside) != 0 {
		t.Errorf("set aside: %q", aside)
	}
}

// TestOtherOwner makes files another user's, as only root can. Whoever else runs it
// has the machine's own folder, which is root's.
func TestOtherOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		info, err := os.Stat("/")
		if err != nil {
			t.Fatal(err)
		}
		if err := owned("/", info); !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "it belongs to user 0") {
			t.Errorf("got %v, want a refusal", err)
		}
		return
	}
	for _, what := range []string{"", "sessions", "session"} {
		t.Run(what, func(t *testing.T) {
			s, p := session(t, t.TempDir(), 1)
			path := map[string]string{"": s.dir, "sessions": s.sessions(), "session": p.session}[what]
			if err := os.Chown(path, nobody, nobody); err != nil {
				t.Fatal(err)
			}
			refused(t, s, "it belongs to user 65534")
		})
	}
}

// appendLimited appends lines until the size of files is at its limit, as on a disk
// that is full.
func appendLimited(args []string) error {
	bytes, err := strconv.ParseUint(args[1], 10, 64)
	if err != nil {
		return err
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: bytes, Max: bytes}); err != nil {
		return err
	}
	return appendLines([]string{args[0], theSession.Session, "p", "1000000"})
}

func TestFullDisk(t *testing.T) {
	for _, limit := range []int{0, 1000, 20_000, 70_000} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			dir := t.TempDir()
			cmd := process(t.Context(), "limited", dir, strconv.Itoa(limit))
			var out, told bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &told
			if err := cmd.Run(); err == nil || !strings.Contains(told.String(), syscall.EFBIG.Error()) {
				t.Fatalf("%v, want an exit that tells of the disk\n%s", err, &told)
			}
			s := Open(dir)
			acknowledged := strings.Count(out.String(), "\n")
			if acknowledged > 0 {
				if lines, n := journal(t, s, theSession); len(lines) != acknowledged || n != acknowledged {
					t.Errorf("journal has %d lines, %d counted, %d acknowledged", len(lines), n, acknowledged)
				}
			} else if left, err := os.ReadDir(s.sessions()); len(left) != 0 {
				t.Errorf("left over: %v, %v", left, err)
			}
			if err := s.Update(t.Context(), theSession, addLine(fmt.Sprint("p-", acknowledged))); err != nil {
				t.Errorf("with room again: %v", err)
			}
			if aside, err := s.Aside(); len(aside) != 0 || err != nil {
				t.Errorf("set aside: %v, %v", aside, err)
			}
		})
	}
}
