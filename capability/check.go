package capability

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/expediter-go/expediter/capability/document"
)

// MaxNameBytes bounds the name of a tool.
const MaxNameBytes = 256

// Validate reports everything that an engine cannot work with, one joined
// error each, led by its path: `Tools[2].Alternatives[0]: …`. It asks less than
// Read does of a file: a fallback may be missing. The policies of entries are
// left to whoever knows the engine's own.
func (m Map) Validate() error {
	var errs []error
	m.check(func(at place, what, do string) {
		errs = append(errs, fmt.Errorf("%s: %s; %s", at, what, do))
	})
	return errors.Join(errs...)
}

// place is a part of a map. A list that holds no part has the index -1.
type place struct {
	entry, alternative, rule int
	key                      string // as in files
}

var goNames = map[string]string{
	"tool": "Tool", "freshness": "Freshness", "side_effects": "SideEffects", "initial": "Initial", "level": "Level",
	"provides": "Provides", "fallback": "Fallback", "known_issues": "KnownIssues", "shares": "Shares",
	"method": "Method", "degradation": "Degradation",
	"match": "Match", "exit_code": "ExitCode", "outcome": "Outcome", "category": "Category",
}

// String is the path in a Go literal.
func (p place) String() string {
	path := fmt.Sprintf("Tools[%d]", p.entry)
	if p.alternative >= 0 {
		path += fmt.Sprintf(".Alternatives[%d]", p.alternative)
	}
	if p.rule >= 0 {
		path += fmt.Sprintf(".Classify[%d]", p.rule)
	}
	if p.key != "" {
		path += "." + goNames[p.key]
	}
	return path
}

func (p place) at(key string) place {
	p.key = key
	return p
}

type reporter func(at place, what, do string)

func (m Map) check(report reporter) {
	first := map[string]int{}
	for i, e := range m {
		at := place{entry: i, alternative: -1, rule: -1}
		checkName(at, e.Tool, report)
		if j, ok := first[e.Tool]; ok && e.Tool != "" {
			report(at.at("tool"), fmt.Sprintf("tool %s has an entry already, number %d of the map", document.Quote(e.Tool), j+1), "merge the two")
		} else {
			first[e.Tool] = i
		}
		checkWords(at, e, report)
		checkAlternatives(at, e, report)
		for j, rule := range e.Classify {
			at := at
			at.rule = j
			rule.check(at, report)
		}
	}
}

func checkName(at place, name string, report reporter) {
	at = at.at("tool")
	switch {
	case name == "":
		report(at, "the tool's name is missing", "add `tool:` with the name that the agent calls")
	case len(name) > MaxNameBytes:
		report(at, fmt.Sprintf("the tool's name is %d bytes long", len(name)), fmt.Sprintf("at most %d are allowed, shorten it", MaxNameBytes))
	case !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }):
		report(at, "the tool's name "+document.Quote(name)+" holds control characters or invalid UTF-8", "remove them")
	}
}

// checkWords looks at the words with a fixed choice, which only a Go literal
// can get wrong, and at texts that no file could hold.
func checkWords(at place, e Entry, report reporter) {
	if e.Freshness > FreshnessUnknown {
		report(at.at("freshness"), "unknown "+e.Freshness.String(), "use Live, Caches or FreshnessUnknown")
	}
	if e.SideEffects > Destructive {
		report(at.at("side_effects"), "unknown "+e.SideEffects.String(), "use EffectsNone, Idempotent or Destructive")
	}
	if e.Initial > Unavailable {
		report(at.at("initial"), "unknown "+e.Initial.String(), "use Available, Degraded or Unavailable")
	}
	texts := []struct{ key, text string }{{"provides", e.Provides}, {"fallback", e.Fallback}, {"known_issues", e.KnownIssues}, {"shares", strings.Join(e.Shares, " ")}}
	for _, t := range texts {
		checkText(at.at(t.key), t.text, report)
	}
	if slices.Contains(e.Shares, "") {
		report(at.at("shares"), "an empty name among the shared things", "name the thing or remove it")
	}
}

func checkText(at place, text string, report reporter) {
	if !utf8.ValidString(text) {
		report(at, "the text is no valid UTF-8", "convert it to UTF-8")
	}
}

func checkAlternatives(at place, e Entry, report reporter) {
	first := map[string]int{}
	for i, a := range e.Alternatives {
		at := at
		at.alternative = i
		checkName(at, a.Tool, report)
		if a.Level > Unknown {
			report(at.at("level"), "unknown "+a.Level.String(), "use Low, High or Unknown")
		}
		checkText(at.at("method"), a.Method, report)
		checkText(at.at("degradation"), a.Degradation, report)
		if a.Tool == "" {
			continue
		}
		if a.Tool == e.Tool {
			report(at.at("tool"), fmt.Sprintf("tool %s is its own alternative", document.Quote(e.Tool)), "name another tool or remove this alternative")
		}
		if j, ok := first[a.Tool]; ok {
			report(at.at("tool"), fmt.Sprintf("alternative %s is there already, as number %d", document.Quote(a.Tool), j+1), "keep one of the two")
			continue
		}
		first[a.Tool] = i
	}
}

var (
	outcomes   = []string{"success", "failure", "ignored"}
	categories = []string{"unknown", "network", "timeout", "rate_limit", "auth", "permission", "filesystem", "resource", "upstream", "tool_missing"}
)

// maxPattern bounds a rule's pattern, in bytes, as cascade/classify does.
const maxPattern = 1024

func (r ClassifyRule) check(at place, report reporter) {
	switch {
	case r.Match == "" && r.ExitCode == nil:
		report(at, "the rule looks at nothing", "give it match or exit_code")
	case r.Match != "" && r.ExitCode != nil:
		report(at, "the rule has both match and exit_code", "make two rules of it")
	}
	if len(r.Match) > maxPattern {
		report(at.at("match"), fmt.Sprintf("the pattern is longer than %d bytes", maxPattern), "make several rules of it")
	} else if _, err := regexp.Compile(r.Match); err != nil {
		report(at.at("match"), strings.ReplaceAll(err.Error(), ";", ","), "write an RE2 pattern")
	}
	switch {
	case r.ExitCode == nil:
	case *r.ExitCode == 0:
		report(at.at("exit_code"), "0 is a success already", "give 1 to 255")
	case *r.ExitCode < 0 || *r.ExitCode > 255:
		report(at.at("exit_code"), fmt.Sprintf("no program exits with %d", *r.ExitCode), "give 1 to 255")
	}
	if r.Outcome != "" && !slices.Contains(outcomes, r.Outcome) {
		report(at.at("outcome"), "unknown outcome "+document.Quote(r.Outcome), "use "+strings.Join(outcomes, ", "))
	}
	switch {
	case r.Category == "":
	case !slices.Contains(categories, r.Category):
		report(at.at("category"), "unknown category "+document.Quote(r.Category), "use one of "+strings.Join(categories, ", "))
	case r.Outcome != "" && r.Outcome != "failure":
		report(at.at("category"), "a category goes with a failure, not with "+document.Quote(r.Outcome), "remove the category or the outcome")
	}
}
