package classify

import (
	"encoding/json"
	"fmt"
	"strings"
)

// shapes reads the structured result of each agent. f is nil where the payload
// is no object.
var shapes = map[AgentName]func(e *evidence, f fields){
	ClaudeCode: claudeShape,
	Codex:      codexShape,
	Gemini:     geminiShape,
	Cursor:     cursorShape,
	Copilot:    copilotShape,
	Cline:      clineShape,
	Windsurf:   windsurfShape,
	SWEAgent:   sweShape,
	OpenHands:  openHandsShape,
	Inspect:    inspectShape,
}

// claudeShape: the tool_response of a success, or the fields of a failure
// event. Which fields there are depends on the tool; one of the same name in
// the result of an MCP tool is that tool's own data.
func claudeShape(e *evidence, f fields) {
	if s := str(e.Payload); s != "" && e.Result == "" {
		e.Result = s // the text of a failed call
	}
	if f.says("is_interrupt", true) {
		e.tell(cancelled, "is_interrupt")
	}
	switch {
	case isShellTool(e.Tool):
		claudeShell(e, f)
	case strings.EqualFold(e.Tool, "WebFetch"):
		if status, ok := f.number("code"); ok && status >= 400 {
			e.HTTPStatus, e.Result = status, fmt.Sprintf("HTTP %d %s", status, f.text("codeText"))
		}
	case e.Tool == "WebSearch":
		claudeSearch(e, f)
	case e.Tool == "Grep" || e.Tool == "Glob":
		if f.says("timedOut", true) {
			e.tell(timeout, "timedOut")
		}
	case strings.HasPrefix(e.Tool, "mcp__"):
		if f.says("isError", true) {
			e.fail(f.blocks("content"))
		}
	}
	if s := f.text("error"); s != "" && f["is_interrupt"] != nil {
		e.fail(s)
	}
}

// searchErrors are the codes of a search of the web that failed. A session has
// so many searches.
var searchErrors = map[string]class{
	"too_many_requests": rateLimit, "max_uses_exceeded": rateLimit, "unavailable": upstream,
	"invalid_tool_input": invalidInput, "query_too_long": invalidInput, "request_too_large": invalidInput,
}

// claudeSearch: one of the results is a text that says why there are none.
func claudeSearch(e *evidence, f fields) {
	list := array(f["results"])
	for _, raw := range list[:min(len(list), 64)] {
		code, ok := strings.CutPrefix(str(raw), "Web search error: ")
		if c, known := searchErrors[strings.TrimSpace(code)]; ok && known {
			e.tell(c, strings.TrimSpace(code))
		} else if ok {
			e.fail(str(raw))
		}
	}
}

// movedAway is what the harness says of a command that has met its time limit
// and was moved to the background.
const movedAway = "Command did not complete within its "

// claudeShell: a command that was interrupted, that was moved to the
// background at its time limit, or that met a rate limit of GitHub.
func claudeShell(e *evidence, f fields) {
	switch ms, limited := f.number("timedOutAfterMs"); {
	case f.says("interrupted", true):
		e.tell(cancelled, "interrupted")
	case limited && ms > 0, strings.HasPrefix(e.Result, movedAway):
		e.tell(timeout, "timedOutAfterMs")
	case !absent(f["ghRateLimitHint"]):
		e.tell(rateLimit, "ghRateLimitHint")
	}
}

// absent: a field that is not there, or says nothing.
func absent(raw json.RawMessage) bool {
	switch string(raw) {
	case "", "null", "false", `""`, "0", "{}", "[]":
		return true
	}
	return false
}

// cursorShape: the fields of postToolUseFailure, or the tool_output of a
// success.
func cursorShape(e *evidence, f fields) {
	if f.says("is_interrupt", true) {
		e.tell(cancelled, "is_interrupt")
	}
	switch f.text("failure_type") {
	case "timeout":
		e.tell(timeout, "failure_type")
	case "permission_denied":
		e.tell(userDenied, "failure_type")
	case "error":
		e.Failed = true
	}
	if s := f.text("error_message"); s != "" {
		e.fail(s)
	}
	if code, ok := f.number("exitCode"); ok {
		e.exited(code, join(f.text("stderr"), f.text("stdout", "output")))
	}
	mcpResult(e, f)
}

// windsurfShape: only MCP tools have a result.
func windsurfShape(e *evidence, f fields) {
	if inner := f.object("mcp_result"); inner != nil {
		f = inner
	}
	mcpResult(e, f)
}

// sweShape: the environment's output in mini-swe-agent; SWE-agent has none.
func sweShape(e *evidence, f fields) {
	if s := f.text("exception_info"); s != "" {
		e.fail(s)
	}
	if code, ok := f.number("returncode"); ok && code != 0 {
		e.exited(code, f.text("output"))
	}
}

// openHandsCauses are the causes of OpenHands' own error classification.
var openHandsCauses = map[string]class{
	"authentication": auth, "configuration": config, "quota": rateLimit, "rate_limit": rateLimit,
	"provider_unavailable": upstream, "network": network, "tool_input": invalidInput, "run_limit": none,
	"cancelled": cancelled, "internal": unknown,
}

// openHandsShape: an observation, an error event or a refusal.
func openHandsShape(e *evidence, f fields) {
	if f["rejection_reason"] != nil || f["rejection_source"] != nil {
		e.tell(userDenied, "rejection")
	}
	if c, ok := openHandsCauses[f.object("classification").text("cause")]; ok {
		e.tell(c, "classification")
	}
	if s := f.text("error"); s != "" {
		e.fail(s)
	}
	for _, part := range [...]fields{f, f.object("observation"), f.object("metadata"), f.object("extras").object("metadata"), f.object("observation").object("metadata")} {
		if code, ok := part.number("exit_code"); ok && code > 0 { // -1: it still runs
			e.exited(code, join(part.text("output"), f.text("content")))
		}
		if part.says("is_error", true) {
			e.fail(join(part.blocks("content"), part.text("content", "error")))
		}
	}
}

// inspectErrors are the types of inspect_ai's ToolCallError that say what
// happened. Others (unknown, and ones to come) leave it to the message.
var inspectErrors = map[string]class{
	"parsing": invalidInput, "unicode_decode": invalidInput, "file_not_found": invalidInput, "is_a_directory": invalidInput,
	"limit": invalidInput, "output_limit": invalidInput, // the output is longer than allowed
	"approval": userDenied, "cancelled": cancelled, "timeout": timeout, "permission": permission,
}

// inspectShape: a ToolCallError. Its type is an earlier judgement.
func inspectShape(e *evidence, f fields) {
	if c, ok := inspectErrors[f.text("type")]; ok && e.Class == "" {
		e.Class = c.String()
	}
}
