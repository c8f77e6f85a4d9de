package trace

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/expediter-go/expediter/cascade/classify"
)

// responseItems reads the items of OpenAI's Responses API. Calls that the
// model's host makes hold their own result.
type responseItems struct {
	sink     *sink
	at       time.Time // of the response, if it says so
	answered bool      // since the model spoke last
}

// responseItemTypes are the types of items, and what becomes of them.
var responseItemTypes = map[string]func(*responseItems, *session, *responseItem){
	"message":                 (*responseItems).message,
	"reasoning":               (*responseItems).nothing,
	"function_call":           (*responseItems).call,
	"custom_tool_call":        (*responseItems).call,
	"local_shell_call":        (*responseItems).call,
	"function_call_output":    (*responseItems).output,
	"custom_tool_call_output": (*responseItems).output,
	"local_shell_call_output": (*responseItems).output,
	"mcp_call":                (*responseItems).mcp,
	"web_search_call":         (*responseItems).hosted,
	"file_search_call":        (*responseItems).hosted,
	"code_interpreter_call":   (*responseItems).hosted,
	"image_generation_call":   (*responseItems).hosted,
	"mcp_list_tools":          (*responseItems).nothing,
	"mcp_approval_request":    (*responseItems).nothing,
	"mcp_approval_response":   (*responseItems).nothing,
	"item_reference":          (*responseItems).nothing,
	"compaction":              (*responseItems).nothing,
}

type responseItem struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	CallID    string          `json:"call_id"`
	Role      string          `json:"role"`
	Status    string          `json:"status"`
	Name      string          `json:"name"`
	Server    string          `json:"server_label"`
	Content   json.RawMessage `json:"content"`
	Arguments json.RawMessage `json:"arguments"`
	Input     json.RawMessage `json:"input"`
	Output    json.RawMessage `json:"output"`
	Error     json.RawMessage `json:"error"`
	Action    struct {
		Command []string `json:"command"`
	} `json:"action"`
}

func (i *responseItems) tell(s *session, kind string, raw json.RawMessage) error {
	read, ok := responseItemTypes[kind]
	if !ok {
		i.sink.foreign()
		return nil
	}
	var item responseItem
	if err := json.Unmarshal(raw, &item); err != nil {
		return err
	}
	read(i, s, &item)
	return nil
}

// spent reads the usage of a response, which comes after its items.
func (i *responseItems) spent(s *session, raw json.RawMessage) error {
	var usage struct {
		Total int64 `json:"total_tokens"`
	}
	err := json.Unmarshal(raw, &usage)
	s.spent(usage.Total)
	return err
}

// model says that an item is of the model.
func (i *responseItems) model(s *session) {
	if i.answered {
		s.turn()
	}
	i.answered = false
}

func (i *responseItems) nothing(*session, *responseItem) {}

func (i *responseItems) message(s *session, m *responseItem) {
	switch {
	case m.Role == "assistant":
		i.model(s)
	case m.Role == "user" && strings.TrimSpace(contentText(m.Content)) != "":
		s.prompt(i.at)
		i.answered = true
	}
}

func (i *responseItems) call(s *session, c *responseItem) {
	i.model(s)
	call := issued{id: c.CallID, tool: c.Name, input: unquoted(c.Arguments), at: i.at}
	switch c.Type {
	case "custom_tool_call":
		call.input = customInput(c.Input)
	case "local_shell_call":
		call.tool, call.argv, call.input = "local_shell", c.Action.Command, nil
	}
	s.issue(call)
}

func (i *responseItems) output(s *session, o *responseItem) {
	s.result(resulted{id: o.CallID, how: Judged, at: i.at, obs: classify.Observation{Result: contentText(o.Output)}})
	i.answered = true
}

// mcp is a call of a remote MCP server; its error is a text, or says of which
// kind it is.
func (i *responseItems) mcp(s *session, c *responseItem) {
	i.model(s)
	s.issue(issued{id: c.ID, tool: c.Name, server: c.Server, protocol: classify.MCP, input: unquoted(c.Arguments), at: i.at})
	o := classify.Observation{Result: contentText(c.Output)}
	if len(c.Error) > 0 && string(c.Error) != "null" {
		o = mcpFailure(c.Error)
	}
	s.result(resulted{id: c.ID, how: Flagged, obs: o, at: i.at})
}

func mcpFailure(raw json.RawMessage) classify.Observation {
	o := classify.Observation{Failed: true, Payload: raw, Result: contentText(raw)}
	var e struct {
		Type    string          `json:"type"`
		Code    int             `json:"code"`
		Message string          `json:"message"`
		Content json.RawMessage `json:"content"` // of a tool_execution_error
	}
	if json.Unmarshal(raw, &e) != nil {
		return o
	}
	switch o.Result = e.Message; e.Type {
	case "http_error":
		o.HTTPStatus = e.Code
	case "protocol_error":
		o.RPCCode = e.Code
	case "tool_execution_error":
		if said := contentText(e.Content); said != "" {
			o.Result = said
		}
	}
	return o
}

// hosted is a call of a tool of the model's host: only how it ended is said.
func (i *responseItems) hosted(s *session, c *responseItem) {
	i.model(s)
	s.issue(issued{id: c.ID, tool: strings.TrimSuffix(c.Type, "_call"), at: i.at})
	if c.Status == "completed" || c.Status == "failed" {
		s.result(resulted{id: c.ID, how: Flagged, at: i.at, obs: classify.Observation{Failed: c.Status == "failed"}})
	}
}
