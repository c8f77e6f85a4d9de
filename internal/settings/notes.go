package settings

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/expediter-go/expediter/internal/pattern"
)

// notes are what the user should know about the rest of an agent's settings.
func (a *agent) notes(r Request, path string) []string {
	var list []string
	for _, other := range r.settingsOf(a) {
		if other != path && a.installedIn(other) {
			list = append(list, other+" has the hooks as well, so that each call would count twice; keep one of them (expediter uninstall "+a.name+")")
		}
	}
	switch a.name {
	case "claude-code":
		list = append(list, r.claudeNotes()...)
	case "codex":
		list = append(list, r.codexNotes(a)...)
	case "copilot":
		list = append(list, r.copilotNotes(path)...)
	case "gemini":
		list = append(list, r.geminiNotes(a)...)
	}
	return list
}

// settingsOf are the files that an agent reads, as far as they are known.
func (r Request) settingsOf(a *agent) []string {
	list := []string{filepath.Join(r.Project, filepath.FromSlash(a.project))}
	if a.name == "claude-code" {
		list = append(list, filepath.Join(r.Project, ".claude", "settings.local.json"))
	}
	if path, err := r.path(a, User); err == nil && !slices.Contains(list, path) {
		list = append(list, path)
	}
	return list
}

func (a *agent) installedIn(path string) bool {
	if a.scripts {
		for _, e := range a.events {
			if data, err := read(filepath.Join(path, e.name)); err == nil && a.callsHook(data) {
				return true
			}
		}
		return false
	}
	d := glance(path)
	if d == nil {
		return false
	}
	found := false
	eachOwn(d, a, func(event, hujson.Value) { found = true })
	return found
}

// glance reads settings that are only looked at; nil: there are none that can
// be read.
func glance(path string) *document {
	data, err := read(path)
	if err != nil {
		return nil
	}
	d, err := parse(path, bytes.TrimPrefix(data, bom))
	if err != nil {
		return nil
	}
	return d
}

// says reports whether a switch in a file is set to the word true or false.
func says(path, word string, names ...string) bool {
	d := glance(path)
	if d == nil {
		return false
	}
	v := d.root
	for _, name := range names {
		var ok bool
		if v, ok = lookup(v, name); !ok {
			return false
		}
	}
	literal, ok := v.Value.(hujson.Literal)
	return ok && string(literal) == word
}

func (r Request) claudeNotes() []string {
	managed := []string{"/etc/claude-code/managed-settings.json", "/Library/Application Support/ClaudeCode/managed-settings.json"}
	var list []string
	for _, path := range append(r.settingsOf(agents[0]), managed...) {
		if says(path, "true", "disableAllHooks") {
			list = append(list, path+` has "disableAllHooks": true: no hook runs until that is gone`)
		}
		if slices.Contains(managed, path) && says(path, "true", "allowManagedHooksOnly") {
			list = append(list, path+` has "allowManagedHooksOnly": true: only hooks of your administrator run`)
		}
	}
	return list
}

func (r Request) copilotNotes(path string) []string {
	list := []string{path,
		filepath.Join(r.Project, ".github", "copilot", "settings.json"),
		filepath.Join(r.Project, ".github", "copilot", "settings.local.json")}
	if r.Home != "" {
		list = append(list, homes{r.Home, r.Env}.in("COPILOT_HOME", ".copilot", "settings.json"))
	}
	var notes []string
	for _, path := range list {
		if says(path, "true", "disableAllHooks") {
			notes = append(notes, path+` has "disableAllHooks": true: no hook runs until that is gone`)
		}
	}
	return notes
}

func (r Request) geminiNotes(a *agent) []string {
	var notes []string
	for _, path := range r.settingsOf(a) {
		for _, names := range [][]string{{"hooksConfig", "enabled"}, {"hooks", "enabled"}, {"tools", "enableHooks"}} {
			if says(path, "false", names...) {
				notes = append(notes, path+` has "`+strings.Join(names, ".")+`": false: no hook runs until that is true`)
			}
		}
		d := glance(path)
		if d == nil {
			continue
		}
		for _, name := range []string{"hooksConfig", "hooks"} {
			config, _ := lookup(d.root, name)
			list, _ := lookup(config, "disabled")
			for _, e := range elements(list) {
				if text, _ := stringOf(e); text == "expediter" {
					notes = append(notes, path+` names expediter in "`+name+`.disabled": its hooks do not run until it is taken out`)
				}
			}
		}
	}
	return notes
}

var (
	tomlTable   = pattern.New(`^\s*\[{1,2}\s*([^\]]+?)\s*\]`)
	tomlOff     = pattern.New(`^\s*(?:codex_)?hooks\s*=\s*false\b`)
	tomlOffHere = pattern.New(`^\s*features(?:\.(?:codex_)?hooks\s*=\s*false\b|\s*=\s*\{.*\bhooks\s*=\s*false\b)`)
	tomlHooks   = pattern.New(`^\s*hooks(?:\.[A-Z]|\s*=)`)
)

// codexNotes looks at config.toml beside each hooks.json. It is read line by
// line: enough for a note.
func (r Request) codexNotes(a *agent) []string {
	var notes []string
	for _, hooks := range r.settingsOf(a) {
		path := filepath.Join(filepath.Dir(hooks), "config.toml")
		data, err := read(path)
		if err != nil {
			continue
		}
		table, off, own := "", false, false
		for line := range bytes.Lines(data) {
			if m := tomlTable.RE().FindSubmatch(line); m != nil {
				table = string(m[1])
				own = own || table == "hooks" || strings.HasPrefix(table, "hooks.") && !strings.HasPrefix(table, "hooks.state")
			}
			off = off || table == "features" && tomlOff.RE().Match(line) || table == "" && tomlOffHere.RE().Match(line)
			own = own || table == "" && tomlHooks.RE().Match(line)
		}
		if off {
			notes = append(notes, path+" turns hooks off in [features]: no hook runs until that is gone")
		}
		if own {
			notes = append(notes, path+" has hooks of its own: Codex runs those and the ones in hooks.json")
		}
	}
	return notes
}
