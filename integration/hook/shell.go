package hook

import (
	"encoding/json"
	"strings"
)

// shellFields are the names under which tools are given what a shell is to run:
// Claude Code, Codex (cmd; chars for a shell that runs), Windsurf, Copilot and
// the servers that offer a shell.
var shellFields = [...]string{"command", "cmd", "script", "command_line", "commandLine", "CommandLine", "chars"}

// shellText is what a shell is to run: any tool may be one that gives it to a
// shell, so the arguments decide and not the tool's name. A patch is none.
func shellText(tool string, input json.RawMessage) string {
	if tool == "apply_patch" || len(input) == 0 {
		return ""
	}
	in := object(input)
	var texts []string
	for _, name := range shellFields {
		if text := str(in[name]); text != "" {
			texts = append(texts, text)
		} else if words := argv(in[name]); words != "" {
			texts = append(texts, words)
		}
	}
	return strings.Join(texts, "\n")
}

// argv is a list of words as a shell reads them.
func argv(raw json.RawMessage) string {
	var words []string
	if len(raw) == 0 || raw[0] != '[' || json.Unmarshal(raw, &words) != nil {
		return ""
	}
	for i, word := range words {
		words[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return strings.Join(words, " ")
}
