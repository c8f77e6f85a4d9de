package settings

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// desk is a user with a project.
type desk struct {
	Request
	t tester
}

func newDesk(t *testing.T, agent string) *desk {
	t.Helper()
	return deskIn(t, t.TempDir(), agent)
}

func deskIn(t tester, dir, agent string) *desk {
	return &desk{t: t, Request: Request{
		Agent: agent, Project: filepath.Join(dir, "project"), Home: filepath.Join(dir, "home"), State: filepath.Join(dir, "state"),
		Env: func(string) string { return "" }, Program: []string{"expediter"},
	}}
}

func (d *desk) file() string {
	d.t.Helper()
	a, err := d.agent()
	if err != nil {
		d.t.Fatal(err)
	}
	path, err := d.path(a, d.Scope)
	if err != nil {
		d.t.Fatal(err)
	}
	return path
}

func (d *desk) write(path, text string) {
	d.t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		d.t.Fatal(err)
	}
}

// read is a file's content, or "missing".
func (d *desk) read(path string) string {
	d.t.Helper()
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "missing"
	}
	if err != nil {
		d.t.Fatal(err)
	}
	return string(data)
}

func (d *desk) do(planned func(Request) (Plan, error)) []string {
	d.t.Helper()
	p, err := planned(d.Request)
	if err != nil {
		d.t.Fatal(err)
	}
	did, err := p.Apply()
	if err != nil {
		d.t.Fatal(err)
	}
	return did
}

// tree lists what is below a folder.
func tree(t tester, dir string) []string {
	t.Helper()
	var list []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if rel, _ := filepath.Rel(dir, path); err == nil && rel != "." {
			list = append(list, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return list
}

func TestEveryAgentComesAndGoes(t *testing.T) {
	for _, name := range Agents() {
		for _, scope := range []Scope{Project, User} {
			t.Run(name+" "+scope.String(), func(t *testing.T) {
				d := newDesk(t, name)
				d.Scope = scope
				root := filepath.Dir(d.Project)
				did := d.do(Install)
				if len(did) == 0 || !strings.HasPrefix(did[0], "wrote "+d.file()) {
					t.Errorf("got %q", did)
				}
				if again := d.do(Install); again != nil {
					t.Errorf("the second install did %q", again)
				}
				d.do(Uninstall)
				if diff := cmp.Diff([]string{"state"}, tree(t, root)); diff != "" {
					t.Errorf("left behind (-want +got):\n%s", diff)
				}
				if again := d.do(Uninstall); again != nil {
					t.Errorf("the second uninstall did %q", again)
				}
			})
		}
	}
}

func TestFreshFile(t *testing.T) {
	tests := map[string]string{
		"claude-code": `"PostToolBatch":[{"hooks":[{"type":"command","command":"expediter hook claude-code --map /m y.yaml --store /s || true","timeout":5}]}]`,
		"codex":       `"PreToolUse":[{"matcher":".*","hooks":[{"type":"command","command":"expediter hook codex --map /m y.yaml --store /s","timeout":5}]}]`,
		"gemini":      `"BeforeTool":[{"matcher":".*","hooks":[{"type":"command","name":"expediter","command":"expediter hook gemini --map /m y.yaml --store /s || true","timeout":5000}]}]`,
		"cursor":      `{"version":1,"hooks":{"sessionStart":[{"command":"expediter hook cursor --map /m y.yaml --store /s","timeout":5}]`,
		"copilot": `"preToolUse":[{"type":"command","bash":"expediter hook copilot --map /m y.yaml --store /s || true",` +
			`"powershell":"expediter hook copilot --map /m y.yaml --store /s; exit 0","timeoutSec":5}]`,
		"windsurf": `"pre_run_command":[{"command":"expediter hook windsurf --map /m y.yaml --store /s","show_output":false}]`,
	}
	for name, want := range tests {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, name)
			d.Map, d.Store = "/m y.yaml", "/s"
			d.do(Install)
			got := strings.NewReplacer("\n", "", "  ", "", `": `, `":`, "'", "").Replace(d.read(d.file()))
			if !strings.Contains(got, want) {
				t.Errorf("got %s\nwithout %s", got, want)
			}
		})
	}
}

// Claude Code's nine events, and the time that each gets.
func TestClaudeCodeEvents(t *testing.T) {
	d := newDesk(t, "claude-code")
	d.do(Install)
	doc, err := parse("settings.json", []byte(d.read(d.file())))
	if err != nil {
		t.Fatal(err)
	}
	hooks, _ := lookup(doc.root, "hooks")
	got := map[string]string{}
	for _, event := range []string{"PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch", "UserPromptSubmit", "SessionStart", "Stop", "SubagentStop", "SessionEnd"} {
		list, _ := lookup(hooks, event)
		for _, group := range elements(list) {
			got[event] = plainStyle.comma + string(group.Pack())
		}
	}
	for event, text := range got {
		if tool := strings.HasSuffix(event, "ToolUse") || event == "PostToolUseFailure"; tool != strings.Contains(text, `"matcher": "*"`) {
			t.Errorf("%s: matcher: %s", event, text)
		}
		if short := event == "SessionEnd"; short != strings.Contains(text, `"timeout": 1`) || !short && !strings.Contains(text, `"timeout": 5`) {
			t.Errorf("%s: time limit: %s", event, text)
		}
	}
	if len(got) != 9 {
		t.Errorf("%d events", len(got))
	}
}

func TestModeLinkAndBackup(t *testing.T) {
	d := newDesk(t, "claude-code")
	real := filepath.Join(d.Home, "dotfiles", "claude.json")
	const text = "{ \"env\": {} }"
	d.write(real, text)
	if err := errors.Join(os.Chmod(real, 0o600), os.MkdirAll(filepath.Dir(d.file()), 0o755), os.Symlink(real, d.file())); err != nil {
		t.Fatal(err)
	}
	d.write(real+".expediter-backup", "an older one")
	did := d.do(Install)
	if want := []string{"wrote " + d.file() + "; as it was before: " + real + ".expediter-backup.1"}; !slices.Equal(did, want) {
		t.Errorf("got %q, want %q", did, want)
	}
	for _, name := range []string{real, real + ".expediter-backup.1"} {
		if info, err := os.Lstat(name); err != nil || info.Mode() != 0o600 {
			t.Errorf("%s: mode %v, %v", name, info.Mode(), err)
		}
	}
	if info, err := os.Lstat(d.file()); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v, %v", info, err)
	}
	for _, name := range tree(t, d.State) { // it may hold the user's secrets
		if info, err := os.Stat(filepath.Join(d.State, name)); err != nil || info.Mode() != 0o600 {
			t.Errorf("%s: mode %v, %v", name, info.Mode(), err)
		}
	}
	if got := d.read(real + ".expediter-backup.1"); got != text {
		t.Errorf("the backup holds %q", got)
	}
	did = d.do(Uninstall)
	if want := []string{"wrote " + d.file(), "a backup stays in " + real + ".expediter-backup"}; !slices.Equal(did, want) {
		t.Errorf("got %q, want %q", did, want)
	}
	if d.read(real) != text || d.read(real+".expediter-backup") != "an older one" {
		t.Errorf("left %q", tree(t, filepath.Dir(d.Home)))
	}
}

func TestRefusals(t *testing.T) {
	tests := []struct {
		name  string
		given func(d *desk)
		want  string
	}{
		{"unknown agent", func(d *desk) { d.Agent = "emacs" }, `unknown agent "emacs"; say one of claude-code, codex`},
		{"plugin of another agent", func(d *desk) { d.Agent, d.Plugin = "codex", d.Home }, "leave --plugin out"},
		{"Cline on Windows", func(d *desk) { d.Agent, d.Windows = "cline", true }, "on Windows Cline does not run"},
		{"another program", func(d *desk) { d.Program = []string{"/bin/wrapper"} }, `"/bin/wrapper" runs no program named expediter`},
		{"no home", func(d *desk) { d.Scope, d.Home = User, "" }, "the home folder is unknown; set HOME"},
		{"invalid", func(d *desk) { d.write(d.file(), "{\n\"a\"}") }, "settings.json:2:4: no valid JSON: invalid character '}' after object name; correct it first"},
		{"a folder in its place", func(d *desk) { d.write(filepath.Join(d.file(), "x"), "") }, "settings.json: it is a folder; move it away"},
		{"a file in the place of its folder", func(d *desk) { d.write(filepath.Dir(d.file()), "") }, ".claude: it is no folder; move it away"},
		{"a link to nowhere", func(d *desk) {
			d.write(filepath.Join(filepath.Dir(d.file()), "x"), "")
			if err := os.Symlink("nowhere", d.file()); err != nil {
				t.Fatal(err)
			}
		}, "it is a link that leads nowhere; remove it"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := newDesk(t, "claude-code")
			tt.given(d)
			before := tree(t, filepath.Dir(d.Project))
			_, err := Install(d.Request)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got error %v, want %q", err, tt.want)
			}
			if diff := cmp.Diff(before, tree(t, filepath.Dir(d.Project))); diff != "" {
				t.Errorf("something has changed (-before +after):\n%s", diff)
			}
		})
	}
}

// Between the plan and its application the file must not change.
func TestApplyRefusesWhatChanged(t *testing.T) {
	tests := []struct {
		name   string
		before string
		meddle func(d *desk)
		want   error
	}{
		{"another content", "{}", func(d *desk) { d.write(d.file(), "{ }") }, ErrChanged},
		{"removed", "{}", func(d *desk) { os.Remove(d.file()) }, ErrChanged},
		{"made", "missing", func(d *desk) { d.write(d.file(), "{}") }, ErrChanged},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := newDesk(t, "claude-code")
			if tt.before != "missing" {
				d.write(d.file(), tt.before)
			}
			p, err := Install(d.Request)
			if err != nil {
				t.Fatal(err)
			}
			tt.meddle(d)
			want := tree(t, filepath.Dir(d.Project))
			content := d.read(d.file())
			if _, err := p.Apply(); !errors.Is(err, tt.want) {
				t.Errorf("got error %v, want %v", err, tt.want)
			}
			if diff := cmp.Diff(want, tree(t, filepath.Dir(d.Project))); diff != "" || d.read(d.file()) != content {
				t.Errorf("something has changed (-before +after):\n%s", diff)
			}
		})
	}
}

// A file that is changed after another one of the same plan was looked at.
func TestApplyIsAllOrNothing(t *testing.T) {
	d := newDesk(t, "cline")
	p, err := Install(d.Request)
	if err != nil {
		t.Fatal(err)
	}
	d.write(filepath.Join(d.file(), "TaskCancel"), "#!/bin/sh\n")
	if _, err := p.Apply(); !errors.Is(err, ErrChanged) {
		t.Errorf("got error %v", err)
	}
	if diff := cmp.Diff([]string{"TaskCancel"}, tree(t, d.file())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestClineScripts(t *testing.T) {
	d := newDesk(t, "cline")
	pre := filepath.Join(d.file(), "PreToolUse")
	post := filepath.Join(d.file(), "PostToolUse")
	own := "#!/bin/bash\ninput=$(cat)\necho \"$input\" >>log\n"
	d.write(pre, own)
	d.write(post, own)
	_, err := Install(d.Request)
	if !errors.Is(err, ErrForeign) || strings.Count(err.Error(), `printf '%s' "$input" | expediter hook cline`) != 2 {
		t.Errorf("got error %v", err)
	}
	calling := own + "printf '%s' \"$input\" | expediter hook cline\n"
	d.write(pre, calling)
	d.write(post, calling)
	p, err := Install(d.Request)
	if err != nil || len(p.Notes) < 2 || !strings.Contains(p.Notes[0], "is your own and runs the hook itself") {
		t.Fatalf("got notes %q, %v", p.Notes, err)
	}
	d.do(Install)
	start := filepath.Join(d.file(), "TaskStart")
	if info, err := os.Stat(start); err != nil || info.Mode()&0o100 == 0 || !strings.HasPrefix(d.read(start), "#!/bin/sh\n") {
		t.Errorf("%v, %v: %q", info.Mode(), err, d.read(start))
	}
	d.Program = []string{"/opt/expediter"}
	d.do(Install)
	if got := d.read(start); !strings.HasSuffix(got, "\n/opt/expediter hook cline || true\n") {
		t.Errorf("not brought up to date: %q", got)
	}
	d.write(start, d.read(start)+"echo more\n")
	d.do(Uninstall)
	if got := d.read(start); got != "#!/bin/sh\necho more\n" {
		t.Errorf("got %q", got)
	}
	if diff := cmp.Diff([]string{"PostToolUse", "PreToolUse", "TaskStart"}, tree(t, d.file())); diff != "" || d.read(pre) != calling {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestPlugin(t *testing.T) {
	d := newDesk(t, "claude-code")
	d.Plugin = filepath.Join(d.Home, "my plugin")
	d.do(Install)
	files := []string{".claude-plugin", ".claude-plugin/marketplace.json", ".claude-plugin/plugin.json", "hooks", "hooks/hooks.json"}
	if diff := cmp.Diff(files, tree(t, d.Plugin)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, name := range files {
		if strings.HasSuffix(name, ".json") {
			if _, err := parse(name, []byte(d.read(filepath.Join(d.Plugin, name)))); err != nil {
				t.Error(err)
			}
		}
	}
	if p, err := Install(d.Request); err != nil || p.Changes != nil {
		t.Errorf("the second install would change %d files, %v", len(p.Changes), err)
	}
	hooks := filepath.Join(d.Plugin, "hooks", "hooks.json")
	others := strings.Replace(d.read(hooks), `"Stop": [`, `"Stop": [{"hooks": [{"type": "command", "command": "lint"}]},`, 1)
	d.write(hooks, others)
	d.do(Uninstall)
	if got := d.read(hooks); got != "{\n  \"hooks\": {\n    \"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"lint\"}]}\n    ]\n  }\n}\n" {
		t.Errorf("got %s", got)
	}
	if diff := cmp.Diff(files, tree(t, d.Plugin)); diff != "" {
		t.Errorf("a plugin that others use is gone (-want +got):\n%s", diff)
	}
}

// Without a record what is as we write it is known to be ours.
func TestPluginWithoutRecord(t *testing.T) {
	d := newDesk(t, "claude-code")
	d.State, d.Plugin = "", filepath.Join(d.Home, "plugin")
	d.do(Install)
	d.do(Uninstall)
	if diff := cmp.Diff([]string{".claude-plugin", "hooks"}, tree(t, d.Plugin)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestNotes(t *testing.T) {
	tests := []struct {
		name, agent string
		files       map[string]string // by path below the desk
		want        []string          // one for each note, in order
	}{
		{"none", "claude-code", map[string]string{"home/.claude/settings.json": `{"disableAllHooks": false}`}, nil},
		{"all hooks off", "claude-code", map[string]string{"home/.claude/settings.json": `{"disableAllHooks": true}`, "project/.claude/settings.local.json": "{\"disableAllHooks\": true, // yes\n}"},
			[]string{`settings.local.json has "disableAllHooks": true`, `home/.claude/settings.json has "disableAllHooks": true`}},
		{"installed elsewhere", "claude-code", map[string]string{"home/.claude/settings.json": `{"hooks": {"Stop": [{"hooks": [{"command": "expediter hook claude-code"}]}]}}`},
			[]string{"home/.claude/settings.json has the hooks as well"}},
		{"Codex: off", "codex", map[string]string{"home/.codex/config.toml": "model = 'x'\n[features]\nhooks = false # no\n"}, []string{"home/.codex/config.toml turns hooks off"}},
		{"Codex: off by the old name, dotted", "codex", map[string]string{"project/.codex/config.toml": "features.codex_hooks = false\n"}, []string{"project/.codex/config.toml turns hooks off"}},
		{"Codex: off in a table on one line", "codex", map[string]string{"home/.codex/config.toml": "features = { web = true, hooks = false }\n"}, []string{"turns hooks off"}},
		{"Codex: of its own", "codex", map[string]string{"home/.codex/config.toml": "[[hooks.PreToolUse]]\nmatcher = 'x'\n"}, []string{"config.toml has hooks of its own"}},
		{"Codex: nothing of it", "codex", map[string]string{"home/.codex/config.toml": "[hooks.state]\nx = 1\n[other]\nhooks = false\n# [hooks]\n"}, nil},
		{"Copilot", "copilot", map[string]string{"home/.copilot/settings.json": `{"disableAllHooks": true}`}, []string{`.copilot/settings.json has "disableAllHooks": true`}},
		{"Gemini", "gemini", map[string]string{"home/.gemini/settings.json": `{"hooksConfig": {"enabled": false, "disabled": ["x", "expediter"]}, "tools": {"enableHooks": false}}`},
			[]string{`"hooksConfig.enabled": false`, `"tools.enableHooks": false`, `names expediter in "hooksConfig.disabled"`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := newDesk(t, tt.agent)
			for name, text := range tt.files {
				d.write(filepath.Join(filepath.Dir(d.Home), filepath.FromSlash(name)), text)
			}
			p, err := Install(d.Request)
			if err != nil {
				t.Fatal(err)
			}
			if len(p.Notes) != len(tt.want) {
				t.Fatalf("got notes %q, want %q", p.Notes, tt.want)
			}
			for i, want := range tt.want {
				if !strings.Contains(filepath.ToSlash(p.Notes[i]), want) {
					t.Errorf("got note %q, want %q", p.Notes[i], want)
				}
			}
		})
	}
}

// A state that cannot be written is told, and all else is done.
func TestWithoutState(t *testing.T) {
	d := newDesk(t, "codex")
	d.write(d.State, "a file")
	d.State = filepath.Join(d.State, "installed")
	d.write(d.file(), "{}\n")
	did := d.do(Install)
	if len(did) != 2 || !strings.Contains(did[1], "is not remembered") {
		t.Errorf("got %q", did)
	}
	d.do(Uninstall)
	if got := d.read(d.file()); got != "{}\n" {
		t.Errorf("got %q", got)
	}
	if diff := cmp.Diff([]string{"hooks.json"}, tree(t, filepath.Dir(d.file()))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// settingsModel is one settings file and what it holds without our entries.
type settingsModel struct {
	*desk
	others    string // "missing": no file
	installed bool
	forgotten bool // the record was lost since the file was made by install
}

// Whatever comes in between, an uninstall leaves what others have written.
func TestUninstallAfterAnything(t *testing.T) {
	toDisk = func(*os.File) error { return nil }
	defer func() { toDisk = (*os.File).Sync }()
	root := t.TempDir()
	runs := 0
	rapid.Check(t, func(t *rapid.T) {
		runs++
		a := rapid.SampledFrom([]string{"claude-code", "cursor", "codex"}).Draw(t, "agent")
		m := &settingsModel{desk: deskIn(t, filepath.Join(root, strconv.Itoa(runs)), a)}
		m.others = rapid.SampledFrom([]string{"missing", "{}", "{ \"hooks\": { } }\n", "\xef\xbb\xbf{\r\n\t\"version\": 1, // v\r\n\t\"hooks\": {\"Stop\": [], \"stop\": [{}],},\r\n}\r\n"}).Draw(t, "file")
		if m.others != "missing" {
			m.write(m.file(), m.others)
		}
		t.Repeat(map[string]func(*rapid.T){
			"install": func(t *rapid.T) {
				m.Program = []string{rapid.SampledFrom([]string{"expediter", "/opt/expediter"}).Draw(t, "program")}
				m.do(Install)
				m.installed = true
			},
			"uninstall": func(*rapid.T) {
				m.do(Uninstall)
				m.installed, m.forgotten = false, false
			},
			"somebody writes": func(*rapid.T) {
				if m.others == "missing" && !m.installed {
					return
				}
				if m.others == "missing" {
					m.others = "{}\n"
				}
				m.others += "// more\n"
				m.write(m.file(), m.read(m.file())+"// more\n")
			},
			"the record is lost": func(*rapid.T) {
				if m.installed && m.others == "missing" {
					m.others = "{}\n" // nobody knows any more that there was nothing
				}
				if err := os.RemoveAll(m.State); err != nil {
					t.Fatal(err)
				}
			},
			"": func(*rapid.T) {
				got := m.read(m.file())
				if m.installed == (got == m.others) {
					t.Fatalf("installed: %v, and the file holds %q", m.installed, got)
				}
				if m.installed && !strings.Contains(got, "expediter hook "+m.Agent) {
					t.Fatalf("installed, and the file holds %q", got)
				}
			},
		})
		m.do(Uninstall)
		if got := m.read(m.file()); got != m.others {
			t.Fatalf("got %q, want %q", got, m.others)
		}
	})
}
