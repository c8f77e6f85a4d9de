package hook

import (
	"encoding/json"
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
