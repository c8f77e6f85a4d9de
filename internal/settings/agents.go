package settings

import (
	"path/filepath"
	"strings"

	"github.com/tailscale/hujson"
)

// agent is how one coding agent is told what to run.
type agent struct {
	name, title string
	events      []event
	grouped     bool   // entries stand in groups: [{"matcher": …, "hooks": [entry]}]
	matcher     string // of groups at events of tools; empty: none is needed
	version     bool   // the file wants "version": 1
	scripts     bool   // no settings file, but a script for each event
	handler     func(c command, e event) object
	project     string               // its file in a project, or its folder of scripts
	user        func(h homes) string // the same for the user
	ownFile     bool                 // the file has our name
	next        string               // what the user has to do after a change
	again       string               // the same after an uninstall; empty: nothing
}

// event is one of an agent's events.
type event struct {
	name    string
	tool    bool // a matcher chooses among tools
	seconds int  // the time limit; 0: five seconds
}

func (e event) timeout() int {
	if e.seconds == 0 {
		return 5
	}
	return e.seconds
}

// command is what an agent is to run, its arguments included.
type command struct {
	words   []string
	windows bool // the shell is none of Unix
}

// sh is the line for a shell.
func (c command) sh() string {
	if !c.windows {
		return shellText(c.words)
	}
	return quoted(c.words, func(word string) string {
		if !strings.ContainsAny(word, " \t\"&|<>^%'$`;()") {
			return word // backslashes are fine there
		}
		return `"` + strings.ReplaceAll(word, `"`, `\"`) + `"`
	})
}

// guarded is sh for agents that take a program which is gone for a denial.
func (c command) guarded() string {
	if c.windows {
		return c.sh() // the PowerShell of Windows knows no ||
	}
	return c.sh() + " || true"
}

// homes are the folders where agents keep the settings of a user.
type homes struct {
	home string
	env  func(string) string
}

// in is a folder of the home, unless a variable names another one.
func (h homes) in(variable, folder string, rest ...string) string {
	dir := ""
	if variable != "" {
		dir = h.env(variable)
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(h.home, filepath.FromSlash(folder))
	}
	return filepath.Join(append([]string{dir}, rest...)...)
}

// agents are those that Install knows. Paths, events and units are from each
// agent's documentation. New entries always come last: Codex knows a trusted
// hook by its place in the list.
var agents = []*agent{
	{
		// The line goes through a shell, though Claude Code would take the words
		// one by one (args): Cursor and Copilot load this file too and know the
		// line alone. They would run the program without arguments, and take its
		// complaint, or its absence, for a denial of every tool.
		name: "claude-code", title: "Claude Code", grouped: true, matcher: "*",
		events: []event{{name: "SessionStart"}, {name: "UserPromptSubmit"}, {name: "PreToolUse", tool: true},
			{name: "PostToolUse", tool: true}, {name: "PostToolUseFailure", tool: true}, {name: "PostToolBatch"},
			{name: "SubagentStop"}, {name: "Stop"}, {name: "SessionEnd", seconds: 1}}, // SessionEnd gets 1.5 s in all
		handler: func(c command, e event) object {
			return object{{"type", "command"}, {"command", c.guarded()}, {"timeout", e.timeout()}}
		},
		project: ".claude/settings.json",
		user:    func(h homes) string { return h.in("CLAUDE_CONFIG_DIR", ".claude", "settings.json") },
		next:    "restart Claude Code; /hooks in it lists them",
		again:   "restart Claude Code",
	},
	{
		name: "codex", title: "Codex", grouped: true, matcher: ".*",
		events: []event{{name: "SessionStart"}, {name: "UserPromptSubmit"}, {name: "PreToolUse", tool: true},
			{name: "PostToolUse", tool: true}, {name: "SubagentStop"}, {name: "Stop"}, {name: "SessionEnd", seconds: 1}},
		handler: func(c command, e event) object {
			return object{{"type", "command"}, {"command", c.sh()}, {"timeout", e.timeout()}}
		},
		project: ".codex/hooks.json",
		user:    func(h homes) string { return h.in("CODEX_HOME", ".codex", "hooks.json") },
		next:    "restart Codex and run /hooks in it to trust them: until then Codex does not run them, and after each change it asks anew",
		again:   "restart Codex",
	},
	{
		name: "gemini", title: "Gemini CLI", grouped: true, matcher: ".*",
		events: []event{{name: "SessionStart"}, {name: "BeforeAgent"}, {name: "BeforeTool", tool: true},
			{name: "AfterTool", tool: true}, {name: "AfterAgent"}, {name: "SessionEnd"}},
		handler: func(c command, e event) object { // the limit is in milliseconds
			return object{{"type", "command"}, {"name", "expediter"}, {"command", c.guarded()}, {"timeout", e.timeout() * 1000}}
		},
		project: ".gemini/settings.json",
		user:    func(h homes) string { return h.in("", ".gemini", "settings.json") },
		next:    "restart Gemini CLI; /hooks in it lists them. A project's hooks run in a trusted folder alone",
		again:   "restart Gemini CLI",
	},
	{
		name: "cursor", title: "Cursor", version: true,
		events: []event{{name: "sessionStart"}, {name: "beforeSubmitPrompt"}, {name: "preToolUse"}, {name: "postToolUse"},
			{name: "postToolUseFailure"}, {name: "subagentStop"}, {name: "stop"}, {name: "sessionEnd"}},
		handler: func(c command, e event) object {
			return object{{"command", c.sh()}, {"timeout", e.timeout()}}
		},
		project: ".cursor/hooks.json",
		user:    func(h homes) string { return h.in("", ".cursor", "hooks.json") },
		next:    "restart Cursor; its settings list them under Hooks. Cursor must find the program: if it does not, install with --command and the whole path",
		again:   "restart Cursor",
	},
	{
		name: "copilot", title: "Copilot CLI", version: true,
		events: []event{{name: "sessionStart"}, {name: "userPromptSubmitted"}, {name: "preToolUse"}, {name: "postToolUse"},
			{name: "postToolUseFailure"}, {name: "subagentStop"}, {name: "agentStop"}, {name: "sessionEnd"}},
		handler: func(c command, e event) object { // it denies a tool whose hook ends with any other status than 0
			return object{{"type", "command"}, {"bash", shellText(c.words) + " || true"},
				{"powershell", powershellText(c.words) + "; exit 0"}, {"timeoutSec", e.timeout()}}
		},
		project: ".github/hooks/expediter.json", ownFile: true,
		user:  func(h homes) string { return h.in("COPILOT_HOME", ".copilot", "hooks", "expediter.json") },
		next:  "restart Copilot CLI",
		again: "restart Copilot CLI",
	},
	{
		name: "cline", title: "Cline", scripts: true,
		events: []event{{name: "TaskStart"}, {name: "TaskResume"}, {name: "UserPromptSubmit"}, {name: "PreToolUse"},
			{name: "PostToolUse"}, {name: "TaskComplete"}, {name: "TaskCancel"}},
		project: ".clinerules/hooks",
		user:    func(h homes) string { return h.in("", "Documents/Cline/Hooks") },
		next:    "turn on Enable Hooks in Cline's settings, and the hooks themselves in its Hooks tab. Cline must find the program: if it does not, install with --command and the whole path",
	},
	{
		name: "windsurf", title: "Windsurf",
		events: []event{{name: "pre_user_prompt"}, {name: "pre_read_code"}, {name: "post_read_code"}, {name: "pre_write_code"},
			{name: "post_write_code"}, {name: "pre_run_command"}, {name: "post_run_command"}, {name: "pre_mcp_tool_use"},
			{name: "post_mcp_tool_use"}, {name: "post_cascade_response"}},
		handler: func(c command, _ event) object {
			return object{{"command", c.sh()}, {"show_output", false}}
		},
		project: ".windsurf/hooks.json",
		user:    func(h homes) string { return h.in("", ".codeium/windsurf", "hooks.json") },
		next:    "restart Windsurf. It must find the program: if it does not, install with --command and the whole path",
		again:   "restart Windsurf",
	},
}

// Agents are the names of the agents that Install knows.
func Agents() []string {
	var names []string
	for _, a := range agents {
		names = append(names, a.name)
	}
	return names
}

// entry is what goes into the list of an event.
func (a *agent) entry(c command, e event) object {
	handler := a.handler(c, e)
	switch {
	case !a.grouped:
		return handler
	case e.tool:
		return object{{"matcher", a.matcher}, {"hooks", array{handler}}}
	}
	return object{{"hooks", array{handler}}}
}

// commandKeys are where entries say what is to be run.
var commandKeys = []string{"command", "bash", "powershell", "exec", "args"}

// owns reports whether an entry runs our hook for this agent.
func (a *agent) owns(handler hujson.Value) bool {
	var args []string
	if list, ok := lookup(handler, "args"); ok {
		for _, e := range elements(list) {
			arg, _ := stringOf(e)
			args = append(args, arg)
		}
	}
	for _, key := range commandKeys {
		if v, ok := lookup(handler, key); ok {
			line, _ := stringOf(v)
			words := Words(line)
			if args != nil {
				words = append([]string{line}, args...) // no shell: the line is the program
			}
			if runsHook(words, a.name) {
				return true
			}
		}
	}
	return false
}
