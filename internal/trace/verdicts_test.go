package trace

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestVerdicts: what the importers find leads to the right verdicts, by class.
func TestVerdicts(t *testing.T) {
	tests := []struct {
		fixture string
		follows string // what says that recordings look like the fixture
		want    map[string]int
	}{
		{"gemini.json", "google-gemini/gemini-cli packages/core/src/services/chatRecordingTypes.ts, ConversationRecord",
			map[string]int{"ok": 1, "network": 2, "invalid_input": 1, "cancelled": 1}},
		{"gemini-records.jsonl", "the same, as chatRecordingService.ts appends it",
			map[string]int{"ok": 1, "network": 1}},
		{"gemini-stream.jsonl", "google-gemini/gemini-cli packages/core/src/output/types.ts, JsonStreamEvent",
			map[string]int{"ok": 1, "filesystem": 1, "invalid_input": 1}},
		{"copilot.jsonl", "github/copilot-sdk nodejs/src/generated/session-events.ts",
			map[string]int{"ok": 2, "network": 1, "tool_missing": 1, "invalid_input": 1, "user_denied": 1}},
		{"cline-markup.json", "cline/cline src/core/prompts/responses.ts and core/task/tools/utils",
			map[string]int{"ok": 1, "filesystem": 1, "invalid_input": 1, "user_denied": 1, "cancelled": 1}},
		{"cline-blocks.json", "RooCodeInc/Roo-Code src/core/prompts/responses.ts and core/assistant-message",
			map[string]int{"ok": 1, "network": 1, "user_denied": 1, "cancelled": 1}},
		{"cline-session.json", "cline/cline sdk/packages/core/docs/messages-contract-v1.md",
			map[string]int{"network": 1}},
		{"openhands-actions.json", "All-Hands-AI/OpenHands openhands/core/schema and openhands/events",
			map[string]int{"ok": 1, "network": 2, "rate_limit": 1, "invalid_input": 1, "user_denied": 1}},
		{"openhands-kinds.json", "OpenHands/software-agent-sdk openhands/sdk/event/llm_convertible",
			map[string]int{"ok": 2, "network": 2, "invalid_input": 2, "user_denied": 1}},
		{"openhands-runs.jsonl", "All-Hands-AI/OpenHands evaluation/utils/shared.py, EvalOutput",
			map[string]int{"ok": 1, "invalid_input": 1, "network": 1}},
		{"inspect-ai.json", "UKGovernmentBEIS/inspect_ai src/inspect_ai/tool/_tool_call.py, ToolCallError",
			map[string]int{"ok": 2, "timeout": 1, "user_denied": 1, "invalid_input": 1, "none": 1}},
		{"openai-chat.json", "OpenAI's API reference, messages of chat completions",
			map[string]int{"ok": 3, "upstream": 1, "timeout": 1}},
		{"openai-finetune.jsonl", "OpenAI's guide to fine-tuning, examples with tool calls",
			map[string]int{"ok": 1, "rate_limit": 1}},
		{"openai-response.json", "OpenAI's API reference, responses, mcp_call among the output items",
			map[string]int{"ok": 1, "upstream": 1}},
		{"openai-items.jsonl", "OpenAI's API reference, input items of responses",
			map[string]int{"ok": 1, "network": 2, "none": 1}},
	}
	for _, tt := range tests {
		t.Run(tt.fixture, func(t *testing.T) {
			f, err := os.Open(filepath.Join("testdata", tt.fixture))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			got := map[string]int{}
			if _, err := Read(t.Context(), tt.fixture, f, Options{}, func(e *Event) error {
				if e.Kind == Result {
					got[e.Verdict.Class]++
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("made after %s: -want +got:\n%s", tt.follows, d)
			}
		})
	}
}
