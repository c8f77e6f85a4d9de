package classify

import (
	"cmp"
	"strings"
)

// mcpShape: a tool's result, or the JSON-RPC answer around it.
func mcpShape(e *evidence, f fields) {
	if inner := f.object("result"); inner != nil && f["jsonrpc"] != nil {
		f = inner
	}
	e.rpcError(f.object("error"))
	mcpResult(e, f)
	if f.text("resultType") == "input_required" {
		e.tell(none, "input_required") // a question to the user, or come back later
	}
}

// mcpResult reads isError and its text, as MCP writes them and as others spell
// them.
func mcpResult(e *evidence, f fields) {
	if f.says("isError", true) || f.says("is_error", true) {
		e.fail(f.blocks("content"))
	}
}

// rpcError takes over the code and the message of a JSON-RPC error.
func (e *evidence) rpcError(fault fields) {
	if fault == nil {
		return
	}
	code, ok := fault.number("code")
	switch {
	case !ok || code == 0:
	case code >= 400 && code < 600: // the HTTP binding of A2A writes the status here
		e.HTTPStatus = code
	case e.RPCCode == 0:
		e.RPCCode = code
	}
	e.fail(join(fault.text("message"), reasons(fault)))
}

// reasons are those of the error's details, such as TASK_NOT_FOUND.
func reasons(fault fields) string {
	for _, name := range [...]string{"details", "data"} {
		if list := array(fault[name]); len(list) > 0 {
			if reason := object(list[0]).text("reason"); reason != "" {
				return reason
			}
		}
	}
	return ""
}

// a2aStates are the states of a task that say something about the agent. A
// completed or working one has nothing to tell here.
var a2aStates = map[string]class{
	"rejected": userDenied, "auth_required": auth, "input_required": none, "canceled": cancelled, "cancelled": cancelled,
}

// a2aShape: a task or status update, or the JSON-RPC answer around it.
func a2aShape(e *evidence, f fields) {
	e.rpcError(f.object("error"))
	for _, name := range [...]string{"result", "task", "statusUpdate"} {
		if inner := f.object(name); inner != nil {
			f = inner
		}
	}
	status := f.object("status")
	state := strings.ToLower(strings.ReplaceAll(status.text("state"), "-", "_"))
	state = strings.TrimPrefix(state, "task_state_")
	if c, ok := a2aStates[state]; ok {
		e.tell(c, state)
	}
	if state == "failed" {
		e.fail(cmp.Or(status.object("message").blocks("parts"), "the task failed"))
	}
}
