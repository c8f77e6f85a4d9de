package classify

import (
	"encoding/json"
	"regexp"
	"strings"
)

// reportHead is how much of an unmarked result is read, in bytes.
const reportHead = 512

// reportForm is one row of the table of forms that an error report has. They
// are anchored at its start: words inside ordinary output are no report.
type reportForm struct {
	pattern string // RE2 on the folded start of the text, without white space in front
	example string
	re      *regexp.Regexp
}

var reportForms = compileForms([]reportForm{
	{pattern: `\A\[?error\]?(?:[:!(]|\s*\z)`, example: "Error: user not found"},
	{pattern: `\Aerror (?:executing|calling|running|invoking|during|while|in|from|occurred|code|performing|processing|reading|writing|fetching)\b[^\n]{0,120}?(?::|\z)`, example: "Error executing tool search: connection refused"},
	{pattern: `\Aan (?:unexpected |internal |unknown )?error (?:occurred|was encountered)`, example: "An error occurred while calling the tool"},
	{pattern: `\Atraceback \(most recent call last\)`, example: "Traceback (most recent call last):\n  File \"a.py\""},
	{pattern: `\A(?:[a-z_][\w]*\.)*\w*(?:error|exception)(?: \[[^\]\n]*\])?(?:\(|: )`, example: "requests.exceptions.ConnectionError: refused"},
	{pattern: `\A(?:unhandled |uncaught |an )?exception(?:: | occurred| \w+ occurred)`, example: "Exception: x"},
	{pattern: `\A(?:execution|command|tool call|request|operation|the command|the tool) (?:has )?timed out\b`, example: "EXECUTION TIMED OUT"},
	{pattern: `\Acommand '[^\n]*' timed out\b`, example: "Command 'sleep 9' timed out after 5 seconds"},
	{pattern: `\A(?:tool|function) ["']?[\w./-]{1,80}["']? (?:failed|not found|does not exist|is not (?:available|registered))\b`, example: "Tool search not found"},
	{pattern: `\A(?:unknown|no such) (?:tool|function)\b`, example: "Unknown tool: search"},
	{pattern: `\Afailed to \w+[^\n]{0,240}\z`, example: "Failed to connect to the database"},
	{pattern: `\A(?:/bin/)?(?:ba|z|da)?sh: (?:line )?(?:\d+: )?[^\n]*: (?:command )?not found\s*\z`, example: "bash: line 1: rg: command not found"},
	{pattern: `\Afatal: [^\n]{0,240}\s*\z`, example: "fatal: not a git repository"},
	{pattern: `\A(?:http|api) (?:error|status)(?: code)?:? ?[45]\d\d\b`, example: "HTTP error 503: try later"},
	{pattern: `\A(?:http )?[45]\d\d (?:client error|server error|too many requests|bad gateway|service unavailable|gateway time-?out|internal server error|unauthorized|forbidden)\b`, example: "503 Service Unavailable"},
	{pattern: `\A<tool_use_error>`, example: "<tool_use_error>Error: No such tool available: x</tool_use_error>"},
	{pattern: `\A<error>`, example: "<error>it broke</error>"},
	{pattern: `\Amcp error -\d+`, example: "MCP error -32000: Connection closed"},
	{pattern: `\Aexpediter(?::| skip| pause)`, example: "expediter SKIP: WebFetch is open"},
})

func compileForms(forms []reportForm) []reportForm {
	for i := range forms {
		forms[i].re = regexp.MustCompile(forms[i].pattern)
	}
	return forms
}

// isReport: the form of an unmarked result is that of an error report.
func isReport(text string) bool {
	start := strings.TrimLeft(head(text, 2*reportHead), " \t\r\n")
	if strings.HasPrefix(start, "{") {
		return len(text) <= maxPayload && reportsError(object(json.RawMessage(text)))
	}
	folded := fold(clean(head(start, reportHead)))
	for i := range reportForms {
		if reportForms[i].re.MatchString(folded) {
			return true
		}
	}
	return false
}

// reportsError: the top level of a JSON object says that it is an error.
func reportsError(f fields) bool {
	return !absent(f["error"]) || f.says("isError", true) || f.says("is_error", true) ||
		f.says("success", false) || f.says("ok", false) || f.text("status") == "error"
}
