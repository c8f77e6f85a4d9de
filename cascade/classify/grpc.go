package classify

import (
	"regexp"
	"slices"
	"strings"
)

// grpcRule is one row of the table of gRPC statuses. A weak status lets the
// text decide first.
type grpcRule struct {
	name  string
	class class
	weak  bool
}

// grpcRules are in the order of the status codes, from 1 on.
var grpcRules = []grpcRule{
	{"canceled", cancelled, false},
	{"unknown", upstream, true},
	{"invalidargument", invalidInput, false},
	{"deadlineexceeded", timeout, false},
	{"notfound", invalidInput, false},
	{"alreadyexists", invalidInput, false},
	{"permissiondenied", permission, false},
	{"resourceexhausted", rateLimit, true},
	{"failedprecondition", invalidInput, true},
	{"aborted", none, true},
	{"outofrange", invalidInput, false},
	{"unimplemented", toolMissing, false},
	{"internal", upstream, true},
	{"unavailable", network, true},
	{"dataloss", upstream, true},
	{"unauthenticated", auth, false},
}

// grpcStatus finds a status in the forms of Go, Python, Java, C#, Rust and
// Node. It is searched with the text's own letters: in lower case the names are
// common words.
var grpcStatus = regexp.MustCompile(`\brpc error: code = (\w+) desc\b|\bStatusCode\.([A-Z_]+)\b|\bStatusRuntimeException: ([A-Z_]+)\b|\bStatusCode="(\w+)"|\bstatus: (\w+), message: |\b\d{1,2} ([A-Z_]{5,}): `)

// grpcRule is the row for the status, given or told by the text.
func (e *evidence) grpcRule() (grpcRule, bool) {
	if 0 < e.GRPCCode && e.GRPCCode <= len(grpcRules) {
		return grpcRules[e.GRPCCode-1], true
	}
	if !strings.Contains(e.folded, "status") && !strings.Contains(e.folded, "rpc error: ") && !hasDigit(head(e.text, 64)) {
		return grpcRule{}, false
	}
	m := grpcStatus.FindStringSubmatch(e.text)
	if m == nil {
		return grpcRule{}, false
	}
	name := strings.ToLower(strings.ReplaceAll(strings.Join(m[1:], ""), "_", ""))
	if name == "cancelled" {
		name = "canceled"
	}
	i := slices.IndexFunc(grpcRules, func(r grpcRule) bool { return r.name == name })
	if i < 0 {
		return grpcRule{}, false
	}
	return grpcRules[i], true
}

func hasDigit(s string) bool { return strings.ContainsAny(s, "0123456789") }
