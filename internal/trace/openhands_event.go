package trace

import (
	"encoding/json"

	"github.com/expediter-go/expediter/cascade/classify"
)

// openHandsEvent is an event of the OpenHands software agent SDK.
type openHandsEvent struct {
	Timestamp  json.RawMessage `json:"timestamp"`
	Source     string          `json:"source"`
	ToolName   string          `json:"tool_name"`
	ToolCallID string          `json:"tool_call_id"`

	Action      json.RawMessage `json:"action"`          // of an ActionEvent; null: it could not be run
	ResponseID  string          `json:"llm_response_id"` // the model's answer
	Observation json.RawMessage `json:"observation"`     // of an ObservationEvent
	Reason      string          `json:"rejection_reason"`
	Error       string          `json:"error"` // of an AgentErrorEvent
}

// openHandsKinds are the kinds of events, and whether they are read.
var openHandsKinds = map[string]bool{
	"MessageEvent": true, "ActionEvent": true, "ObservationEvent": true, "UserRejectObservation": true, "AgentErrorEvent": true,

	"SystemPromptEvent": false, "Condensation": false, "CondensationRequest": false, "CondensationSummaryEvent": false,
	"ConversationStateUpdateEvent": false, "ConversationErrorEvent": false, "LLMCompletionLogEvent": false,
	"TokenEvent": false, "PauseEvent": false, "InterruptEvent": false, "HookExecutionEvent": false,
}

func (d *openHandsDecoder) event(s *session, kind string, raw json.RawMessage) error {
	read, known := openHandsKinds[kind]
	if !known {
		d.sink.foreign()
	}
	if !read {
		return nil
	}
	var e openHandsEvent
	if err := json.Unmarshal(raw, &e); err != nil {
		return err
	}
	at := when(e.Timestamp)
	switch kind {
	case "MessageEvent":
		if e.Source == "user" {
			s.prompt(at)
		}
	case "ActionEvent":
		s.turnOf(e.ResponseID)
		s.issue(issued{id: e.ToolCallID, tool: e.ToolName, agent: classify.OpenHands, protocol: classify.Agent, input: e.Action, at: at})
	default:
		s.result(resulted{id: e.ToolCallID, how: Flagged, obs: e.outcome(kind, raw), at: at})
	}
	return nil
}

// outcome reads what answers a call. The payload is the observation, or the
// event itself where there is none.
func (e *openHandsEvent) outcome(kind string, raw json.RawMessage) classify.Observation {
	switch kind {
	case "UserRejectObservation":
		return classify.Observation{Failed: true, Result: e.Reason, Payload: raw}
	case "AgentErrorEvent":
		return classify.Observation{Failed: true, Result: e.Error, Payload: raw}
	}
	var seen struct {
		Content  json.RawMessage `json:"content"`
		IsError  bool            `json:"is_error"`
		ExitCode *int            `json:"exit_code"`
	}
	_ = json.Unmarshal(e.Observation, &seen) // what has another shape says nothing
	return classify.Observation{Failed: seen.IsError, ExitCode: exited(seen.ExitCode), Payload: e.Observation,
		Result: contentText(seen.Content)}
}
