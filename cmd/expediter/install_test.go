package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// nobody is a user who is not root, and may own what a test makes.
const nobody = 65534

// asNobody makes a folder that nobody owns, with the program in it, and returns
// what runs that program as nobody: root may write what is read-only.
func asNobody(t *testing.T) (dir string, run func(args ...string) (stderr string, err error)) {
	t.Helper()
	var as []string
	if os.Getuid() == 0 {
		if _, err := exec.LookPath("setpriv"); err != nil {
			if os.Getenv("CI") == "true" {
				t.Fatal("setpriv is missing; install util-linux")
			}
			t.Skip("setpriv is missing; install util-linux")
		}
		as = []string{"setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--"}
	}
	dir, err := os.MkdirTemp("", "expediter-nobody") // t.TempDir is for its user alone
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(self)
	program := filepath.Join(dir, "expediter")
	if err := errors.Join(err, os.Chmod(dir, 0o755), os.WriteFile(program, data, 0o755)); err != nil {
		t.Fatal(err)
	}
	return dir, func(args ...string) (string, error) {
		line := append(append(as, program), args...)
		cmd := exec.Command(line[0], line[1:]...)
		cmd.Dir = dir
		cmd.Env = []string{"HOME=" + filepath.Join(dir, "home"), "EXPEDITER_OPERATOR=1", "PATH=" + dir}
		if len(as) > 0 {
			cmd.Path, _ = exec.LookPath("setpriv")
		}
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		err := cmd.Run()
		return stderr.String(), err
	}
}

func TestInstallRefusesReadOnly(t *testing.T) {
	const text = "{\"a\": 1}\n"
	tests := []struct {
		name         string
		file, folder fs.FileMode // file 0: there is none
		want         string
	}{
		{"file", 0o444, 0o755, "settings.json cannot be written: permission denied; make it writable, or choose another --scope"},
		{"folder", 0o644, 0o555, ".claude cannot be written: permission denied; make it writable, or choose another --scope"},
		{"folder without the file", 0, 0o555, ".claude cannot be written: permission denied; make it writable, or choose another --scope"},
		{"file that may not be read", 0o200, 0o755, "settings.json: permission denied"},
	}
	dir, run := asNobody(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			project := filepath.Join(dir, strings.ReplaceAll(tt.name, " ", "-"))
			folder := filepath.Join(project, ".claude")
			file := filepath.Join(folder, "settings.json")
			err := os.MkdirAll(folder, 0o755)
			if tt.file != 0 {
				err = errors.Join(err, os.WriteFile(file, []byte(text), 0o644), os.Chmod(file, tt.file))
			}
			err = errors.Join(err, owned(project), os.Chmod(folder, tt.folder))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.Chmod(folder, 0o755) })
			for _, args := range [][]string{{"--yes"}, {"--dry-run"}} {
				stderr, err := run(append([]string{"install", "claude-code", "--project", project}, args...)...)
				var exit *exec.ExitError
				if !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(stderr, tt.want) {
					t.Errorf("%q: got %v, %s; want status 1, %s", args, err, stderr, tt.want)
				}
			}
			_ = os.Chmod(file, 0o600)
			data, _ := os.ReadFile(file)
			entries, err := os.ReadDir(folder)
			if tt.file != 0 && (string(data) != text || len(entries) != 1) || tt.file == 0 && len(entries) != 0 {
				t.Errorf("something has changed: %q, %v, %v", data, entries, err)
			}
		})
	}
}

// owned gives all below a folder to nobody, if root made it.
func owned(dir string) error {
	if os.Getuid() != 0 {
		return nil
	}
	return filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Lchown(path, nobody, nobody))
	})
}

// Root keeps the owner of what it changes.
func TestInstallKeepsTheOwner(t *testing.T) {
	dir, run := asNobody(t)
	file := filepath.Join(dir, "project", ".claude", "settings.json")
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte("{}"), 0o604), os.Chmod(file, 0o604), owned(dir)); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(dir, "expediter"), "install", "claude-code", "--project", filepath.Join(dir, "project"), "--yes")
	cmd.Env = []string{"HOME=" + filepath.Join(dir, "home"), "EXPEDITER_OPERATOR=1", "PATH=" + dir}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, name := range []string{file, file + ".expediter-backup"} {
		if after, err := os.Stat(name); err != nil || after.Mode() != before.Mode() || ownerOf(after) != ownerOf(before) {
			t.Errorf("%s: %v, %v; want %v, %v (%v)", name, after.Mode(), ownerOf(after), before.Mode(), ownerOf(before), err)
		}
	}
	if stderr, err := run("uninstall", "claude-code", "--project", filepath.Join(dir, "project"), "--yes"); err != nil {
		t.Errorf("as its owner: %v: %s", err, stderr)
	}
	if data, _ := os.ReadFile(file); string(data) != "{}" {
		t.Errorf("got %q", data)
	}
}

// ownerOf is how the system tells the owner of a file, without its other facts.
func ownerOf(info fs.FileInfo) string {
	v := reflect.Indirect(reflect.ValueOf(info.Sys()))
	if v.Kind() != reflect.Struct || !v.FieldByName("Uid").IsValid() {
		return ""
	}
	return fmt.Sprint(v.FieldByName("Uid"), v.FieldByName("Gid"))
}

// TestLeanest: agents run expediter-hook where it lies beside the command.
func TestLeanest(t *testing.T) {
	dir := t.TempDir()
	self, lean := filepath.Join(dir, "expediter"), filepath.Join(dir, "expediter-hook")
	if got := leanest(self); got != self {
		t.Errorf("alone: %s, want %s", got, self)
	}
	for _, step := range []struct {
		mode os.FileMode
		want string
	}{{0o644, self}, {0o755, lean}} {
		if err := os.WriteFile(lean, nil, step.mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(lean, step.mode); err != nil {
			t.Fatal(err)
		}
		if got := leanest(self); got != step.want {
			t.Errorf("mode %v: %s, want %s", step.mode, got, step.want)
		}
	}
}
