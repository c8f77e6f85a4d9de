package classify

import (
	"slices"
	"strings"
	"sync"

	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/internal/pattern"
)

// textRule is one row of the tables of texts. All conditions that it has must
// hold for the folded text: it contains lit, the pattern matches, and it names
// one of the HTTP statuses. A pattern costs a compilation: where lit is a word
// of many texts, also keeps those away that cannot match.
type textRule struct {
	class   class
	lit     string   // lower case; also what makes a text worth the pattern
	also    []string // likewise: every match has one of them; none: no matter
	pattern string   // RE2 on the folded text, line by line
	example string   // a real text for which this row decides
	status  []int
}

// readyText is a textRule ready for use.
type readyText struct {
	*textRule
	re     *pattern.Pattern // nil: lit is enough
	pieces pieces           // of lit
}

// textRules is the order in which texts are judged; the first row that holds
// decides. Machine-wide causes come before those of a service, and what the
// agent did wrong comes last, because its words are the most common ones. It is
// made when the first failure asks for it: most processes see none.
var textRules = sync.OnceValue(func() []readyText {
	return readyTexts(
		firstTexts, stoppedTexts, filesystemTexts, rateLimitTexts, authTexts, toolMissingTexts, resourceTexts,
		lateTexts, networkTexts, answeredTexts, timeoutTexts, connectTexts, permissionTexts, upstreamTexts, lateNetworkTexts, codeTexts, invalidTexts,
	)
})

func readyTexts(tables ...[]textRule) (all []readyText) {
	for _, rules := range tables {
		for i := range rules {
			r := readyText{textRule: &rules[i], pieces: piecesOf(rules[i].lit)}
			if r.pattern != "" {
				r.re = pattern.New(`(?m)` + r.pattern)
			}
			all = append(all, r)
		}
	}
	return all
}

func (r *textRule) name() string {
	switch {
	case r.status != nil:
		return "text:http"
	case r.pattern != "":
		return "text:" + r.pattern
	}
	return "text:" + r.lit
}

func (r *readyText) holds(folded string, statuses []int) bool {
	if !strings.Contains(folded, r.lit) || len(r.also) > 0 && !containsAny(folded, r.also) || r.re != nil && !r.re.RE().MatchString(folded) {
		return false
	}
	return r.status == nil || slices.ContainsFunc(statuses, func(s int) bool { return slices.Contains(r.status, s) })
}

func containsAny(s string, literals []string) bool {
	return slices.ContainsFunc(literals, func(l string) bool { return strings.Contains(s, l) })
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
	rules := textRules()
	for i := range rules {
		r := &rules[i]
		if r.pieces.in(&seen) && (only == nil || slices.Contains(only, r.class)) && r.holds(folded, statuses) {
			return r.class, r.name(), true
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
