package settings

import (
	"bytes"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

// Plan is what has to change. A plan without changes is fine: see Settled.
type Plan struct {
	Changes []Change
	Settled string   // without changes: why nothing has to change
	Notes   []string // what the user should know
	Next    string   // what the user has to do after it; empty: nothing

	state string
}

// Change is what becomes of one file.
type Change struct {
	Path   string // as it is named; a link is followed to its target
	Before []byte // nil: there is no file
	After  []byte
	Remove bool // After is nothing

	found  file
	mode   fs.FileMode // of a new file, less what the system takes away
	backup bool        // Before is worth keeping
	record *record     // what to remember; nil: forget it
	dirs   []string    // folders to remove with the file, if they are empty then
}

// Install plans to put our hooks into an agent's settings. Errors wrap what is
// wrong with the request, or name the place in a file that has to be corrected
// first (*Error).
func Install(r Request) (Plan, error) {
	a, err := r.agent()
	if err != nil {
		return Plan{}, err
	}
	c, err := r.command(a)
	if err != nil {
		return Plan{}, err
	}
	p := Plan{state: r.State, Next: a.next}
	if r.Plugin != "" {
		return p.finished(p.plugin(r, a, c))
	}
	path, err := r.path(a, r.Scope)
	if err != nil {
		return Plan{}, err
	}
	if a.scripts {
		err = p.scripts(r, a, c, path)
	} else {
		err = p.install(r, a, c, path)
	}
	if len(p.Changes) == 0 {
		p.Settled = "the hooks are in " + path + " as they should be"
	}
	p.Notes = append(p.Notes, a.notes(r, path)...)
	if r.Scope == Project && len(p.Changes) > 0 && slices.ContainsFunc(c.words, filepath.IsAbs) {
		p.Notes = append(p.Notes, "the command holds paths of this machine; whoever shares the project's settings needs the same ones (--scope user keeps them to yourself)")
	}
	return p.finished(err)
}

// finished is a plan that was made without an error, if all of it can be done.
func (p *Plan) finished(err error) (Plan, error) {
	if err == nil {
		err = p.changeable()
	}
	if err != nil {
		return Plan{}, err
	}
	return *p, nil
}

// install plans the change of a settings file.
func (p *Plan) install(r Request, a *agent, c command, path string) error {
	f, err := find(path)
	if err != nil {
		return err
	}
	change := Change{Path: path, found: f, Before: f.data, mode: 0o666}
	rec := remembered(r.State, f)
	if f.info == nil {
		change.After = fresh(a, c)
		change.record = &record{Missing: true}
	} else if err := change.insert(a, c, rec); err != nil {
		return err
	}
	p.add(change, r)
	return nil
}

// insert says what becomes of a file that is there, and what is remembered.
func (c *Change) insert(a *agent, cmd command, rec *record) error {
	body, hasMark := bytes.CutPrefix(c.Before, bom)
	mark := c.Before[:len(c.Before)-len(body)]
	after, err := insert(c.Path, body, a, cmd)
	if err != nil {
		return err
	}
	c.After = after
	if hasMark {
		c.After = append(bytes.Clone(mark), after...)
	}
	if rec.fits(c.found) {
		c.record = rec
		return nil
	}
	d, err := parse(c.Path, body)
	if err != nil {
		return err
	}
	without, _, empty := strip(d, a, a.origin(rec, c.found), all)
	if rec != nil && rec.Missing && empty {
		c.record = &record{Missing: true, Dirs: rec.Dirs}
		return nil
	}
	c.backup = true
	c.record = &record{Original: append(bytes.Clone(mark), without...)}
	return nil
}

// add takes a change into the plan, unless it changes nothing.
func (p *Plan) add(c Change, r Request) {
	if !c.Remove && c.found.info != nil && bytes.Equal(c.Before, c.After) {
		return
	}
	if c.record != nil {
		kept := *c.record
		kept.Version, kept.Agent, kept.File, kept.After = recordVersion, r.Agent, c.found.target, hash(c.After)
		c.record = &kept
	}
	p.Changes = append(p.Changes, c)
}

// Uninstall plans to take our hooks out of an agent's settings.
func Uninstall(r Request) (Plan, error) {
	a, err := r.agent()
	if err != nil {
		return Plan{}, err
	}
	p := Plan{state: r.State, Next: a.again}
	path := r.Plugin
	if path == "" {
		if path, err = r.path(a, r.Scope); err != nil {
			return Plan{}, err
		}
	}
	switch {
	case r.Plugin != "":
		err = p.withoutPlugin(r, a)
	case a.scripts:
		err = p.withoutScripts(r, a, path)
	default:
		err = p.uninstall(r, a, path, a.ownFile)
	}
	if len(p.Changes) == 0 {
		p.Settled = "there are no hooks of ours in " + path
	}
	for _, other := range r.settingsOf(a) {
		if other != path && a.installedIn(other) {
			p.Notes = append(p.Notes, other+" has hooks of ours as well; they stay")
		}
	}
	return p.finished(err)
}

// uninstall plans to give a settings file back as it was. own: nobody but us
// would have made it.
func (p *Plan) uninstall(r Request, a *agent, path string, own bool) error {
	f, err := find(path)
	if err != nil || f.info == nil {
		return err
	}
	rec := remembered(r.State, f)
	change := Change{Path: path, found: f, Before: f.data}
	if rec.fits(f) {
		change.After, change.Remove, change.dirs = rec.Original, rec.Missing, rec.Dirs
		p.add(change, r)
		return nil
	}
	body := bytes.TrimPrefix(f.data, bom)
	d, err := parse(path, body)
	if err != nil {
		return err
	}
	without, found, empty := strip(d, a, a.origin(rec, f), all)
	if found == 0 {
		return nil
	}
	change.After = append(bytes.Clone(f.data[:len(f.data)-len(body)]), without...)
	made := rec != nil && rec.Missing || rec == nil && own && len(backups(f.target)) == 0
	if empty && made {
		change.Remove, change.After = true, nil
		if rec != nil {
			change.dirs = rec.Dirs
		}
	}
	p.add(change, r)
	return nil
}

// changeable reports every file of the plan that cannot be changed.
func (p Plan) changeable() error {
	var problems []error
	for _, c := range p.Changes {
		problems = append(problems, c.found.changeable())
	}
	return errors.Join(problems...)
}

// Diff shows the plan's changes in the unified format. What the files hold is
// in it as it stands there.
func (p Plan) Diff() string {
	var b strings.Builder
	for _, c := range p.Changes {
		before, after := c.Path, c.Path
		if c.found.info == nil {
			before = "/dev/null"
		}
		if c.Remove {
			after = "/dev/null"
		}
		b.Write(diff.Diff(before, c.Before, after, c.After))
	}
	return b.String()
}
