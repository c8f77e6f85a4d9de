package classify

import "github.com/expediter-go/expediter/cascade"

// givenClasses are the words of Observation.Class: those of Verdict.Class, and
// those of recordings that kept a class instead of the text.
var givenClasses = map[string]class{
	"test_build": invalidInput, // tests or a build that failed
	"usage":      invalidInput, // wrong arguments
	"no_file":    invalidInput, // no such file
	"nonzero":    invalidInput, // a non-zero exit without a known reason
	"denied":     userDenied,
	"no_command": toolMissing,

	"ok":            worked,
	"invalid_input": invalidInput,
	"cancelled":     cancelled,
	"user_denied":   userDenied,
	"config":        config,
	"none":          none,
	"network":       network,
	"timeout":       timeout,
	"rate_limit":    rateLimit,
	"auth":          auth,
	"permission":    permission,
	"filesystem":    filesystem,
	"resource":      resource,
	"upstream":      upstream,
	"tool_missing":  toolMissing,
	"unknown":       unknown,
}

// byGivenClass takes an earlier judgement over. One that found a failure may
// have found its words anywhere in a long output: what the text at hand says
// comes first, and where that says nothing, a local program has answered.
func (e *evidence) byGivenClass() (class, string, bool) {
	c, ok := givenClasses[e.Class]
	if !ok {
		return 0, "", false
	}
	rule := "class:" + e.Class
	if c.outcome() != cascade.Failed {
		return c, rule, true
	}
	if said, by, ok := e.byText(); ok && said.outcome() != cascade.Succeeded {
		return said, by, true
	}
	local := isShellTool(e.Tool) && e.cmd.program != "" && !e.cmd.remote()
	if local && c != filesystem && c != resource && c != unknown {
		return invalidInput, "own-code", true
	}
	return c, rule, true
}
