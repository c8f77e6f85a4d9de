package classify

import (
	"maps"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"
)

// TestLiteralsKeepNoMatchAway proves that what spares a pattern's compilation
// never decides otherwise than the pattern.
func TestLiteralsKeepNoMatchAway(t *testing.T) {
	for _, r := range textRules() {
		if len(r.also) > 0 && !mustContain(t, `(?m)`+r.pattern, r.also) {
			t.Errorf("%s matches texts without any of %q", r.name(), r.also)
		}
	}
	for _, f := range reportForms {
		if len(f.starts) > 0 && !mustBegin(t, f.form.String(), f.starts) {
			t.Errorf("%s matches texts that begin with none of %q", f.form, f.starts)
		}
	}
	if !mustContain(t, retryText.String(), retryWords) {
		t.Errorf("%s matches texts without any of %q", retryText, retryWords)
	}
}

func TestTheProofFindsHoles(t *testing.T) {
	tests := []struct {
		expr, literal string
		want          bool
	}{
		{`ab+c`, "b", true},
		{`ab*c`, "b", false},
		{`(?:ab|cab)d`, "ab", true},
		{`(?:ab|cb)d`, "ab", false},
		{`a[ -_]?b`, "ab", false},
		{`x\S+ (?:yes|yep)`, " ye", true},
		{`x\S+(?: yes| no)?`, " yes", false},
		{`\bab\b`, "ab", true},
		{`a(?:b\d{4}|c\d+)`, "ab", false},
		{`a(?:b\d{4}|b\d+)`, "ab", true},
		{`a\d+b`, "ab", false},
		{`a(?:\[\d+\])?: `, "a: ", false},
	}
	for _, tt := range tests {
		if got := mustContain(t, tt.expr, []string{tt.literal}); got != tt.want {
			t.Errorf("%s with %q: got %v", tt.expr, tt.literal, got)
		}
	}
}

func mustContain(t *testing.T, expr string, literals []string) bool {
	t.Helper()
	p := proof{holds: func(s string) bool { return containsAny(s, literals) }}
	return len(p.after(parsed(t, expr), []string{""})) == 0
}

func mustBegin(t *testing.T, expr string, literals []string) bool {
	t.Helper()
	p := proof{anchored: true, holds: func(s string) bool { return without(s, literals...) != s }}
	return len(p.after(parsed(t, expr), []string{""})) == 0
}

func parsed(t *testing.T, expr string) *syntax.Regexp {
	t.Helper()
	re, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		t.Fatal(err)
	}
	return re.Simplify()
}

// proof follows all that an expression may match, from its beginning, and drops
// what holds. Of a part that may match anything nothing is known; anchored, the
// proof ends there.
type proof struct {
	holds    func(string) bool
	anchored bool
}

// open is what stands for a text of which nothing is known.
const open = "\x00"

// after is what may have been matched once re has been, of what had been before
// it and does not hold.
func (p proof) after(re *syntax.Regexp, before []string) []string {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return before
	case syntax.OpLiteral:
		return p.with(before, string(re.Rune))
	case syntax.OpCharClass:
		return p.with(before, members(re.Rune)...)
	case syntax.OpCapture:
		return p.after(re.Sub[0], before)
	case syntax.OpQuest:
		return append(p.after(re.Sub[0], before), before...)
	case syntax.OpAlternate:
		var all []string
		for _, sub := range re.Sub {
			all = append(all, p.after(sub, before)...)
		}
		return all
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			before = p.after(sub, before)
		}
		return before
	case syntax.OpPlus: // at least once
		return p.with(p.after(re.Sub[0], before), open)
	}
	return p.with(before, open)
}

// with is each text with each end, but for those that hold.
func (p proof) with(texts []string, ends ...string) []string {
	left := map[string]bool{}
	for _, text := range texts {
		for _, end := range ends {
			switch {
			case p.anchored && strings.HasSuffix(text, open):
				end = ""
			case end == open && !p.anchored:
				text = ""
			}
			if !p.holds(text + end) {
				left[text+end] = true
			}
		}
	}
	return slices.Collect(maps.Keys(left))
}

// members are those of a small class.
func members(ranges []rune) []string {
	var all []string
	for i := 0; i < len(ranges); i += 2 {
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			if all = append(all, string(r)); len(all) > 16 {
				return []string{open}
			}
		}
	}
	return all
}
