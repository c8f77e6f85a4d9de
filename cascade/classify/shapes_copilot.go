package classify

import "strings"

// copilotShape: the toolResult of a hook, the fields of a failure, or the data
// of a session's event. In VS Code a hook's result is a text alone.
func copilotShape(e *evidence, f fields) {
	kind := f.text("resultType", "result_type")
	if inner := f.object("error"); inner != nil {
		kind = inner.text("code")
		e.fail(inner.text("message"))
	} else if s := f.text("error"); s != "" {
		e.fail(s)
	}
	switch kind {
	case "rejected", "denied":
		e.tell(userDenied, "resultType")
	case "cancelled", "canceled", "aborted":
		e.tell(cancelled, "resultType")
	case "timeout":
		e.tell(timeout, "resultType")
	case "failure", "error":
		e.fail(f.text("textResultForLlm", "text_result_for_llm"))
	}
	if f.says("success", false) {
		e.fail(f.object("result").text("content"))
	}
	if copilotShell(e.Tool) {
		copilotExit(e, f)
	}
}

// copilotShell knows the shells and those tools that read on from one.
func copilotShell(tool string) bool {
	tool = strings.TrimPrefix(strings.TrimPrefix(tool, "read_"), "write_")
	return isShellTool(tool)
}

// copilotExit takes over a shell's exit code: a field of what a session's event
// keeps, else the last line of the output.
func copilotExit(e *evidence, f fields) {
	result := f.object("result")
	for _, raw := range array(result["contents"]) {
		if code, ok := object(raw).number("exitCode"); ok {
			e.exited(code, result.text("content"))
		}
	}
	for _, text := range [...]string{f.text("textResultForLlm", "text_result_for_llm"), result.text("content"), str(e.Payload), e.Result} {
		if code, ok := copilotTail(text); ok {
			e.exited(code, text)
		}
	}
}

// copilotMark is what a shell writes below a command's output, with the exit
// code and a ">".
const copilotMark = "<exited with exit code "

// copilotTail is the exit code at the end of a text.
func copilotTail(text string) (code int, ok bool) {
	text = strings.TrimRight(text[max(0, len(text)-window):], space)
	text, ok = strings.CutSuffix(text, ">")
	i := strings.LastIndex(text, copilotMark)
	if !ok || i < 0 {
		return 0, false
	}
	return wholeNumber(text[i+len(copilotMark):])
}
