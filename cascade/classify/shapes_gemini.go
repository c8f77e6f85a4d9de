package classify

import (
	"cmp"
	"strings"
)

// geminiErrors are the types of a tool's error. The zero class: the text
// decides.
var geminiErrors = map[string]class{
	"invalid_tool_params": invalidInput, "file_not_found": invalidInput, "file_too_large": invalidInput,
	"attempt_to_create_existing_file": invalidInput, "target_is_directory": invalidInput,
	"path_not_in_workspace": invalidInput, "search_path_not_found": invalidInput,
	"search_path_not_a_directory": invalidInput, "path_is_not_a_directory": invalidInput,
	"directory_not_empty": invalidInput, "invalid_path_format": invalidInput,
	"edit_preparation_failure": invalidInput, "edit_no_occurrence_found": invalidInput,
	"edit_expected_occurrence_mismatch": invalidInput, "edit_no_change": invalidInput,
	"edit_no_change_llm_judgement": invalidInput, "edit_invalid_range": invalidInput,
	"edit_content_mismatch": invalidInput, "mcp_resource_not_found": invalidInput,
	"web_fetch_no_url_in_prompt": invalidInput,

	"tool_not_registered": toolMissing, "no_space_left": filesystem, "permission_denied": permission,
	"policy_violation": userDenied, "execution_denied": userDenied, "sandbox_expansion_required": userDenied,
	"stop_execution": none,
}

// geminiFallbacks are the types whose text decides, and what they mean if it
// does not.
var geminiFallbacks = map[string]class{
	"file_write_failure": filesystem, "read_content_failure": filesystem,
	"web_fetch_fallback_failed": upstream, "web_fetch_processing_error": upstream, "web_search_failed": upstream,
	"shell_execute_error": invalidInput, "execution_failed": none, "unhandled_exception": none, "mcp_tool_error": none,
	"glob_execution_error": none, "grep_execution_error": none, "ls_execution_error": none,
	"discovered_tool_execution_error": none, "memory_tool_execution_error": none, "read_many_files_search_error": none,
}

// geminiTailSize bounds the lines that the harness writes below a command's
// output, in bytes.
const geminiTailSize = 512

// geminiTail are those lines but for the exit code, which stands above them.
var geminiTail = [...]string{"Signal:", "Background PIDs:", "Process Group PGID:"}

// geminiShape: the tool_response of AfterTool, or a tool call of a chat file.
func geminiShape(e *evidence, f fields) {
	text := f.text("llmContent", "output")
	if text == "" {
		text = cmp.Or(f.blocks("llmContent"), f.object("llmContent").text("text"))
	}
	switch fault := f.object("error"); {
	case fault != nil:
		e.geminiError(fault.text("type"), fault.text("message"))
	case f.text("error") != "":
		e.geminiError(f.text("errorType"), f.text("error"))
	}
	switch f.text("status") {
	case "cancelled":
		e.tell(cancelled, "status")
	case "error":
		e.fail(text)
	}
	switch {
	case strings.HasPrefix(text, "Command was automatically cancelled because it exceeded the timeout"):
		e.tell(timeout, "llmContent")
	case strings.HasPrefix(text, "Command was cancelled by user"):
		e.tell(cancelled, "llmContent")
	}
	if isShellTool(e.Tool) {
		geminiExit(e, text)
	}
}

// geminiExit takes over the exit code below a command's output.
func geminiExit(e *evidence, text string) {
	tail := strings.TrimRight(text[max(0, len(text)-geminiTailSize):], space)
	for range geminiTail {
		line := tail[strings.LastIndexByte(tail, '\n')+1:]
		if without(line, geminiTail[:]...) == line {
			break
		}
		tail = strings.TrimSuffix(tail[:len(tail)-len(line)], "\n")
	}
	digits, ok := strings.CutPrefix(tail[strings.LastIndexByte(tail, '\n')+1:], "Exit Code: ")
	if code, whole := wholeNumber(digits); ok && whole && code > 0 && len(digits) <= 3 {
		e.exited(code, text)
	}
}

func (e *evidence) geminiError(kind, message string) {
	if c, ok := geminiErrors[kind]; ok {
		e.tell(c, kind)
	}
	e.fail(message)
	e.spoken = true
	if e.Result == "" {
		e.Result = kind
	}
	e.fallback = geminiFallbacks[kind]
}
