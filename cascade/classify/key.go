package classify

import "strings"

// Bounds of a key and its parts, in bytes.
const (
	maxTool    = 200
	maxProgram = 64
	maxServer  = 128
)

// Key names the breaker of a call (SPEC section 1): the tool; TOOL/PROGRAM for
// a shell's first real program; TOOL/HOST for a fetch; SERVER/TOOL for a tool
// of an MCP server, PEER/SKILL for an agent peer. It reads only what is known
// before the call: Protocol, Server, Tool, Input, Argv and Shell. It is at most
// 265 bytes of valid UTF-8 without control characters; empty when neither tool
// nor program is known.
func Key(o Observation) string { return keyOf(o, o.command()) }

func keyOf(o Observation, c command) string {
	if server, tool := o.served(); server != "" {
		return strings.TrimSuffix(server+"/"+tool, "/")
	}
	tool := toolName(o.Tool)
	switch {
	case tool == "":
		return c.program
	case c.program != "" && isShellTool(tool):
		return tool + "/" + c.program
	}
	if host := o.host(); host != "" {
		return tool + "/" + host
	}
	return tool
}

// toolName is the tool's name on one line. Slashes stay: they make a path of
// the map.
func toolName(tool string) string {
	tool = clean(head(tool, maxTool))
	if strings.ContainsAny(tool, "\n\t") {
		tool = strings.NewReplacer("\n", " ", "\t", " ").Replace(tool)
	}
	return strings.TrimSpace(head(tool, maxTool))
}

// part is a name as one element of a key: without slashes.
func part(name string, limit int) string {
	name = strings.ReplaceAll(toolName(name), "/", "_")
	return strings.TrimSpace(head(name, limit))
}

func lastElement(tool string) string { return tool[strings.LastIndexByte(tool, '/')+1:] }
