package classify

import "strings"

// served is the MCP server or agent peer that offers the tool, and the tool's
// name there; empty where there is none.
func (o Observation) served() (server, tool string) {
	switch {
	case o.Server != "" && o.Protocol == A2A && o.Tool == o.Server:
		server = o.Server
	case o.Server != "" && (o.Protocol == MCP || o.Protocol == A2A):
		server, tool = o.Server, o.Tool
	case strings.HasPrefix(o.Tool, "mcp__"): // Claude Code, Codex
		server, tool, _ = strings.Cut(o.Tool[len("mcp__"):], "__")
	case strings.HasPrefix(o.Tool, "mcp--"): // Roo Code
		server, tool, _ = strings.Cut(o.Tool[len("mcp--"):], "--")
	case strings.HasPrefix(o.Tool, "@"): // Amazon Q
		server, tool, _ = strings.Cut(o.Tool[1:], "/")
	case brokers[o.Tool]:
		if server, tool = o.brokered(); server == "" {
			server = o.Server
		}
	case o.Server != "":
		server, tool = o.Server, withoutServer(o.Tool, o.Server)
	}
	server, tool = part(server, maxServer), part(tool, maxServer)
	if server == "" || tool == "" && o.Server == "" {
		return "", ""
	}
	return server, tool
}

func (o Observation) isServed() bool {
	server, _ := o.served()
	return server != ""
}

// withoutServer takes the prefix off that agents put before a server's tool.
func withoutServer(tool, server string) string {
	if rest, ok := strings.CutPrefix(tool, "MCP:"); ok { // Cursor
		return rest
	}
	plain := strings.Map(plainServer, server)
	for _, s := range [...]string{server, plain, strings.ReplaceAll(plain, "-", "_")} {
		for _, prefix := range [...]string{"mcp_" + s + "_", s + "__", s + "_", s + "-", s + "/"} { // Gemini, OpenCode, Copilot
			if rest, ok := strings.CutPrefix(tool, prefix); ok && rest != "" {
				return strings.TrimPrefix(rest, "_")
			}
		}
	}
	return tool
}

// plainServer is what agents make of a server's name inside a tool's.
func plainServer(r rune) rune {
	if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' {
		return r
	}
	return '_'
}

// brokers are tools that pass a call on to the MCP server that their arguments
// name: Windsurf's, Cline's, and those that read a server's resources.
var brokers = map[string]bool{
	"mcp_tool_use": true, "use_mcp_tool": true, "access_mcp_resource": true,
	"ReadMcpResourceTool": true, "read_mcp_resource": true,
}

func (o Observation) brokered() (server, tool string) {
	in := object(o.Input)
	server = in.text("mcp_server_name", "server_name", "serverName", "server")
	tool = in.text("mcp_tool_name", "tool_name", "toolName")
	if tool == "" {
		tool = o.Tool
	}
	return server, tool
}
