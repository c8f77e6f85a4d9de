package report

import (
	"slices"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade/redact"
	"github.com/expediter-go/expediter/expediter"
)

// unverifiedOf lists the calls that may have taken effect.
func unverifiedOf(st *expediter.Status) []Unverified {
	entries := map[string]capability.Entry{}
	for i := range st.Tools {
		entries[st.Tools[i].Tool] = st.Tools[i].Entry
	}
	var list []Unverified
	for _, u := range st.Unverified {
		list = append(list, Unverified{Tool: redact.Text(u.Tool, maxName), Verify: toVerify(entries[u.Tool]), Moment: *moment(&u.Moment)})
	}
	return list
}

// toVerify says what to find out about a call of a tool, and what a blind
// repeat would do.
func toVerify(e capability.Entry) string {
	s := "Find out whether it took effect"
	if provides := redact.Text(e.Provides, maxText); provides != "" {
		s += " (" + provides + ")"
	}
	s += " before it is repeated or another tool does it"
	switch e.SideEffects {
	case capability.Idempotent:
		return s + "; a repeat changes nothing more"
	case capability.Destructive:
		return s + "; a repeat may do harm"
	}
	return s + "; what a repeat does is not declared"
}

// doubtful are the tools of the calls to be verified, each once.
func (r Report) doubtful() []string {
	var tools []string
	for _, u := range r.Unverified {
		if !slices.Contains(tools, u.Tool) {
			tools = append(tools, u.Tool)
		}
	}
	for _, t := range r.Tools {
		if t.Unverified > 0 && !slices.Contains(tools, t.Tool) {
			tools = append(tools, t.Tool)
		}
	}
	return tools
}

// unlisted says how many calls of each tool are older than those listed.
func (r Report) unlisted() []line {
	listed := map[string]int{}
	for _, u := range r.Unverified {
		listed[u.Tool]++
	}
	var list []line
	for _, t := range r.Tools {
		if n := t.Unverified - listed[t.Tool]; n > 0 {
			list = append(list, line{Text: "(" + count(n, "older call") + " of " + t.Tool + " not listed)"})
		}
	}
	return list
}

func (r Report) unverifiedLines() []line {
	list := r.unlisted()
	for _, u := range r.Unverified {
		what := u.Text
		if what == "" {
			what = u.Category
		}
		list = append(list, line{Text: withText(u.Tool+" at "+r.when(u.Moment), what), Sub: []string{u.Verify}})
	}
	return list
}

// unverifiedTitle heads the calls that may have taken effect.
const unverifiedTitle = "Verify before repeating"
