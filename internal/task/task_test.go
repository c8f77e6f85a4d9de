package task_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
	"github.com/expediter-go/expediter/internal/task"
)

const small = `
name: Small
capability_map:
  - tool: Grep
    provides: search
    alternatives:
      - {tool: Bash, method: grep, degradation: no formatting}
      - {tool: Find, method: find, degradation: names only, passthrough: true}
    fallback: ask
  - {tool: Bash, provides: commands, fallback: ask}
  - {tool: Find, provides: names, fallback: ask}
expediter: {policy: interactive, budget: 9}
dir: ..
tools:
  Grep:
    command: [rg, -n, "${pattern}", "--glob=${glob}"]
    deadline: 5s
    output_limit: 100
    env: {LC_ALL: C}
    dir: src
    ok_exit: [0, 1]
    precheck: {program: rg, tcp: "127.0.0.1:1"}
  Bash: {command: [bash, -c, "${command}"]}
  Find: {command: [find, ., -name, "${glob}"]}
subtasks:
  - id: search
    title: Search
    calls:
      - tool: Grep
        with: {pattern: "a b; $${x} ${glob}", glob: 1}
        or: {Bash: {command: grep -rn a .}}
  - after: [search]
    calls: [{tool: Bash, with: {command: ls}}]
`

func read(t *testing.T, text string) *task.File {
	t.Helper()
	f, err := task.Read("task.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestRead(t *testing.T) {
	f := read(t, small)
	if f.Name != "Small" || f.Dir != ".." || len(f.Map) != 3 || len(f.Warnings) != 0 {
		t.Errorf("got %+v", f)
	}
	grep, ok := f.Tool("Grep")
	if !ok {
		t.Fatal("Grep is missing")
	}
	want := task.Tool{Name: "Grep", Dir: "src", Env: map[string]string{"LC_ALL": "C"}, Deadline: 5 * time.Second,
		OutputLimit: 100, OKExit: []int{0, 1}, Precheck: task.Precheck{Program: "rg", TCP: "127.0.0.1:1"}}
	unexported := cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".command" }, cmp.Ignore())
	if diff := cmp.Diff(want, grep, unexported); diff != "" {
		t.Errorf("Grep (-want +got):\n%s", diff)
	}
	bash, _ := f.Tool("Bash")
	if bash.Deadline != task.DefaultDeadline || bash.OutputLimit != task.DefaultOutputLimit || !cmp.Equal(bash.OKExit, []int{0}) {
		t.Errorf("Bash: got %+v, want the defaults", bash)
	}
	wantSubtasks := []task.Subtask{
		{ID: "search", Title: "Search", Calls: []task.Call{{
			Tool: "Grep",
			With: task.Args{"pattern": "a b; $${x} ${glob}", "glob": "1"},
			Or:   map[string]task.Args{"Bash": {"command": "grep -rn a ."}, "Find": {"glob": "1"}},
		}}},
		{ID: "2", Title: "2", After: []string{"search"}, Calls: []task.Call{{
			Tool: "Bash", With: task.Args{"command": "ls"}, Or: map[string]task.Args{},
		}}},
	}
	if diff := cmp.Diff(wantSubtasks, f.Subtasks); diff != "" {
		t.Errorf("sub-tasks (-want +got):\n%s", diff)
	}
}

func TestValuesAreNeverSplitOrExpandedAgain(t *testing.T) {
	f := read(t, small)
	grep, _ := f.Tool("Grep")
	got := grep.Argv(f.Subtasks[0].Calls[0].With)
	want := []string{"rg", "-n", "a b; $${x} ${glob}", "--glob=1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("argv (-want +got):\n%s", diff)
	}
}

func TestTemplates(t *testing.T) {
	tests := []struct{ element, want string }{
		{"plain", "plain"},
		{"${a}${a}", "AA"},
		{"x${a}y${b}z", "xAyBz"},
		{"$a $1 $(a) $", "$a $1 $(a) $"},
		{"$${a}", "${a}"},
		{"$$${a}", "$${a}"},
	}
	for _, tt := range tests {
		text := strings.Replace(small, "find, ., -name, \"${glob}\"", "echo, '"+tt.element+"', '${a}', '${b}'", 1)
		text = strings.Replace(text, ", passthrough: true", "", 1)
		f := read(t, text)
		tool, _ := f.Tool("Find")
		if got := tool.Argv(task.Args{"a": "A", "b": "B"})[1]; got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.element, got, tt.want)
		}
	}
}

func TestEffectivePolicy(t *testing.T) {
	f := read(t, small)
	for _, tt := range []struct {
		named     string
		perTool   int
		chargeOld breaker.Switch
	}{{"", 3, breaker.No}, {"interactive", 3, breaker.No}, {"faithful", breaker.Off, breaker.On}} {
		p, err := f.Effective(tt.named)
		if err != nil {
			t.Fatal(err)
		}
		if p.Budget != 9 || p.ChargePerTool != tt.perTool || p.ChargeStale != tt.chargeOld || p.FailureThreshold != 3 {
			t.Errorf("%q: got %+v", tt.named, p)
		}
	}
	if _, err := f.Effective("strict"); err == nil {
		t.Error("an unknown policy was accepted")
	}
	plain := read(t, strings.Replace(small, "expediter: {policy: interactive, budget: 9}", "", 1))
	if p, err := plain.Effective(""); err != nil || p != expediter.Faithful() {
		t.Errorf("no section: got %+v, %v; want faithful", p, err)
	}
}

func TestProblems(t *testing.T) {
	tests := []struct{ name, old, new, want string }{
		{"no name", "name: Small", "", "task.yaml:3:1: the task has no name; add name: what the task is called"},
		{"unknown key", "dir: ..", "dri: ..", `task.yaml:13:1: unknown key "dri"; did you mean "dir"?`},
		{"map", "    fallback: ask\n  - {tool: Bash", "  - {tool: Bash", `tool "Grep" has no fallback`},
		{"named policy", "policy: interactive", "policy: lax", `task.yaml:12:21: unknown policy "lax"; use faithful or interactive`},
		{"policy value", "budget: 9", "probe: {every: 9, max: 2}", "task.yaml:12:57: probe.max: 2 is below probe.every 9; raise max or lower every"},
		{"a tool's policy", "provides: names,", "provides: names, policy: {probe: {every: 30}},", "task.yaml:11:51: probe.max: 20 is below probe.every 30; raise max or lower every"},
		{"policy type", "budget: 9", "budget: nine", "task.yaml:12:42: want a whole number"},
		{"no command", "command: [find, ., -name, \"${glob}\"]", "deadline: 1s", "the tool has no command; add command: [program, arguments…]"},
		{"command line", "[find, ., -name, \"${glob}\"]", "find . -name x", "a command is a list of the program and its arguments"},
		{"placeholder", "-name, \"${glob}\"", "-name, \"${GLOB}\"", `task.yaml:24:36: "${GLOB}" is no placeholder; write ${name}`},
		{"unclosed placeholder", "-name, \"${glob}\"", "-name, \"${glob\"", "is no placeholder"},
		{"program", "[find, .,", "[\"${glob}\", .,", "the program itself is a placeholder; name the program"},
		{"deadline", "deadline: 5s", "deadline: 5", `task.yaml:17:15: the length of time "5" has no unit`},
		{"no deadline", "deadline: 5s", "deadline: 0s", "deadline 0s; give more than 0s and at most 24h0m0s"},
		{"output", "output_limit: 100", "output_limit: 0", "output_limit 0; give 1 to 16777216 bytes"},
		{"environment", "LC_ALL: C", "A=B: C", `"A=B" cannot be an environment variable`},
		{"a rule's pattern", "output_limit: 100", "classify: [{match: \"(\"}]", "write an RE2 pattern"},
		{"a rule of nothing", "output_limit: 100", "classify: [{outcome: success}]", "the rule looks at nothing; give it match or exit_code"},
		{"NUL", "command: ls", `command: "l\0s"`, "NUL"},
		{"missing value", "with: {command: ls}", "with: {}", `task.yaml:33:20: the call of "Bash" lacks command; give its value`},
		{"extra value", "with: {command: ls}", "with: {command: ls, comand: x}", `tool "Bash" takes no "comand"; did you mean "command"?`},
		{"unknown tool", "calls: [{tool: Bash", "calls: [{tool: Bahs", `task.yaml:33:20: no tool is called "Bahs"; define it under tools, or did you mean "Bash"?`},
		{"undeclared alternative", "or: {Bash: {command: grep -rn a .}}", "or: {Grep: {pattern: a, glob: b}}", `the capability map declares no alternative "Grep" for "Grep"; declare it there`},
		{"dependency", "after: [search]", "after: [serach]", `task.yaml:32:13: no sub-task is called "serach"; name the id of one`},
		{"cycle", "- id: search", "- id: search\n    after: [\"2\"]", "dependency cycle"},
		{"same id", "- after: [search]", "- id: search\n    after: []", `sub-task "search" is already on line 26; give each its own`},
		{"no calls", "calls: [{tool: Bash, with: {command: ls}}]", "title: x", "the sub-task has no calls"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := strings.Replace(small, tt.old, tt.new, 1)
			if text == small {
				t.Fatalf("%q is not in the file", tt.old)
			}
			_, err := task.Read("task.yaml", []byte(text))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v\nwant %s", err, tt.want)
			}
		})
	}
}

func TestAllProblemsAtOnce(t *testing.T) {
	_, err := task.Read("t.yaml", []byte("name: 1\nexpediter: {budget: -7}\ntools: {A: {}}\nsubtasks: [{calls: [{tool: B}]}, x]\n"))
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"no capability_map", "t.yaml:2:21: budget", "t.yaml:3:12: the tool has no command", `no tool is called "B"`, "a sub-task is a mapping"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nlacks %q", err, want)
		}
	}
}

func TestWarnings(t *testing.T) {
	f := read(t, strings.Replace(small, "  Find: {command", "  Loose: {command: [true]}\n  Find: {command", 1))
	if got := f.Warnings.Error(); !strings.Contains(got, `warning: tool "Loose" is not in the capability map`) {
		t.Errorf("got %q", got)
	}
}

func TestJSON(t *testing.T) {
	f, err := task.Read("task.json", []byte(`{"name": "J", "capability_map": [], "tools": {"T": {"command": ["true"]}},
		"subtasks": [{"calls": [{"tool": "T"}]}]}`))
	if err != nil || f.Name != "J" || !cmp.Equal(f.Map, capability.Map(nil)) {
		t.Errorf("got %+v, %v", f, err)
	}
}

// The example of docs/task.md is a task file.
func TestDocumentation(t *testing.T) {
	text, err := os.ReadFile("../../docs/task.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(text), "```")
	found := 0
	for i := 1; i < len(blocks); i += 2 {
		example, ok := strings.CutPrefix(blocks[i], "yaml\nname:")
		if !ok {
			continue
		}
		found++
		f := read(t, "name:"+example)
		if _, err := f.Effective(""); err != nil || len(f.Warnings) > 0 {
			t.Errorf("example %d: %v %v", found, err, f.Warnings)
		}
	}
	if found == 0 {
		t.Error("docs/task.md shows no task file")
	}
}

func FuzzTask(f *testing.F) {
	f.Add([]byte(small))
	f.Add([]byte(`{"name":"x","capability_map":[],"tools":{"T":{"command":["t","${a}"]}},"subtasks":[{"calls":[{"tool":"T","with":{"a":"\u001b"}}]}]}`))
	f.Add([]byte("name: &a [*a]\nsubtasks: {x: y}\ntools: [a]\n"))
	f.Add([]byte("name: x\ncapability_map: [{tool: A, alternatives: [{tool: B, passthrough: true}], fallback: f}]\ntools: {A: {command: [a]}, B: {command: [b]}}\nsubtasks: [{calls: [{tool: A}], after: [1]}]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := task.Read("fuzz.yaml", data)
		if err != nil {
			if err.Error() == "" {
				t.Error("an error without a text")
			}
			return
		}
		if _, err := file.Effective(""); err != nil {
			t.Errorf("accepted a policy that is none: %v", err)
		}
		if err := file.Scope().Validate(); err != nil {
			t.Errorf("accepted dependencies that cannot be met: %v", err)
		}
		for _, s := range file.Subtasks {
			for _, c := range s.Calls {
				checkCall(t, file, c.Tool, c.With)
				for name, args := range c.Or {
					checkCall(t, file, name, args)
				}
			}
		}
	})
}

func checkCall(t *testing.T, f *task.File, name string, args task.Args) {
	tool, ok := f.Tool(name)
	if !ok {
		t.Fatalf("a call of %q, which is no tool", name)
	}
	for _, p := range tool.Params() {
		if _, ok := args[p]; !ok {
			t.Errorf("a call of %q lacks %q", name, p)
		}
	}
	for _, element := range tool.Argv(args) {
		if strings.Contains(element, "\x00") {
			t.Errorf("a NUL in the arguments of %q", name)
		}
	}
}
