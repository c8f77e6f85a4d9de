package report

import (
	"slices"
	"strings"

	"github.com/expediter-go/expediter/cascade"
)

// advice is all that a report says about causes: fixed words for each
// category. Nothing is concluded from an error's text.
var advice = map[string]struct {
	word   string // in a run of different failures: "permission/command/timeout"
	kind   string // of a systemic failure: "likely network issue"
	local  bool   // lies in the environment that the tools run in
	remote bool   // lies in a service or on the way to it
	lasts  bool   // does not go away by waiting
	do     string // after the tool's name is put in for *
}{
	cascade.Network.String():     {word: "network", kind: "network", remote: true, do: "Check network connectivity for *"},
	cascade.Timeout.String():     {word: "timeout", kind: "timeout", local: true, remote: true, do: "Find out why * does not answer in time"},
	cascade.RateLimit.String():   {word: "rate limit", kind: "rate limit", remote: true, do: "Wait for the rate limit of *, or have it raised"},
	cascade.Auth.String():        {word: "auth", kind: "credentials", remote: true, lasts: true, do: "Renew the credentials of *"},
	cascade.Permission.String():  {word: "permission", kind: "permissions", local: true, lasts: true, do: "Check the permissions of *"},
	cascade.Filesystem.String():  {word: "filesystem", kind: "filesystem", local: true, lasts: true, do: "Check disk and file system for *"},
	cascade.Resource.String():    {word: "resource", kind: "resource", local: true, do: "Free memory, processes or open files for *"},
	cascade.Upstream.String():    {word: "upstream", kind: "upstream service", remote: true, do: "Check the service behind *"},
	cascade.ToolMissing.String(): {word: "command", kind: "missing program", local: true, lasts: true, do: "Install * or the program it needs"},
	cascade.Unknown.String():     {word: "unknown", do: "Investigate * failures — cause unknown"},
}

// Lasting reports whether failures of a category do not go away by waiting:
// somebody has to do what the advice for it says.
func Lasting(c cascade.Category) bool { return advice[c.String()].lasts }

// recommend says what to do about tools that failed for these categories.
func recommend(tools []string, categories []string) string {
	who := enumerate(tools)
	if len(categories) == 0 || slices.Contains(categories, unknownCategory) {
		return strings.ReplaceAll(advice[unknownCategory].do, "*", who)
	}
	if len(categories) == 1 {
		return strings.ReplaceAll(advice[categories[0]].do, "*", who)
	}
	local, remote := true, true
	for _, c := range categories {
		local, remote = local && advice[c].local, remote && advice[c].remote
	}
	switch {
	case local:
		return "Investigate " + who + " failures — likely environment issue"
	case remote:
		return "Investigate " + who + " failures — likely service or network issue"
	}
	return "Investigate " + who + " failures — several causes: " + words(categories)
}

// words names categories in the short form of the tool health line.
func words(categories []string) string {
	list := make([]string, len(categories))
	for i, c := range categories {
		list[i] = advice[c].word
	}
	return strings.Join(list, "/")
}

// systemicLine is the sentence that reports a common cause.
func systemicLine(cause, pattern string) string {
	const head = "Multiple tools failing with "
	if kind := advice[cause].kind; kind != "" {
		if pattern == "" {
			pattern = advice[cause].word + " errors"
		}
		return head + pattern + " — likely " + kind + " issue"
	}
	switch {
	case cause == cascade.CauseMixed:
		return head + "different errors at once — likely common issue, cause unknown"
	case pattern == "":
		return head + "the same error — likely common issue, cause unknown"
	}
	return head + pattern + " — likely common issue, cause unknown"
}

// enumerate joins names: "a", "a and b", "a, b and c".
func enumerate(names []string) string {
	n := len(names)
	if n < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
}
