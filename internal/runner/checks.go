package runner

import (
	"context"
	"path/filepath"
	"strings"
	"time"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/expediter/precheck"
	"github.com/expediter-go/expediter/internal/task"
)

// checks are the pre-call checks that the task's tools declare.
func (r *Run) checks() map[string]precheck.Check {
	checks := map[string]precheck.Check{}
	for _, t := range r.cfg.Task.Tools {
		if all := toolChecks(t, r.dir(t)); len(all) > 0 {
			checks[t.Name] = precheck.All(all...)
		}
	}
	return checks
}

func toolChecks(t task.Tool, dir string) []precheck.Check {
	var all []precheck.Check
	if p := t.Precheck.Program; p != "" {
		if strings.ContainsRune(p, filepath.Separator) {
			p = within(dir, p)
		}
		all = append(all, precheck.ProgramOnPath(p))
	}
	if p := t.Precheck.File; p != "" {
		all = append(all, precheck.FileExists(within(dir, p)))
	}
	if addr := t.Precheck.TCP; addr != "" {
		all = append(all, precheck.TCPAnswers(addr))
	}
	if url := t.Precheck.HTTP; url != "" {
		all = append(all, precheck.HTTPAnswers(url))
	}
	return all
}

func within(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// check asks the pre-call checks, tells the engine, and shows what is not
// available.
func (r *Run) check(ctx context.Context) {
	for _, f := range r.checker.Apply(ctx, r.engine, r.step, time.Now()) {
		if f.Score != capability.Available {
			r.show(Progress{Kind: Checked, Tool: f.Tool, Score: f.Score})
		}
	}
}
