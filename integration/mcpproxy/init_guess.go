package mcpproxy

import (
	"maps"
	"strings"
	"unicode"

	"github.com/expediter-go/expediter/capability"
)

// untested is the degradation of a route that nobody has tried.
const untested = "unknown — test before relying on this route"

// How like two names must be, and how many guesses a tool gets.
const (
	likeness   = 0.6
	maxGuesses = 3
	maxWords   = 16
)

// alternatives guesses which tools of other servers may do the same.
func (b *starter) alternatives(s *started, t ToolInfo) []capability.Alternative {
	if t.Destructive {
		return nil
	}
	var list []capability.Alternative
	for _, other := range b.all {
		if other == s || other.why != nil || len(list) == maxGuesses {
			continue
		}
		best, name := likeness, ""
		for _, o := range other.tools {
			if like := likeOf(s.Name, t.Name, other.Name, o.Name); !o.Destructive && like >= best && (name == "" || like > best) {
				best, name = like, o.Name
			}
		}
		if name != "" {
			list = append(list, capability.Alternative{Tool: other.Name + "/" + name, Degradation: untested})
		}
	}
	return list
}

// words are those of a tool's name: what is done, and to what.
type words struct{ deeds, things map[string]bool }

// deeds are words for what tools do; those on a line mean the same.
var deeds = deedsOf(
	"search find query lookup grep",
	"get read fetch retrieve show view describe open",
	"list ls enumerate browse",
	"create add new insert make",
	"write save put upload store",
	"update edit modify set change patch rename move",
	"delete remove drop clear purge destroy kill",
	"run exec execute eval invoke call start",
	"send post publish notify reply comment",
	"check verify validate test",
	"close merge approve reject lock stop cancel",
)

func deedsOf(lines ...string) map[string]string {
	m := map[string]string{}
	for _, line := range lines {
		all := strings.Fields(line)
		for _, word := range all {
			m[word] = all[0]
		}
	}
	return m
}

// wordsOf takes a name apart, without the words of its server's name where
// others are left.
func wordsOf(server, tool string) words {
	w, rest := words{map[string]bool{}, map[string]bool{}}, map[string]bool{}
	own := map[string]bool{}
	for _, word := range split(server) {
		own[word] = true
	}
	for _, word := range split(tool) {
		if deed, ok := deeds[word]; ok {
			w.deeds[deed] = true
		} else if own[word] {
			rest[word] = true
		} else {
			w.things[word] = true
		}
	}
	if len(w.deeds)+len(w.things) == 0 {
		w.things = rest
	}
	return w
}

// split takes snake_case, kebab-case and camelCase apart, into singular words.
func split(name string) []string {
	var list []string
	var word []rune
	end := func() {
		if s := strings.ToLower(string(word)); s != "" && len(list) < maxWords {
			if len(s) > 3 && !strings.HasSuffix(s, "ss") {
				s = strings.TrimSuffix(s, "s")
			}
			list = append(list, s)
		}
		word = word[:0]
	}
	var before rune
	for _, c := range name {
		switch {
		case !unicode.IsLetter(c) && !unicode.IsDigit(c):
			end()
		case unicode.IsUpper(c) && unicode.IsLower(before):
			end()
			word = append(word, c)
		default:
			word = append(word, c)
		}
		before = c
	}
	end()
	return list
}

// likeOf is how like two tools' names are: 1, if they are the same.
func likeOf(server, tool, other, its string) float64 {
	if tool == its && tool != "" {
		return 1
	}
	return alike(wordsOf(server, tool), wordsOf(other, its))
}

// alike is the share of words that two names have in common, 0 if they do not
// do the same.
func alike(a, b words) float64 {
	if !maps.Equal(a.deeds, b.deeds) {
		return 0
	}
	common := len(a.deeds)
	for word := range a.things {
		if b.things[word] {
			common++
		}
	}
	all := len(a.deeds) + len(a.things) + len(b.things) - (common - len(a.deeds))
	if all == 0 {
		return 0
	}
	return float64(common) / float64(all)
}
