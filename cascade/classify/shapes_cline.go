package classify

import (
	"encoding/json"
	"strings"
)

// clineShape: success is a truth value of a hook, in the editor true of nearly
// every call. All else is told by the forms in which Cline and Roo Code write a
// result down: a failure, an exit code, a refusal, a call left alone for another's
// sake.
func clineShape(e *evidence, f fields) {
	clineOperations(e)
	if f.says("success", false) {
		e.fail(f.text("result", "error"))
	}
	text := f.text("result")
	if text == "" {
		text = e.Result
	}
	text = strings.TrimSpace(text)
	if rest, ok := withoutHeading(text); ok {
		e.Result, text = rest, rest
	}
	switch {
	case strings.HasPrefix(text, "The user denied this operation"):
		e.tell(userDenied, "denial")
	case strings.HasSuffix(text, "due to user rejecting a previous tool."),
		strings.HasPrefix(text, "Tool [") && strings.Contains(text, "] was not executed"):
		e.tell(cancelled, "not executed")
	case strings.HasPrefix(text, "Error:\n") && e.isServed(), // isError
		without(text, clineErrors[:]...) != text && (e.isServed() || strings.HasPrefix(e.Tool, "web_")):
		e.Failed, e.Result = true, text
	case strings.HasPrefix(text, clineFailure):
		e.Failed, e.Result = true, between(text, "<error>", "</error>")
	case strings.HasPrefix(text, `{"status":`):
		rooResult(e, text)
	case f != nil && f["status"] != nil:
		rooResult(e, string(e.Payload))
	case isShellTool(e.Tool) && strings.HasPrefix(text, "Command "):
		clineCommand(e, text)
	}
}

// clineErrors begin the results of calls that came to nothing, in which the tool
// itself has no part.
var clineErrors = [...]string{"Error executing MCP tool: ", "Error fetching web content: ", "Error performing web search: "}

// clineCommand reads how a command ended. Above its output stands a sentence of
// the terminal.
func clineCommand(e *evidence, text string) {
	code, ok := clineExit(text)
	if rest := without(text, "Command failed with exit code "); rest != text {
		digits, _, _ := strings.Cut(rest, ".")
		code, ok = wholeNumber(digits)
	}
	switch {
	case ok:
		e.exited(code, text)
	case strings.HasPrefix(text, "Command timed out after "), strings.HasPrefix(text, "Command execution timed out after "):
		e.tell(timeout, "time limit")
	case strings.HasPrefix(text, "Command cancelled."):
		e.tell(cancelled, "cancelled")
	}
}

// clineOperations reads the result of a tool of the command line, which may do
// several things in one call: a list of {query, result, error, success}. The call
// failed if none of them came about.
func clineOperations(e *evidence) {
	var texts []string
	for _, raw := range array(e.Payload) {
		f := object(raw)
		if !f.says("success", false) {
			return
		}
		if text := f.text("error"); text != "" {
			texts = append(texts, join(text, f.text("result")))
		}
	}
	if len(texts) == 0 { // a search without a match
		return
	}
	text := strings.Join(texts, "\n")
	if rest := without(text, "Command failed: Command exited with code "); rest != text {
		digits, _, _ := strings.Cut(rest, "\n")
		if code, ok := wholeNumber(digits); ok {
			e.exited(code, text)
			return
		}
	}
	e.fail(text)
}

// clineFailure begins a failed result; its text stands in an error element.
const clineFailure = "The tool execution failed with the following error:"

// withoutHeading takes off what stands above a result where it is a message:
// "[read_file for 'a.go'] Result:".
func withoutHeading(text string) (rest string, ok bool) {
	first, rest, _ := strings.Cut(text, "\n")
	return strings.TrimSpace(rest), strings.HasPrefix(first, "[") && strings.HasSuffix(first, "] Result:")
}

// rooErrors are the messages of Roo Code's own errors, to tell them from JSON
// that a tool returned.
var rooErrors = map[string]bool{
	"The tool execution failed":     true,
	"Access blocked by .rooignore":  true,
	"Invalid JSON argument":         true,
	"Tool does not exist on server": true,
	"Server is not configured":      true,
}

// rooResult reads Roo Code's object of a result.
func rooResult(e *evidence, text string) {
	f := object(json.RawMessage(text))
	switch f.text("status") {
	case "denied":
		e.tell(userDenied, "status")
	case "error":
		if message := f.text("message"); rooErrors[message] {
			e.Failed, e.Result = true, text
			if s := f.text("error"); s != "" {
				e.Result = s
			}
		}
	}
}

// clineExit is the exit code in the lines above a command's output.
func clineExit(text string) (code int, ok bool) {
	above, _, _ := strings.Cut(text, "\nOutput:")
	_, rest, _ := strings.Cut(head(above, window), "Exit code: ")
	digits, _, _ := strings.Cut(rest, "\n")
	return wholeNumber(strings.TrimSpace(digits))
}

// between is the text between two marks, without white space around it; all
// after the first where the second is missing, and the whole without the first.
func between(text, from, to string) string {
	_, rest, ok := strings.Cut(text, from)
	if !ok {
		return text
	}
	if i := strings.LastIndex(rest, to); i >= 0 {
		rest = rest[:i]
	}
	return strings.TrimSpace(rest)
}
