package hook

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/expediter-go/expediter/cascade/classify"
)

type answerTest struct {
	name   string
	kind   Kind
	event  string
	answer Answer
	want   string // on stdout, without the line end
}

func checkAnswers(t *testing.T, agent classify.AgentName, tests []answerTest) {
	t.Helper()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Encode(Event{Agent: agent, Kind: tt.kind, Name: tt.event}, tt.answer)
			want := Output{}
			if tt.want != "" {
				want.Stdout = []byte(tt.want + "\n")
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTextsAreMadeFit(t *testing.T) {
	long := strings.Repeat("é", maxAnswer)
	out := Encode(Event{Agent: classify.ClaudeCode, Kind: Before, Name: "PreToolUse"},
		Answer{Deny: true, Reason: "a\x00\x1b[31m\u009b\x7f\xff\nb\t", Context: long})
	if !utf8.Valid(out.Stdout) {
		t.Error("not UTF-8")
	}
	var got struct {
		HookSpecificOutput struct{ PermissionDecisionReason, AdditionalContext string }
	}
	if err := json.Unmarshal(out.Stdout, &got); err != nil {
		t.Fatal(err)
	}
	if got, want := got.HookSpecificOutput.PermissionDecisionReason, "a[31m\uFFFD\nb\t"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	context := got.HookSpecificOutput.AdditionalContext
	if len(context) > maxAnswer || len(context) < maxAnswer-4 || !strings.HasSuffix(context, "é…") {
		t.Errorf("a long text: got %d bytes that end in %q", len(context), context[len(context)-8:])
	}
}

// allowed are the fields that each agent documents for the output of an event,
// as dotted paths. An unknown one makes Codex run the tool.
var allowed = map[classify.AgentName]map[string][]string{
	classify.ClaudeCode: {
		"PreToolUse": {"systemMessage", "hookSpecificOutput.hookEventName", "hookSpecificOutput.permissionDecision",
			"hookSpecificOutput.permissionDecisionReason", "hookSpecificOutput.additionalContext"},
		"PostToolUse":        {"systemMessage", "hookSpecificOutput.hookEventName", "hookSpecificOutput.additionalContext"},
		"PostToolUseFailure": {"systemMessage", "hookSpecificOutput.hookEventName", "hookSpecificOutput.additionalContext"},
		"PostToolBatch":      {"systemMessage", "hookSpecificOutput.hookEventName", "hookSpecificOutput.additionalContext"},
		"UserPromptSubmit":   {"systemMessage", "hookSpecificOutput.hookEventName", "hookSpecificOutput.additionalContext"},
		"SessionStart":       {"systemMessage", "hookSpecificOutput.hookEventName", "hookSpecificOutput.additionalContext"},
		"SessionEnd":         {"systemMessage"}, "Stop": {"systemMessage"}, "StopFailure": {"systemMessage"}, "SubagentStop": {"systemMessage"},
	},
	classify.Codex: {
		"PreToolUse": {"systemMessage", "hookSpecificOutput.hookEventName", "hookSpecificOutput.permissionDecision",
			"hookSpecificOutput.permissionDecisionReason", "hookSpecificOutput.additionalContext"},
		"PostToolUse":      {"systemMessage", "hookSpecificOutput.hookEventName", "hookSpecificOutput.additionalContext"},
		"UserPromptSubmit": {"systemMessage", "hookSpecificOutput.hookEventName", "hookSpecificOutput.additionalContext"},
		"SessionStart":     {"systemMessage", "hookSpecificOutput.hookEventName", "hookSpecificOutput.additionalContext"},
		"Stop":             {"systemMessage"}, "SubagentStop": {"systemMessage"},
	},
	classify.Gemini: {
		"BeforeTool":   {"decision", "reason", "systemMessage"},
		"AfterTool":    {"systemMessage", "hookSpecificOutput.hookEventName", "hookSpecificOutput.additionalContext"},
		"BeforeAgent":  {"systemMessage", "hookSpecificOutput.hookEventName", "hookSpecificOutput.additionalContext"},
		"SessionStart": {"systemMessage", "hookSpecificOutput.hookEventName", "hookSpecificOutput.additionalContext"},
		"AfterAgent":   {"systemMessage"}, "SessionEnd": {"systemMessage"},
	},
	classify.Cursor: {
		"preToolUse": {"permission", "user_message", "agent_message"}, "postToolUse": {"additional_context"}, "sessionStart": {"additional_context"},
		"beforeSubmitPrompt": {"continue"},
	},
	classify.Copilot: {
		"preToolUse": {"permissionDecision", "permissionDecisionReason"}, "PreToolUse": {"permissionDecision", "permissionDecisionReason"},
		"postToolUse": {"additionalContext"}, "postToolUseFailure": {"additionalContext"}, "sessionStart": {"additionalContext"},
		"PostToolUse": {"additionalContext"}, "PostToolUseFailure": {"additionalContext"}, "SessionStart": {"additionalContext"},
		"vscode:PreToolUse": {"systemMessage", "hookSpecificOutput.hookEventName", "hookSpecificOutput.permissionDecision",
			"hookSpecificOutput.permissionDecisionReason", "hookSpecificOutput.additionalContext"},
		"vscode:PostToolUse":      {"systemMessage", "hookSpecificOutput.hookEventName", "hookSpecificOutput.additionalContext"},
		"vscode:SessionStart":     {"systemMessage", "hookSpecificOutput.hookEventName", "hookSpecificOutput.additionalContext"},
		"vscode:UserPromptSubmit": {"systemMessage"}, "vscode:Stop": {"systemMessage"}, "vscode:SubagentStop": {"systemMessage"},
	},
	classify.Cline: {
		"PreToolUse": {"cancel", "errorMessage", "contextModification"}, "PostToolUse": {"cancel", "contextModification"},
		"UserPromptSubmit": {"cancel", "contextModification"}, "TaskStart": {"cancel", "contextModification"}, "TaskResume": {"cancel", "contextModification"},
		"tool_call": {"cancel", "errorMessage", "contextModification"}, "tool_result": {"cancel", "contextModification"},
		"prompt_submit": {"cancel", "contextModification"}, "agent_start": {"cancel", "contextModification"}, "agent_resume": {"cancel", "contextModification"},
	},
}

func TestNoUndocumentedFieldIsWritten(t *testing.T) {
	everyEvent(func(e Event) {
		for i := range 16 {
			a := Answer{Deny: i&1 != 0, Reason: some("r", i&2), Context: some("c", i&4), Notice: some("n", i&8)}
			out := Encode(e, a)
			for _, path := range paths(t, out.Stdout) {
				if !slices.Contains(allowed[e.Agent][e.Name], path) {
					t.Errorf("%s %s: %s is not documented, for %+v", e.Agent, e.Name, path, a)
				}
			}
			if denied := out.Exit == 2 || bytes.Contains(out.Stdout, []byte(`"deny"`)) || bytes.Contains(out.Stdout, []byte(`"cancel":true`)); denied != (a.Deny && e.Kind == Before) {
				t.Errorf("%s %s: denied is %v, for %+v", e.Agent, e.Name, denied, a)
			}
			if bytes.Contains(out.Stdout, []byte(`"allow"`)) || out.Exit != 0 && e.Agent != classify.Windsurf {
				t.Errorf("%s %s: got %s and exit %d", e.Agent, e.Name, out.Stdout, out.Exit)
			}
		}
	})
}

// Cursor takes a hook without output for one that has failed; for all others
// nothing is what says nothing.
func TestNothingToSayIsSilence(t *testing.T) {
	everyEvent(func(e Event) {
		got, want := Encode(e, Answer{}), ""
		if e.Agent == classify.Cursor {
			want = "{}\n"
		}
		if e.Name == "beforeSubmitPrompt" {
			want = `{"continue":true}` + "\n"
		}
		if string(got.Stdout) != want || len(got.Stderr) > 0 || got.Exit != 0 {
			t.Errorf("%s %s: got %+v, want %q", e.Agent, e.Name, got, want)
		}
	})
	for _, agent := range append(Agents(), Auto, "weather", "") {
		want := ""
		if agent == "cursor" {
			want = "{}\n"
		}
		if got := Silence(agent); string(got.Stdout) != want || len(got.Stderr) > 0 || got.Exit != 0 {
			t.Errorf("%q: got %+v, want %q", agent, got, want)
		}
	}
	full := Answer{Deny: true, Reason: "r", Context: "c", Notice: "n"}
	for _, e := range []Event{{}, {Kind: Before}, {Agent: "weather", Kind: Before, Name: "PreToolUse"}, {Agent: classify.Codex, Kind: Other, Name: "PreToolUse"}} {
		if got := Encode(e, full); len(got.Stdout)+len(got.Stderr) > 0 || got.Exit != 0 {
			t.Errorf("%+v: got %+v, want nothing", e, got)
		}
	}
}

// everyEvent goes through the events that every agent has.
func everyEvent(f func(Event)) {
	seen := map[string]bool{}
	for _, tt := range documented() {
		e := Event{Agent: tt.want.Agent, Kind: tt.want.Kind, Name: tt.want.Name}
		if id := string(e.Agent) + e.Name; !seen[id] {
			seen[id] = true
			f(e)
		}
	}
}

func some(text string, bit int) string {
	if bit == 0 {
		return ""
	}
	return text
}

// paths are the fields of a JSON object, those of objects in it as a.b.
func paths(t *testing.T, data []byte) []string {
	t.Helper()
	if len(data) == 0 {
		return nil
	}
	var object map[string]any
	if err := json.Unmarshal(data, &object); err != nil {
		t.Fatalf("%q: %v", data, err)
	}
	var found []string
	for name, value := range object {
		inner, ok := value.(map[string]any)
		if !ok {
			found = append(found, name)
		}
		for part := range inner {
			found = append(found, name+"."+part)
		}
	}
	return found
}
