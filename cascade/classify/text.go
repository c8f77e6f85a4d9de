package classify

import (
	"regexp"
	"slices"
	"strings"

	"github.com/expediter-go/expediter/cascade"
)

// textRule is one row of the tables of texts. All three conditions that it has
// must hold for the folded text: it contains lit, the pattern matches, and it
// names one of the HTTP statuses.
type textRule struct {
	class   class
	lit     string // lower case; also what makes a text worth the pattern
	pattern string // RE2 on the folded text, line by line
	example string // a real text for which this row decides
	status  []int
}

// compiled is a textRule ready for use.
type compiled struct {
	textRule
	re     *regexp.Regexp // nil: lit is enough
	pieces pieces         // of lit
	name   string
}

// textRules is the order in which texts are judged; the first row that holds
// decides. Machine-wide causes come before those of a service, and what the
// agent did wrong comes last, because its words are the most common ones.
var textRules = compileTexts(slices.Concat(
	firstTexts, stoppedTexts, filesystemTexts, rateLimitTexts, authTexts, toolMissingTexts, resourceTexts,
	lateTexts, networkTexts, answeredTexts, timeoutTexts, connectTexts, permissionTexts, upstreamTexts, lateNetworkTexts, codeTexts, invalidTexts,
))

func compileTexts(rules []textRule) []compiled {
	all := make([]compiled, len(rules))
	for i, r := range rules {
		all[i] = compiled{textRule: r, pieces: piecesOf(r.lit), name: "text:" + r.lit}
		if r.pattern != "" {
			all[i].re = regexp.MustCompile(`(?m)` + r.pattern)
			all[i].name = "text:" + r.pattern
		}
		if r.status != nil {
			all[i].name = "text:http"
		}
	}
	return all
}

func (r *compiled) holds(folded string, statuses []int) bool {
	if !strings.Contains(folded, r.lit) || r.re != nil && !r.re.MatchString(folded) {
		return false
	}
	return r.status == nil || slices.ContainsFunc(statuses, func(s int) bool { return slices.Contains(r.status, s) })
}

// match is the first row that holds for a folded text, of the classes given
// (nil: any).
func match(folded string, only []class) (class, string, bool) {
	if folded == "" || only != nil && len(only) == 0 {
		return 0, "", false
	}
	var seen trigrams
	seen.addAll(folded)
	statuses := httpStatuses(folded)
	for i := range textRules {
		r := &textRules[i]
		if r.pieces.in(&seen) && (only == nil || slices.Contains(only, r.class)) && r.holds(folded, statuses) {
			return r.class, r.name, true
		}
	}
	return 0, "", false
}

// byText asks the tables of texts. What a run of the agent's own code says
// about services is about that code; only what ails the machine counts.
func (e *evidence) byText() (class, string, bool) {
	c, rule, ok := match(e.folded, nil)
	if ok && e.cmd.runsOwnCode() && c.outcome() == cascade.Failed && c != filesystem && c != resource && !e.programMissing() {
		return invalidInput, "own-code", true
	}
	return c, rule, ok
}

// programMissing: a shell says that it does not find the very program that was
// to run the agent's code.
func (e *evidence) programMissing() bool {
	program := strings.ToLower(e.cmd.program)
	return strings.Contains(e.folded, "command not found: "+program) ||
		strings.Contains(e.folded, program+": command not found") || strings.Contains(e.folded, program+": not found")
}
