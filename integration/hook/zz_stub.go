package hook

import "github.com/expediter-go/expediter/cascade/classify"

// DefaultMap stands until the built-in maps land: whoever lands them deletes
// this file.
func DefaultMap(classify.AgentName) (string, []byte, bool) { return "", nil, false }
