package hook

import (
	"encoding/json"
	"strings"

	"github.com/expediter-go/expediter/cascade/classify"
	"github.com/expediter-go/expediter/internal/operator"
	"github.com/expediter-go/expediter/internal/session"
)

// Call is one tool call.
type Call struct {
	// ID is the agent's. It is the same before and after the call. Empty: the
	// agent gives none, and calls are paired by their order.
	ID string

	// Observation has Agent, Protocol, Tool, Server and Input at every event, so
	// that classify.Key names the same breaker before and after the call; after
	// it also Payload, Result, Failed and the like, for classify.Observe.
	Observation classify.Observation

	Shell string         // what a shell is to run, as far as the arguments tell; empty for other tools
	Todos *session.Todos // the to-do list that the call writes, before it what it is going to write; nil: none
}

// newCall is a call before it runs, and its arguments read as an object.
func newCall(agent classify.AgentName, id, tool, server string, input json.RawMessage) (Call, fields) {
	in := object(input)
	return Call{
		ID:          id,
		Observation: classify.Observation{Protocol: classify.Agent, Agent: agent, Tool: tool, Server: server, Input: input},
		Shell:       shellText(tool, in),
	}, in
}

// failed makes a call one that failed with this text: nothing was written.
func (c *Call) failed(text string) {
	c.Observation.Failed, c.Observation.Result, c.Todos = true, text, nil
}

// shellFields are the names under which tools are given what a shell is to run:
// those of the agents (chars is Codex's for a shell that runs already), and of
// servers that offer a shell.
var shellFields = [...]string{"command", "cmd", "script", "command_line", "commandLine", "CommandLine", "chars"}

// shellText is what a shell is to run. Any tool may be one that gives it to a
// shell, so the arguments decide and not the tool's name. A patch is none.
func shellText(tool string, in fields) string {
	if tool == "apply_patch" {
		return ""
	}
	var texts []string
	if str(in.object("env")[operator.Variable]) != "" {
		texts = append(texts, operator.Variable+"=1")
	}
	for _, name := range shellFields {
		text := str(in[name])
		if name == "chars" { // keys: of a line editor's own the shell sees nothing
			text = strip(text, "\r\n\t")
		}
		if text != "" {
			if words := argv(in["args"]); name == "command" && words != "" {
				text += " " + words
			}
			texts = append(texts, text)
		} else if words := argv(in[name]); words != "" {
			texts = append(texts, words)
		}
	}
	return strings.Join(append(texts, severalTexts(in["commands"])...), "\n")
}

// severalTexts are those of Cline's run_commands: one command or a list, each a
// text or {command, args}.
func severalTexts(raw json.RawMessage) []string {
	items := list(raw)
	if items == nil && len(raw) > 0 {
		items = []json.RawMessage{raw}
	}
	var texts []string
	for _, item := range items {
		text := str(item)
		if of := object(item); of != nil {
			text = strings.TrimSpace(of.text("command") + " " + argv(of["args"]))
		}
		if text != "" {
			texts = append(texts, text)
		}
	}
	return texts
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

// blocks is the text of a list of content blocks, at most 16 of them.
func blocks(raw json.RawMessage) string {
	items := list(raw)
	var texts []string
	for _, item := range items[:min(len(items), 16)] {
		if text := object(item).text("text"); text != "" {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n")
}

// wrapped is a JSON object of the fields that are there; nil if none is.
func (f fields) wrapped(names ...string) json.RawMessage {
	part := fields{}
	for _, name := range names {
		if raw := f.raw(name); raw != nil {
			part[name] = raw
		}
	}
	if len(part) == 0 {
		return nil
	}
	data, err := json.Marshal(part)
	if err != nil {
		return nil
	}
	return data
}
