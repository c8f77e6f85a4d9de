package classify

import (
	"encoding/json"
	"strconv"
	"strings"
)

// codexHeadSize bounds what the harness writes above a command's output, in
// bytes.
const codexHeadSize = 512

// codexShape: a text with a head of the harness, that text and its exit code in
// an object, the end of a command or patch, or an MCP result.
func codexShape(e *evidence, f fields) {
	if f == nil {
		codexText(e)
		return
	}
	codexExit(e, f)
	switch f.text("status") {
	case "declined", "rejected", "denied":
		e.tell(userDenied, "status")
	case "failed":
		e.Failed = true
	}
	if f.says("success", false) {
		e.fail(f.text("content", "stderr", "error"))
	}
	if inner := f.object("Ok"); inner != nil {
		f = inner
	} else if s := f.text("Err"); s != "" {
		e.fail(s)
	}
	mcpResult(e, f)
}

// codexExit takes over the exit code of a command and its output.
func codexExit(e *evidence, f fields) {
	code, ok := f.number("exit_code")
	if !ok {
		code, ok = f.object("metadata").number("exit_code")
	}
	if ok {
		e.exited(code, "")
		e.Result = join(f.text("output", "aggregated_output"), f.text("stderr"))
	}
}

// codexText reads the exit code out of a result that is a text: out of its
// head, or out of the object that it is. What the hooks of newer versions get of
// a command is its output alone.
func codexText(e *evidence) {
	text := e.Result
	if text == "" {
		text = str(e.Payload)
	}
	if len(text) > maxPayload {
		return
	}
	if f := object(json.RawMessage(text)); f != nil {
		codexExit(e, fields{"metadata": f["metadata"], "output": f["output"]})
		return
	}
	top, output, found := strings.Cut(text, "utput:\n") // Output or Final output
	if len(top) > codexHeadSize {
		top, found = head(text, codexHeadSize), false
	}
	code, ok := codexCode(top)
	if !ok {
		if len(e.Payload) > 0 { // of a hook, where nothing else tells
			e.Result, e.Unmarked = text, true
		}
		return
	}
	e.exited(code, "")
	e.Result = text
	if found {
		e.Result = output
	}
}

// codexCode is the exit code that a head tells.
func codexCode(top string) (code int, ok bool) {
	for line := range strings.Lines(top) {
		digits := without(line, "Process exited with code ", "Exit code: ")
		if digits == line {
			continue
		}
		if code, ok = wholeNumber(strings.TrimRight(digits, space)); ok {
			return code, true
		}
	}
	return 0, false
}

// wholeNumber reads up to nine digits, with or without a minus.
func wholeNumber(s string) (n int, ok bool) {
	digits := strings.TrimPrefix(s, "-")
	if digits == "" || len(digits) > 9 || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(s)
	return n, err == nil
}
