package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/expediter-go/expediter/capability/document"
	"github.com/expediter-go/expediter/cascade/redact"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/internal/control"
	"github.com/expediter-go/expediter/internal/hookproc"
	"github.com/expediter-go/expediter/internal/session"
	"github.com/expediter-go/expediter/internal/store"
)

// storeWait bounds how long a command waits for the hooks that are at work on its
// session, and shortWait for those of one session among many.
const (
	storeWait = 3 * time.Second
	shortWait = 250 * time.Millisecond
)

// storeFlag says where the sessions are.
type storeFlag struct{ dir string }

func (f *storeFlag) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.dir, "store", "", hookproc.StoreUsage)
}

// open names the folder and the store in it. Nothing is made.
func (f *storeFlag) open() (dir string, st *store.Store, err error) {
	if dir, err = store.Dir(f.dir, os.Getenv); err != nil {
		return "", nil, err
	}
	return dir, store.Open(dir), nil
}

// sessionFlags say which session a command is about.
type sessionFlags struct {
	storeFlag
	session, agent, project string
	all                     bool
	changing                bool // a proxy's session that has ended comes last: it cannot be changed
}

// aboutSessions is the part of a help that all commands on a session share.
const aboutSessions = `The session is the latest of the project that the current folder is in, unless
--session, --agent, --project or --all-projects say otherwise; 'expediter
sessions' lists all, those of 'expediter proxy' too, whose agent is mcp.`

func (f *sessionFlags) register(flags *pflag.FlagSet) {
	f.storeFlag.register(flags)
	flags.StringVar(&f.session, "session", "", "`id` of the session, or its beginning")
	flags.StringVar(&f.agent, "agent", "", "sessions of this `agent` alone, such as claude-code")
	flags.StringVar(&f.project, "project", "", "sessions of the project that this `folder` is in (default: the current one)")
	flags.BoolVar(&f.all, "all-projects", false, "the latest session of any project")
}

// chosen is the session that a command is about, in its store.
type chosen struct {
	session.Summary
	store  *store.Store
	dir    string
	unread error // of other sessions, joined
}

// find returns the session that the flags say.
func (f *sessionFlags) find(cmd *cobra.Command) (chosen, error) {
	if f.all && f.project != "" {
		return chosen{}, usagef("--all-projects and --project contradict each other; leave one out")
	}
	dir, st, err := f.open()
	if err != nil {
		return chosen{}, err
	}
	projects, err := f.projects()
	if err != nil {
		return chosen{}, err
	}
	running := control.WriteAll(contextOf(cmd), st) // has a bound of its own
	ctx, cancel := patient(cmd, storeWait)
	defer cancel()
	all, unread := listSessions(ctx, st, running)
	found, none := f.among(all, projects)
	// One that is in use may be the one that is meant, or the latest.
	for errors.Is(unread, store.ErrBusy) && (none != nil || f.session == "") {
		again, err := listSessions(ctx, st, running)
		if ctx.Err() != nil {
			break
		}
		all, unread = again, err
		found, none = f.among(all, projects)
	}
	if none != nil {
		return chosen{}, f.missing(dir, none, unread)
	}
	return chosen{found, st, dir, unread}, nil
}

// listSessions is the list of a store's sessions. Those of a proxy that does not run any
// more have ended, whether it could say so or not.
func listSessions(ctx context.Context, st *store.Store, running map[string]bool) ([]session.Summary, error) {
	all, err := session.List(ctx, st)
	for i := range all {
		s := &all[i]
		s.Ended = s.Ended || s.Mirrored() && !running[s.Socket]
	}
	return all, err
}

// among returns the session of a list that the flags say, of the first project
// that has one.
func (f *sessionFlags) among(all []session.Summary, projects []string) (found session.Summary, none error) {
	if f.changing {
		over := func(s session.Summary) bool { return s.Mirrored() && s.Ended }
		changing := *f
		changing.changing = false
		if found, none = changing.among(slices.DeleteFunc(slices.Clone(all), over), projects); none == nil || !errors.Is(none, store.ErrNoSession) {
			return found, none
		}
	}
	for _, project := range projects {
		found, err := session.Wanted{Session: f.session, Agent: f.agent, Project: project}.Of(all)
		if err == nil {
			return found, nil
		}
		if none == nil || !errors.Is(err, store.ErrNoSession) {
			none = err
		}
	}
	return session.Summary{}, none
}

// projects are the names of the folder whose project is meant: as it was given,
// and without links. The empty one means any project.
func (f *sessionFlags) projects() ([]string, error) {
	given := f.project
	if given == "" && (f.all || f.session != "") {
		return []string{""}, nil
	}
	path, err := filepath.Abs(given) // of nothing, the current folder
	if err != nil {
		return nil, fmt.Errorf("the current folder is not known: %w; give one with --project", err)
	}
	list := []string{path}
	if real, err := filepath.EvalSymlinks(path); err == nil && real != path {
		list = append(list, real)
	}
	return list, nil
}

// missing says why there is no session, and what to do.
func (f *sessionFlags) missing(dir string, none, unread error) error {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: there is no store at %.200q; the first hook call of an agent makes it (see 'expediter install --help'), as does 'expediter proxy', or give its folder with --store",
			store.ErrNoSession, dir)
	}
	if f.project == "" && f.session == "" && !f.all && errors.Is(none, store.ErrNoSession) {
		none = fmt.Errorf("%w, and choose one with --session, --project or --all-projects", none)
	}
	return errors.Join(none, some(unread))
}

// some is at most five of the errors that were joined.
func some(err error) error {
	const most = 5
	texts := unjoin(err)
	var errs []error
	for _, text := range texts[:min(len(texts), most)] {
		errs = append(errs, errors.New(text))
	}
	if more := len(texts) - most; more > 0 {
		errs = append(errs, fmt.Errorf("%s more cannot be read; see 'expediter sessions'", count(more, "session")))
	}
	return errors.Join(errs...)
}

// patient is a context that waits so long for others.
func patient(cmd *cobra.Command, wait time.Duration) (context.Context, context.CancelFunc) {
	parent := cmd.Context()
	if parent == nil {
		parent = context.Background()
	}
	return context.WithTimeout(parent, wait)
}

// view reads the session, with which hooks wait for it: f collects, and prints
// nothing.
func (c chosen) view(cmd *cobra.Command, at time.Time, f func(*session.Session) error) error {
	ctx, cancel := patient(cmd, storeWait)
	defer cancel()
	return explained(session.View(ctx, c.store, c.Summary.ID, at, f))
}

// errMirrored: what is in the store of a proxy's session is what the proxy wrote.
var errMirrored = errors.New("the session is a proxy's, whose agent declares its own plan, with the tool expediter_plan; 'expediter plan show' prints it")

// update lets f happen to the session; an error of f changes nothing.
func (c chosen) update(cmd *cobra.Command, at time.Time, f func(*session.Session) error) error {
	if c.Mirrored() {
		return errMirrored
	}
	ctx, cancel := patient(cmd, storeWait)
	defer cancel()
	return explained(session.Update(ctx, c.store, c.Summary.ID, at, nil, f))
}

// warn tells on standard error that sessions could not be read, one of which
// may have been the latest.
func (c chosen) warn(cmd *cobra.Command) {
	if n := len(unjoin(c.unread)); n > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "expediter: %s cannot be read; see 'expediter sessions'\n", count(n, "session"))
	}
}

// explained says what to do about an error of the store.
func explained(err error) error {
	switch {
	case errors.Is(err, store.ErrBusy):
		return fmt.Errorf("%w; try again when the hooks that use it are through", err)
	case errors.Is(err, store.ErrDamaged):
		return fmt.Errorf("%w; the next hook call of its agent sets it aside and begins anew", err)
	}
	return err
}

// unjoin are the errors that were joined, each made fit to print.
func unjoin(err error) []string {
	if err == nil {
		return nil
	}
	errs := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		// Join alone puts nothing but line ends between its errors.
		if parts := joined.Unwrap(); errors.Join(parts...).Error() == err.Error() {
			errs = parts
		}
	}
	texts := make([]string, len(errs))
	for i, err := range errs {
		texts[i] = redact.Text(explained(err).Error(), maxPath)
	}
	return texts
}

// errNoTool: a command names a tool that the session does not know.
var errNoTool = errors.New("no such tool")

// toolNamed returns the tool's own name for what was typed: its name, or the
// same as it is printed.
func toolNamed(st expediter.Status, typed string) (string, error) {
	printed := make([]string, len(st.Tools))
	for i, t := range st.Tools {
		if t.Tool == typed {
			return typed, nil
		}
		printed[i] = redact.Text(t.Tool, maxPath)
	}
	if i := slices.Index(printed, typed); i >= 0 {
		return st.Tools[i].Tool, nil
	}
	hint := "'expediter status --all' lists those of the session"
	if near := nearTools(typed, printed); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, ", ") + "? " + hint
	}
	return "", fmt.Errorf("%w: %.80q; %s", errNoTool, typed, hint)
}

// nearTools are at most five tools that may have been meant, the likeliest
// first.
func nearTools(typed string, tools []string) []string {
	var near []string
	add := func(name string) {
		if name != "" && len(near) < 5 && !slices.Contains(near, name) {
			near = append(near, name)
		}
	}
	lower := strings.ToLower(typed)
	for _, name := range tools {
		if strings.EqualFold(name, typed) {
			add(name)
		}
	}
	add(document.Nearest(typed, tools))
	for _, name := range tools {
		if low := strings.ToLower(name); lower != "" && (strings.HasPrefix(low, lower) || strings.HasSuffix(low, "/"+lower)) {
			add(name)
		}
	}
	return near
}
