package classify

import (
	"slices"
	"strings"

	"github.com/expediter-go/expediter/internal/pattern"
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

// grpcForms are how Go, Python, Java, C#, Rust and Node write a status. They are
// searched with the text's own letters: in lower case the names are common
// words. lit is what makes a text worth the pattern.
var grpcForms = [...]struct {
	lit     string
	pattern *pattern.Pattern
}{
	{"rpc error: code = ", pattern.New(`\brpc error: code = (\w+) desc\b`)},
	{"StatusCode.", pattern.New(`\bStatusCode\.([A-Z_]+)\b`)},
	{"StatusRuntimeException: ", pattern.New(`\bStatusRuntimeException: ([A-Z_]+)\b`)},
	{`StatusCode="`, pattern.New(`\bStatusCode="(\w+)"`)},
	{", message: ", pattern.New(`\bstatus: (\w+), message: `)},
	{nodeStatus, pattern.New(`\A(?:\w*Error: )?\d{1,2} ([A-Z_]{5,}): `)},
}

// nodeStatus is in all of Node's statuses, and in most other texts.
const nodeStatus = ": "

// isNodeStatus reports whether a text begins with a number, or with a number
// behind the name of an error, as a status of Node's does.
func isNodeStatus(text string) bool {
	_, rest, _ := strings.Cut(text, "Error: ")
	return text != "" && isDigit(text[0]) || rest != "" && isDigit(rest[0])
}

// grpcRule is the row for the status, given or told by the text.
func (e *evidence) grpcRule() (grpcRule, bool) {
	if 0 < e.GRPCCode && e.GRPCCode <= len(grpcRules) {
		return grpcRules[e.GRPCCode-1], true
	}
	for _, form := range grpcForms {
		if form.lit == nodeStatus && !isNodeStatus(e.text) || !strings.Contains(e.text, form.lit) {
			continue
		}
		if m := form.pattern.RE().FindStringSubmatch(e.text); m != nil {
			return grpcNamed(m[1])
		}
	}
	return grpcRule{}, false
}

// grpcNamed is the row for a status as any language spells it.
func grpcNamed(name string) (grpcRule, bool) {
	name = strings.ToLower(strings.ReplaceAll(name, "_", ""))
	if name == "cancelled" {
		name = "canceled"
	}
	i := slices.IndexFunc(grpcRules, func(r grpcRule) bool { return r.name == name })
	if i < 0 {
		return grpcRule{}, false
	}
	return grpcRules[i], true
}
