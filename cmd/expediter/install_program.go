package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// thisProgram is how an agent can run the hooks of the program that is running:
// by its name where the PATH leads to it, else by its path. expediter-hook beside
// it is taken in its place, since it starts faster.
func thisProgram() ([]string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("this program does not know its own path: %w; say it with --command", err)
	}
	program := leanest(self)
	name := strings.TrimSuffix(filepath.Base(program), ".exe")
	if program == self {
		name = "expediter"
	}
	if found, err := exec.LookPath(name); err == nil && sameFile(found, program) {
		return []string{name}, nil
	}
	if real, err := filepath.EvalSymlinks(program); err == nil && temporary(real) {
		return nil, fmt.Errorf("%s will not last; build it to stay (go install ./cmd/...) and run that, or say with --command what the agent is to run", self)
	}
	return []string{program}, nil
}

// leanest is expediter-hook in the folder of a program, if it is there, else the
// program itself.
func leanest(self string) string {
	lean := filepath.Join(filepath.Dir(self), "expediter-hook"+filepath.Ext(self))
	if info, err := os.Stat(lean); err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 && runtime.GOOS != "windows" {
		return self
	}
	return lean
}

// temporary reports whether a program lies where 'go run' puts it, or anywhere
// else that is cleared.
func temporary(path string) bool {
	dir, err := filepath.EvalSymlinks(os.TempDir())
	return err == nil && strings.HasPrefix(path, dir+string(filepath.Separator)) || strings.Contains(path, string(filepath.Separator)+"go-build")
}
