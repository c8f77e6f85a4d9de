package classify

import "github.com/expediter-go/expediter/cascade"

// ownFault are the categories of what one tool or service does: two tools with
// the same words ("503 service unavailable", "deadline exceeded") need not have
// one cause, and the engine takes equal signatures for that (SPEC section 7).
var ownFault = map[cascade.Category]bool{
	cascade.Auth: true, cascade.RateLimit: true, cascade.Timeout: true, cascade.Upstream: true,
}

// scope is whose fault such a failure is: the server's, or else the tool's.
func (e *evidence) scope(key string) string {
	if server, _ := e.served(); server != "" {
		return server
	}
	return key
}

// scoped is a signature that stands behind its scope where the words alone do
// not tell one cause from another.
func scoped(c cascade.Category, scope, signature string) string {
	if !ownFault[c] || scope == "" || signature == "" {
		return signature
	}
	return head(scope+": "+signature, MaxSignature)
}
