package classify

import "github.com/expediter-go/expediter/cascade"

// Outage is the category of the loss of a whole server, by what its connection
// came to last, or by nothing if that is not known. A local server is a process
// of this machine: no network is between, so what failed is the service itself.
func Outage(o Observation, local bool) cascade.Category {
	c := Observe(o).Category
	switch {
	case local && (c == cascade.Network || c == cascade.Unknown):
		return cascade.Upstream
	case c == cascade.Unknown:
		return cascade.Network
	}
	return c
}
