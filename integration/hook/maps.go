package hook

import (
	"embed"
	"strings"

	"github.com/expediter-go/expediter/cascade/classify"
)

// mapFiles holds a capability map for each of Agents, AGENT.yaml, with the names of
// its built-in tools as its hooks give them.
//
//go:embed *.yaml
var mapFiles embed.FS

// DefaultMap returns the capability map of an agent's built-in tools that ships
// with expediter: a map file that capability.Read takes without errors or
// warnings, with the policy interactive in its section `expediter`. name is what
// messages about it should call the file. ok is false for an agent without one.
// The bytes are the caller's own.
func DefaultMap(agent classify.AgentName) (name string, data []byte, ok bool) {
	if strings.ContainsAny(string(agent), `/\`) {
		return "", nil, false
	}
	data, err := mapFiles.ReadFile(string(agent) + ".yaml")
	if err != nil {
		return "", nil, false
	}
	return "built-in " + string(agent) + ".yaml", data, true
}
