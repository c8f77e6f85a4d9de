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

// grpcForms are how Go, Python, Java, C#, Rust and Node write a status. They are
// searched with the text's own letters: in lower case the names are common
// words. lit is what makes a text worth the pattern.
var grpcForms = [...]struct {
	lit     string
	pattern *regexp.Regexp
}{
	{"rpc error: code = ", regexp.MustCompile(`\brpc error: code = (\w+) desc\b`)},
	{"StatusCode.", regexp.MustCompile(`\bStatusCode\.([A-Z_]+)\b`)},
	{"StatusRuntimeException: ", regexp.MustCompile(`\bStatusRuntimeException: ([A-Z_]+)\b`)},
	{`StatusCode="`, regexp.MustCompile(`\bStatusCode="(\w+)"`)},
	{", message: ", regexp.MustCompile(`\bstatus: (\w+), message: `)},
	{": ", regexp.MustCompile(`\A(?:\w*Error: )?\d{1,2} ([A-Z_]{5,}): `)},
}

// grpcRule is the row for the status, given or told by the text.
func (e *evidence) grpcRule() (grpcRule, bool) {
	if 0 < e.GRPCCode && e.GRPCCode <= len(grpcRules) {
		return grpcRules[e.GRPCCode-1], true
	}
	for _, form := range grpcForms {
		if !strings.Contains(e.text, form.lit) {
			continue
		}
		if m := form.pattern.FindStringSubmatch(e.text); m != nil {
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
