package classify

import (
	"encoding/json"
	"strings"

	"github.com/expediter-go/expediter/internal/pattern"
)

// reportHead is how much of an unmarked result is read, in bytes.
const reportHead = 512

// reportForm is one row of the table of forms that an error report has. They
// are anchored at its start: words inside ordinary output are no report.
type reportForm struct {
	starts  []string         // every match begins with one of them; nil: its first word names an error
	form    *pattern.Pattern // on the folded start of the text, without white space in front
	example string
}

var reportForms = [...]reportForm{
	{[]string{"error", "[error"}, pattern.New(`\A\[?error\]?(?:[:!(]|\s*\z)`), "Error: user not found"},
	{[]string{"error "}, pattern.New(`\Aerror (?:executing|calling|running|invoking|during|while|in|from|occurred|code|performing|processing|reading|writing|fetching)\b[^\n]{0,120}?(?::|\z)`), "Error executing tool search: connection refused"},
	{[]string{"an "}, pattern.New(`\Aan (?:unexpected |internal |unknown )?error (?:occurred|was encountered)`), "An error occurred while calling the tool"},
	{[]string{"traceback "}, pattern.New(`\Atraceback \(most recent call last\)`), "Traceback (most recent call last):\n  File \"a.py\""},
	{nil, pattern.New(`\A(?:[a-z_][\w]*\.)*\w*(?:error|exception)(?: \[[^\]\n]*\])?(?:\(|: )`), "requests.exceptions.ConnectionError: refused"},
	{[]string{"unhandled ", "uncaught ", "an ", "exception"}, pattern.New(`\A(?:unhandled |uncaught |an )?exception(?:: | occurred| \w+ occurred)`), "Exception: x"},
	{[]string{"execution ", "command ", "tool call ", "request ", "operation ", "the command ", "the tool "}, pattern.New(`\A(?:execution|command|tool call|request|operation|the command|the tool) (?:has )?timed out\b`), "EXECUTION TIMED OUT"},
	{[]string{"command '"}, pattern.New(`\Acommand '[^\n]*' timed out\b`), "Command 'sleep 9' timed out after 5 seconds"},
	{[]string{"tool ", "function "}, pattern.New(`\A(?:tool|function) ["']?[\w./-]{1,80}["']? (?:failed|not found|does not exist|is not (?:available|registered))\b`), "Tool search not found"},
	{[]string{"unknown ", "no such "}, pattern.New(`\A(?:unknown|no such) (?:tool|function)\b`), "Unknown tool: search"},
	{[]string{"failed to "}, pattern.New(`\Afailed to \w+[^\n]{0,240}\z`), "Failed to connect to the database"},
	{[]string{"/bin/", "bash: ", "zsh: ", "dash: ", "sh: "}, pattern.New(`\A(?:/bin/)?(?:ba|z|da)?sh: (?:line )?(?:\d+: )?[^\n]*: (?:command )?not found\s*\z`), "bash: line 1: rg: command not found"},
	{[]string{"zsh:", "(eval):"}, pattern.New(`\A(?:zsh|\(eval\)):\d+: command not found: \S+\s*\z`), "zsh:1: command not found: rg"},
	{[]string{"fatal: "}, pattern.New(`\Afatal: [^\n]{0,240}\s*\z`), "fatal: not a git repository"},
	{[]string{"http ", "api "}, pattern.New(`\A(?:http|api) (?:error|status)(?: code)?:? ?[45]\d\d\b`), "HTTP error 503: try later"},
	{[]string{"http ", "4", "5"}, pattern.New(`\A(?:http )?[45]\d\d (?:client error|server error|too many requests|bad gateway|service unavailable|gateway time-?out|internal server error|unauthorized|forbidden)\b`), "503 Service Unavailable"},
	{[]string{"<tool_use_error>"}, pattern.New(`\A<tool_use_error>`), "<tool_use_error>Error: No such tool available: x</tool_use_error>"},
	{[]string{"<error>"}, pattern.New(`\A<error>`), "<error>it broke</error>"},
	{[]string{"mcp error -"}, pattern.New(`\Amcp error -\d+`), "MCP error -32000: Connection closed"},
	{[]string{"tool call error: "}, pattern.New(`\Atool call error: `), "tool call error: tool call failed for `db/query`"},
	{[]string{"exec", "command ", "patch "}, pattern.New(`\A(?:exec|exec command|command|patch) rejected by (?:the )?user\b`), "exec command rejected by user"},
	{[]string{"command blocked by "}, pattern.New(`\Acommand blocked by \w+ hook\b`), "Command blocked by PreToolUse hook: expediter: SKIP. Bash/curl is open"},
	{[]string{"exec_command failed"}, pattern.New(`\Aexec_command failed\b`), "exec_command failed for `rg`: No such file or directory"},
	{[]string{"aborted by ", "wall time: "}, pattern.New(`\A(?:wall time: [\d.]{1,12} seconds\n)?aborted by (?:the )?user\b`), "aborted by user after 3.2s"},
	{[]string{"expediter"}, pattern.New(`\Aexpediter(?::| skip| pause)`), "expediter SKIP: WebFetch is open"},
}

// isReport: the form of an unmarked result is that of an error report.
func isReport(text string) bool {
	start := strings.TrimLeft(head(text, 2*reportHead), " \t\r\n")
	if strings.HasPrefix(start, "{") {
		return len(text) <= maxPayload && reportsError(object(json.RawMessage(text)))
	}
	folded := fold(clean(head(start, reportHead)))
	for i := range reportForms {
		if f := &reportForms[i]; f.possible(folded) && f.form.RE().MatchString(folded) {
			return true
		}
	}
	return false
}

// possible spares most texts the pattern.
func (f *reportForm) possible(folded string) bool {
	if f.starts != nil {
		return without(folded, f.starts...) != folded
	}
	word := folded
	if end := strings.IndexFunc(folded, func(r rune) bool { return r != '.' && (r > 'z' || !isWord(byte(r))) }); end >= 0 {
		word = folded[:end]
	}
	return strings.HasSuffix(word, "error") || strings.HasSuffix(word, "exception")
}

// reportsError: the top level of a JSON object says that it is an error.
func reportsError(f fields) bool {
	return !absent(f["error"]) || f.says("isError", true) || f.says("is_error", true) ||
		f.says("success", false) || f.says("ok", false) || f.text("status") == "error"
}
