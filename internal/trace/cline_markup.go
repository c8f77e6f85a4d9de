package trace

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/expediter-go/expediter/cascade/classify"
)

// clineMarkup reads calls from the text of older tasks. The model writes
//
//	<execute_command>
//	<command>ls</command>
//	</execute_command>
//
// and the next message of the user's has "[execute_command for 'ls'] Result:"
// with the result after it, in the same block of text or in the next.
type clineMarkup struct {
	number  int // of calls so far, to give them ids
	pending []clinePending
	asked   string // the id of the call whose result is the next block
}

type clinePending struct{ id, tool string }

// clineTools are the tools that the model may call in its text.
var clineTools = map[string]bool{
	"execute_command": true, "read_file": true, "write_to_file": true, "replace_in_file": true, "apply_diff": true,
	"insert_content": true, "search_and_replace": true, "search_files": true, "list_files": true,
	"list_code_definition_names": true, "codebase_search": true, "browser_action": true, "web_fetch": true,
	"use_mcp_tool": true, "access_mcp_resource": true, "load_mcp_documentation": true, "fetch_instructions": true,
	"ask_followup_question": true, "attempt_completion": true, "plan_mode_respond": true, "new_task": true,
	"switch_mode": true, "update_todo_list": true, "run_slash_command": true, "generate_image": true,
	"new_rule": true, "report_bug": true, "condense": true, "summarize_task": true,
}

// calls are those that a text of the model's asks for.
func (c *clineMarkup) calls(text string) []issued {
	var found []issued
	for {
		tool, body, rest, ok := nextTag(text, func(name string) bool { return clineTools[name] })
		if !ok {
			return found
		}
		text = rest
		c.number++
		p := clinePending{id: "markup-" + strconv.Itoa(c.number), tool: tool}
		c.pending = append(c.pending, p)
		found = append(found, markupCall(p, body))
	}
}

func markupCall(p clinePending, body string) issued {
	c := issued{id: p.id, tool: p.tool, agent: classify.Cline, protocol: classify.Agent}
	args := map[string]string{}
	for {
		name, value, rest, ok := nextTag(body, func(string) bool { return true })
		if !ok {
			break
		}
		args[name], body = strings.TrimSpace(value), rest
	}
	c.input, _ = json.Marshal(args)
	return c.direct()
}

// direct makes a call of use_mcp_tool one of the tool behind it.
func (c issued) direct() issued {
	var in struct {
		Server    string          `json:"server_name"`
		Tool      string          `json:"tool_name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	if c.tool == "use_mcp_tool" && json.Unmarshal(c.input, &in) == nil && in.Tool != "" {
		c.tool, c.server, c.input = in.Tool, in.Server, unquoted(in.Arguments)
	}
	return c
}

// nextTag finds the first element whose name is wanted. Without its end it
// reaches to the end of the text.
func nextTag(text string, wanted func(string) bool) (name, body, rest string, ok bool) {
	for {
		i := strings.IndexByte(text, '<')
		if i < 0 {
			return "", "", "", false
		}
		text = text[i+1:]
		end := strings.IndexFunc(text, func(r rune) bool { return r != '_' && (r < 'a' || r > 'z') && (r < '0' || r > '9') })
		if end <= 0 || text[end] != '>' || !wanted(text[:end]) {
			continue
		}
		name, text = text[:end], text[end+1:]
		body, rest, _ = strings.Cut(text, "</"+name+">")
		return name, body, rest, true
	}
}

// result reads one block of the user's message. It reports whether the block
// is the result of a call that waits.
func (c *clineMarkup) result(text string) (resulted, bool) {
	if id := c.asked; id != "" {
		c.asked = ""
		return resulted{id: id, how: Flagged, obs: classify.Observation{Result: text}}, true
	}
	if name, ok := notExecuted(text); ok {
		id := c.take(name)
		return resulted{id: id, how: Flagged, obs: classify.Observation{Result: text, Failed: true}}, id != ""
	}
	name, ok := strings.CutPrefix(text, "[")
	end := strings.IndexAny(name, " ]")
	i := strings.Index(text, "] Result:")
	if !ok || end < 0 || i < 0 {
		return resulted{}, false
	}
	id := c.take(name[:end])
	body := strings.TrimLeft(text[i+len("] Result:"):], "\n")
	if strings.TrimSpace(body) == "" {
		c.asked = id
		return resulted{}, false
	}
	return resulted{id: id, how: Flagged, obs: classify.Observation{Result: body}}, id != ""
}

// notExecuted is the tool of a call that Cline left alone, because it takes
// one call a message.
func notExecuted(text string) (string, bool) {
	rest, ok := strings.CutPrefix(text, "Tool [")
	name, after, closed := strings.Cut(rest, "]")
	return name, ok && closed && strings.HasPrefix(after, " was not executed")
}

// take is the id of the first call of a tool that waits; empty if none does.
func (c *clineMarkup) take(tool string) string {
	for i, p := range c.pending {
		if p.tool == tool {
			c.pending = append(c.pending[:i], c.pending[i+1:]...)
			return p.id
		}
	}
	return ""
}
