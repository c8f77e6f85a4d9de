package trace

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/expediter-go/expediter/cascade/classify"
)

// chatMessage is one message of a chat in the shape of OpenAI's chat
// completions, which many recorders share. Fields that recorders fill with
// other types than the API's stay raw.
type chatMessage struct {
	Role         string          `json:"role"`
	Content      json.RawMessage `json:"content"` // a text, null or parts
	ToolCalls    []chatCall      `json:"tool_calls"`
	FunctionCall *chatFunction   `json:"function_call"` // before there were tool calls
	ToolCallID   string          `json:"tool_call_id"`
	Name         string          `json:"name"` // the function, in its result
}

type chatCall struct {
	ID       string        `json:"id"`
	Function *chatFunction `json:"function"`
	Custom   *chatCustom   `json:"custom"`
}

type chatFunction struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"` // JSON within a text; some recorders keep the object
}

type chatCustom struct {
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"` // free text
}

// tell hands on what the message says. It reports whether its role is known.
// The chat has no mark of failure: results are judged by their form.
func (m *chatMessage) tell(s *session, at time.Time) bool {
	switch m.Role {
	case "user":
		if strings.TrimSpace(contentText(m.Content)) != "" {
			s.prompt(at)
		}
	case "assistant":
		s.turn()
		for _, c := range m.calls() {
			c.at, c.protocol = at, classify.Agent
			s.issue(c)
		}
	case "tool", "function":
		s.result(m.result(at))
	case "system", "developer":
	default:
		return false
	}
	return true
}

// result is what a tool's message says.
func (m *chatMessage) result(at time.Time) resulted {
	return resulted{id: m.ToolCallID, how: Judged, at: at, obs: classify.Observation{Result: contentText(m.Content)}}
}

// calls are those that an assistant's message asks for.
func (m *chatMessage) calls() []issued {
	var calls []issued
	for _, c := range m.ToolCalls {
		switch {
		case c.Function != nil && c.Function.Name != "":
			calls = append(calls, issued{id: c.ID, tool: c.Function.Name, input: unquoted(c.Function.Arguments)})
		case c.Custom != nil && c.Custom.Name != "":
			calls = append(calls, issued{id: c.ID, tool: c.Custom.Name, input: customInput(c.Custom.Input)})
		}
	}
	if f := m.FunctionCall; f != nil && f.Name != "" && len(calls) == 0 {
		calls = append(calls, issued{tool: f.Name, input: unquoted(f.Arguments)})
	}
	return calls
}
