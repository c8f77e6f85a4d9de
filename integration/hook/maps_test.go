package hook

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/capability/document"
	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/cascade/classify"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/internal/task"
)

// knownTools are the tools that an agent's map may name, each under the place
// that names it. What stands below a shell (Bash/rg) is a program, not a tool.
var knownTools = map[classify.AgentName]map[string][]string{
	classify.ClaudeCode: {
		"Claude Code documentation, tools reference": {"Agent", "AskUserQuestion", "Bash", "CronCreate", "CronDelete", "CronList",
			"Edit", "EnterPlanMode", "EnterWorktree", "ExitPlanMode", "ExitWorktree", "Glob", "Grep", "ListMcpResourcesTool", "LSP",
			"Monitor", "NotebookEdit", "PowerShell", "Read", "SendMessage", "Skill", "TaskCreate", "TaskGet", "TaskList",
			"TaskOutput", "TaskStop", "TaskUpdate", "TodoWrite", "ToolSearch", "WebFetch", "WebSearch", "Write"},
		"Claude Code documentation, subagents: the name of Agent before 2.1.63": {"Task"},
	},
	classify.Codex: {
		"codex-rs, tools/hook_names.rs":            {"Bash", "apply_patch", "spawn_agent"},
		"codex-rs, tools/tool_registry_plan.rs":    {"update_plan", "view_image", "write_stdin", "list_mcp_resources", "request_user_input", "request_permissions"},
		"codex-rs, tools/handlers/multi_agents.rs": {"send_input", "wait_agent", "close_agent"},
	},
	classify.Gemini: {
		"Gemini CLI documentation, tools reference": {"run_shell_command", "glob", "grep_search", "search_file_content", "list_directory",
			"read_file", "read_many_files", "replace", "write_file", "ask_user", "write_todos", "activate_skill", "get_internal_docs",
			"save_memory", "enter_plan_mode", "exit_plan_mode", "google_web_search", "web_fetch"},
	},
	classify.Cursor: {
		"Cursor documentation, hooks: values of a matcher": {"Shell", "Read", "Write", "Grep", "Delete", "Task"},
		"seen in hook calls and in agents' own lists of tools": {"StrReplace", "Glob", "SemanticSearch", "ReadLints", "WebSearch", "WebFetch",
			"TodoWrite", "AskQuestion", "CreatePlan"},
	},
	classify.Copilot: {
		"Copilot documentation, hooks reference: tool names": {"ask_user", "bash", "create", "edit", "glob", "grep", "powershell", "task",
			"view", "web_fetch"},
		"Copilot documentation, hooks reference: runtime tools": {"apply_patch", "rg", "web_search", "update_todo"},
		"Copilot documentation, command reference: tool availability": {"read_bash", "read_powershell", "write_bash", "write_powershell",
			"stop_bash", "stop_powershell", "read_agent", "skill"},
	},
	classify.Cline: {
		"cline, src/shared/tools.ts": {"ask_followup_question", "attempt_completion", "execute_command", "replace_in_file", "read_file",
			"write_to_file", "search_files", "list_files", "list_code_definition_names", "browser_action", "load_mcp_documentation",
			"new_task", "plan_mode_respond", "focus_chain", "web_fetch", "web_search", "condense", "apply_patch", "use_skill"},
	},
	classify.Windsurf: {
		"Windsurf documentation, Cascade hooks: the actions, without pre_ and post_": {"read_code", "write_code", "run_command"},
	},
}

func readDefault(t *testing.T, agent classify.AgentName) capability.File {
	t.Helper()
	name, data, ok := DefaultMap(agent)
	if !ok {
		t.Fatalf("no map for %s", agent)
	}
	file, err := capability.Read(name, data)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func eachMap(t *testing.T, check func(t *testing.T, agent classify.AgentName, m capability.Map)) {
	t.Helper()
	for _, name := range Agents() {
		agent := classify.AgentName(name)
		t.Run(name, func(t *testing.T) { check(t, agent, readDefault(t, agent).Map) })
	}
}

// Each agent has a map, and each map is an agent's.
func TestEachAgentHasAMap(t *testing.T) {
	files, err := mapFiles.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range files {
		got = append(got, strings.TrimSuffix(f.Name(), ".yaml"))
	}
	want := slices.Sorted(slices.Values(Agents()))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("agents, maps (-want +got):\n%s", diff)
	}
}

func TestDefaultMapOfNobody(t *testing.T) {
	for _, agent := range []classify.AgentName{"", "auto", "openhands", "../hook/codex", `..\codex`, "codex.yaml", "Codex", "*"} {
		if name, data, ok := DefaultMap(agent); ok || name != "" || data != nil {
			t.Errorf("DefaultMap(%q) = %q, %d bytes, %v; want none", agent, name, len(data), ok)
		}
	}
}

func TestDefaultMapIsTheCallers(t *testing.T) {
	_, data, _ := DefaultMap(classify.Codex)
	clear(data)
	if _, again, _ := DefaultMap(classify.Codex); again[0] == 0 {
		t.Error("a change of the returned bytes changed the built-in map")
	}
}

func TestDefaultMapsAreWithoutWarnings(t *testing.T) {
	for _, name := range Agents() {
		t.Run(name, func(t *testing.T) {
			agent := classify.AgentName(name)
			file := readDefault(t, agent)
			for _, w := range file.Warnings {
				t.Error(w)
			}
			_, data, _ := DefaultMap(agent)
			root, err := document.Parse("map", data)
			if err != nil {
				t.Fatal(err)
			}
			named, own, problems := task.ReadPolicy(file.Expediter, root.Key("capability_map"), file.Map)
			if named != "interactive" || own != (expediter.Policy{}) || len(problems) > 0 {
				t.Errorf("policy %q, own values %+v, problems %v; want interactive and no more", named, own, problems)
			}
		})
	}
}

func TestDefaultMapsSurviveARoundTrip(t *testing.T) {
	eachMap(t, func(t *testing.T, _ classify.AgentName, m capability.Map) {
		var b bytes.Buffer
		if err := m.WriteYAML(&b); err != nil {
			t.Fatal(err)
		}
		again, err := capability.Read("again", b.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(m, again.Map); diff != "" {
			t.Errorf("written and read again (-want +got):\n%s", diff)
		}
	})
}

func TestDefaultMapsNameKnownTools(t *testing.T) {
	eachMap(t, func(t *testing.T, agent classify.AgentName, m capability.Map) {
		var tools []string
		for _, name := range m.Mentioned() {
			tool, program, below := strings.Cut(name, "/")
			if below && keyOf(agent, tool, `{"command":"`+program+` x"}`) != name {
				t.Errorf("%s: no command has this key", name)
			}
			if !slices.Contains(tools, tool) {
				tools = append(tools, tool)
			}
		}
		var known []string
		for _, names := range knownTools[agent] {
			known = append(known, names...)
		}
		slices.Sort(tools)
		slices.Sort(known)
		if diff := cmp.Diff(known, tools); diff != "" {
			t.Errorf("tools of the agent, tools of the map (-known +map):\n%s", diff)
		}
	})
}

func keyOf(agent classify.AgentName, tool, input string) string {
	return classify.Key(classify.Observation{Protocol: classify.Agent, Agent: agent, Tool: tool, Input: []byte(input)})
}

// An entry is worth something if real calls come under it.
func TestDefaultMapsServeCalls(t *testing.T) {
	tests := []struct {
		agent             classify.AgentName
		tool, input       string
		wantKey, wantName string
	}{
		{classify.ClaudeCode, "Bash", `{"command":"cd app && npm test"}`, "Bash/npm", "Bash"},
		{classify.ClaudeCode, "Bash", `{"command":"rg -n x | head"}`, "Bash/rg", "Bash/rg"},
		{classify.ClaudeCode, "Bash", `{"command":"$TOOL x"}`, "Bash", "Bash"},
		{classify.ClaudeCode, "PowerShell", `{"command":"Get-Content x"}`, "PowerShell/Get-Content", "PowerShell"},
		{classify.ClaudeCode, "WebFetch", `{"url":"https://a.example/x","prompt":"p"}`, "WebFetch/a.example", "WebFetch"},
		{classify.ClaudeCode, "Read", `{"file_path":"/w/a.go"}`, "Read", "Read"},
		{classify.ClaudeCode, "mcp__github__get_issue", `{}`, "github/get_issue", ""},
		{classify.Codex, "Bash", `{"command":"rg x"}`, "Bash/rg", "Bash/rg"},
		{classify.Codex, "apply_patch", `{"command":"*** Begin Patch"}`, "apply_patch", "apply_patch"},
		{classify.Gemini, "run_shell_command", `{"command":"grep -r x ."}`, "run_shell_command/grep", "run_shell_command/grep"},
		{classify.Gemini, "web_fetch", `{"prompt":"read https://a.example/x"}`, "web_fetch/a.example", "web_fetch"},
		{classify.Cursor, "Shell", `{"command":"go test ./...","working_directory":"/w"}`, "Shell/go", "Shell"},
		{classify.Copilot, "bash", `{"command":"gh pr list"}`, "bash/gh", "bash"},
		{classify.Copilot, "web_fetch", `{"url":"https://a.example"}`, "web_fetch/a.example", "web_fetch"},
		{classify.Cline, "execute_command", `{"command":"npm test","requires_approval":"false"}`, "execute_command/npm", "execute_command"},
		{classify.Cline, "browser_action", `{"action":"launch","url":"http://localhost:3000"}`, "browser_action/localhost:3000", "browser_action"},
		{classify.Windsurf, "run_command", `{"command_line":"npm test","cwd":"/w"}`, "run_command/npm", "run_command"},
	}
	for _, tt := range tests {
		t.Run(string(tt.agent)+" "+tt.wantKey, func(t *testing.T) {
			key := keyOf(tt.agent, tt.tool, tt.input)
			entry, _ := readDefault(t, tt.agent).Map.Lookup(key)
			if key != tt.wantKey || entry.Tool != tt.wantName {
				t.Errorf("key %q, entry %q; want %q, %q", key, entry.Tool, tt.wantKey, tt.wantName)
			}
		})
	}
}

// An alternative is judged by the breaker of its own name alone (SPEC section
// 8). Nearly no call is kept under the bare name of a shell or of a tool that
// fetches from hosts, so such a route would always look sound.
func TestDefaultMapsRouteToNamesThatAreWatched(t *testing.T) {
	const input = `{"command":"make","prompt":"read https://a.example","url":"https://a.example"}`
	eachMap(t, func(t *testing.T, agent classify.AgentName, m capability.Map) {
		for _, e := range m {
			for _, a := range e.Alternatives {
				if key := keyOf(agent, a.Tool, input); key != a.Tool {
					t.Errorf("%s: alternative %s, whose calls have keys such as %s; name one of those", e.Tool, a.Tool, key)
				}
				if _, ok := m.Lookup(a.Tool); !ok {
					t.Errorf("%s: alternative %s has no entry", e.Tool, a.Tool)
				}
				if a.Method == "" || a.Degradation == "" {
					t.Errorf("%s: alternative %s does not say how, or what is lost", e.Tool, a.Tool)
				}
			}
		}
	})
}

// A denial must not be walked around: only a tool that reads stands in for one
// that reads, and never a shell.
func TestDefaultMapsSameAuthority(t *testing.T) {
	eachMap(t, func(t *testing.T, _ classify.AgentName, m capability.Map) {
		for _, e := range m {
			for _, a := range e.Alternatives {
				to, _ := m.Lookup(a.Tool)
				if a.SameAuthority && (strings.Contains(a.Tool, "/") || strings.Contains(e.Tool, "/") ||
					e.SideEffects != capability.EffectsNone || to.SideEffects != capability.EffectsNone) {
					t.Errorf("%s: %s is said to be of the same authority", e.Tool, a.Tool)
				}
			}
		}
	})
}

func TestDefaultMapsLetNothingStandInForTheUser(t *testing.T) {
	want := map[classify.AgentName][]string{
		classify.ClaudeCode: {"AskUserQuestion", "EnterPlanMode", "ExitPlanMode"},
		classify.Codex:      {"request_user_input", "request_permissions"},
		classify.Gemini:     {"ask_user", "enter_plan_mode", "exit_plan_mode"},
		classify.Cursor:     {"AskQuestion", "CreatePlan"},
		classify.Copilot:    {"ask_user"},
		classify.Cline:      {"ask_followup_question", "plan_mode_respond", "attempt_completion"},
	}
	eachMap(t, func(t *testing.T, agent classify.AgentName, m capability.Map) {
		var got []string
		for _, e := range m {
			if e.NoSubstitute {
				got = append(got, e.Tool)
			} else if e.SideEffects == capability.EffectsUndeclared {
				t.Errorf("%s: its side effects are not declared", e.Tool)
			}
		}
		if diff := cmp.Diff(want[agent], got); diff != "" {
			t.Errorf("no_substitute (-want +got):\n%s", diff)
		}
	})
}

// The map of Claude Code in an engine: what an agent is told when tools fail.
func TestDefaultMapRoutes(t *testing.T) {
	tests := []struct {
		name  string
		fails []string // tools that break, in this order
		as    cascade.Category
		asked string
		want  string
	}{
		{"a search", []string{"Grep"}, cascade.Upstream, "Grep", "ACCEPTABLE Bash/rg"},
		{"a search, and rg is missing", []string{"Grep", "Bash/rg"}, cascade.ToolMissing, "Grep", "ACCEPTABLE Bash/grep"},
		{"a search, without a shell", []string{"Grep", "Bash/rg", "Bash/grep"}, cascade.ToolMissing, "Grep", "PARTIAL Read"},
		{"nothing can search", []string{"Grep", "Bash/rg", "Bash/grep", "Read"}, cascade.ToolMissing, "Grep", "FALLBACK ask the user which files to examine"},
		{"a search that was denied", []string{"Grep"}, cascade.Permission, "Grep", "PARTIAL Read"},
		{"a write that was denied", []string{"Write"}, cascade.Permission, "Write", "FALLBACK output file contents for the user to save manually"},
		{"rg is missing", []string{"Bash/rg"}, cascade.ToolMissing, "Bash/rg", "ACCEPTABLE Grep"},
		{"another program", []string{"Bash/gh"}, cascade.Upstream, "Bash/gh", "FALLBACK report commands that need to be run manually"},
		{"a page", []string{"WebFetch/a.example"}, cascade.Upstream, "WebFetch/a.example", "PARTIAL WebSearch"},
		{"a page that was denied", []string{"WebFetch/a.example"}, cascade.Auth, "WebFetch/a.example", "FALLBACK ask the user to paste the page's contents"},
		{"an approval", []string{"ExitPlanMode"}, cascade.Upstream, "ExitPlanMode", "SKIPPED"},
		{"a server's tool", []string{"github/get_issue"}, cascade.Upstream, "github/get_issue", "SKIPPED"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := routeAfter(t, tt.fails, tt.as, tt.asked); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// routeAfter breaks tools with Claude Code's map, and tells the route of a call
// of one of them.
func routeAfter(t *testing.T, fails []string, as cascade.Category, asked string) string {
	t.Helper()
	policy := expediter.Interactive()
	policy.Budget = 100
	x, err := expediter.New(expediter.Config{Tools: readDefault(t, classify.ClaudeCode).Map, Policy: policy})
	if err != nil {
		t.Fatal(err)
	}
	at := time.UnixMilli(1_000_000)
	for i, tool := range fails { // one long after the other: these are no incident
		for range policy.FailureThreshold {
			step := int64(10 * i)
			d := x.Decide(tool, step, at)
			if _, err := x.Record(d.Call, expediter.Failure(as, tool+" trouble"), step, at); err != nil {
				t.Fatal(err)
			}
		}
	}
	d := x.Decide(asked, 100, at)
	if d.Route == nil {
		t.Fatalf("%v has no route", d)
	}
	return strings.TrimSpace(d.Route.Label.String() + " " + d.Route.Tool + d.Route.Ask)
}
