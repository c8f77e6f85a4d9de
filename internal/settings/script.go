package settings

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

const (
	scriptHead = "#!/bin/sh\n"
	scriptMark = "# Made by `expediter install"
)

// script is what an agent without settings runs at an event. Its second line
// says that it is ours.
func (a *agent) script(c command) []byte {
	return []byte(scriptHead + scriptMark + " " + a.name + "`; `expediter uninstall " + a.name + "` removes it.\n" + c.guarded() + "\n")
}

// ourLines are the lines of a script that are ours: the one that says so, and
// the command below it. of is empty where there are none.
func (a *agent) ourLines(data []byte) (from, to int, of string) {
	from = bytes.Index(data, []byte(scriptMark))
	if from < 0 || from > 0 && data[from-1] != '\n' {
		return 0, 0, ""
	}
	rest := string(data[from:])
	_, after, _ := strings.Cut(rest, "\n")
	line, _, _ := strings.Cut(after, "\n")
	if !runsHook(Words(line), a.name) {
		return 0, 0, ""
	}
	to = len(data) - len(after) + len(line)
	if to < len(data) {
		to++ // its line feed
	}
	return from, to, string(data[from:to])
}

// callsHook reports whether somebody's own script runs our hook.
func (a *agent) callsHook(data []byte) bool {
	for line := range bytes.Lines(data) {
		if text := strings.TrimSpace(string(line)); !strings.HasPrefix(text, "#") && runsHook(Words(text), a.name) {
			return true
		}
	}
	return false
}

// scripts plans a script for each event. Somebody's own script in its place
// stays, and is an error unless it runs our hook: an agent runs one for each
// event.
func (p *Plan) scripts(r Request, a *agent, c command, dir string) error {
	var problems []error
	for _, e := range a.events {
		f, err := find(filepath.Join(dir, e.name))
		if err != nil {
			problems = append(problems, err)
			continue
		}
		change := Change{Path: f.path, found: f, Before: f.data, After: a.script(c), mode: 0o777, record: &record{Missing: true}}
		_, _, ours := a.ourLines(f.data)
		switch {
		case f.info == nil:
			p.add(change, r)
		case ours != "":
			p.add(change.over(r, a, c), r)
		case a.callsHook(f.data):
			p.Notes = append(p.Notes, f.path+" is your own and runs the hook itself; it stays as it is")
		default:
			problems = append(problems, foreignScript(f.path, a, c))
		}
	}
	return errors.Join(problems...)
}

// foreignScript says how to go on where somebody's own script is in the place.
func foreignScript(path string, a *agent, c command) error {
	return fmt.Errorf("%s is %w, and %s runs one script for each event; hand on from it what it reads, and print what ours answers: input=$(cat); printf '%%s' \"$input\" | %s; then install again",
		path, ErrForeign, a.title, c.sh())
}

// over puts our lines as they are now in the place of those that are there.
func (c Change) over(r Request, a *agent, cmd command) Change {
	from, to, _ := a.ourLines(c.Before)
	lines := bytes.TrimPrefix(a.script(cmd), []byte(scriptHead))
	c.After = bytes.Join([][]byte{c.Before[:from], lines, c.Before[to:]}, nil)
	rec, rest := remembered(r.State, c.found), a.rest(c.Before)
	switch {
	case rec.fits(c.found):
		c.record = rec
	case rest != nil:
		c.record = &record{Original: rest}
	case rec != nil:
		c.record = &record{Missing: true, Dirs: rec.Dirs}
	}
	return c
}

// rest is a script without our lines; nil: nothing is left but its first line.
func (a *agent) rest(data []byte) []byte {
	from, to, _ := a.ourLines(data)
	rest := bytes.Join([][]byte{data[:from], data[to:]}, nil)
	if len(bytes.TrimSpace(bytes.TrimPrefix(rest, []byte(scriptHead)))) == 0 {
		return nil
	}
	return rest
}

// withoutScripts plans to remove our scripts, or our lines from a script that
// somebody has gone on with.
func (p *Plan) withoutScripts(r Request, a *agent, dir string) error {
	var problems []error
	for _, e := range a.events {
		f, err := find(filepath.Join(dir, e.name))
		if err != nil || f.info == nil {
			problems = append(problems, err)
			continue
		}
		if _, _, ours := a.ourLines(f.data); ours == "" {
			if a.callsHook(f.data) {
				p.Notes = append(p.Notes, f.path+" is your own and runs the hook itself; take the call out of it")
			}
			continue
		}
		rec := remembered(r.State, f)
		change := Change{Path: f.path, found: f, Before: f.data, After: a.rest(f.data)}
		change.Remove = change.After == nil
		if rec != nil && change.Remove {
			change.dirs = rec.Dirs
		}
		p.add(change, r)
	}
	return errors.Join(problems...)
}
