package classify

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// window is how much of a text is read at each end, in bytes.
const window = 2 << 10

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
	if ok && e.cmd.runsOwnCode() && c.outcome() == 0 && c != filesystem && c != resource {
		return invalidInput, "own-code", true
	}
	return c, rule, ok
}

var (
	beforeStatus = regexp.MustCompile(`(?:http/[\d.]+ |(?:http|status|error|code|rejected|response|responded with|returned|received|failed)[^0-9\n]{0,12}?e?)$`)
	afterStatus  = regexp.MustCompile(`^\s*[:(-]?\s*(?:too many|client error|server error|request|resource|unauthori[sz]ed|forbidden|service|internal|bad|gateway|conflict|not found|not acceptable|method not|unprocessable|overloaded|payment)`)
)

// maxStatuses bounds how many numbers of a text are looked at.
const maxStatuses = 16

// httpStatuses are the numbers that a text presents as HTTP statuses, by the
// words before or after them. A bare number is none.
func httpStatuses(folded string) []int {
	var found []int
	for i, n := nextStatus(folded, 0), 0; i >= 0 && n < maxStatuses; i, n = nextStatus(folded, i+1), n+1 {
		before, after := folded[max(0, i-48):i], folded[i+3:]
		if after != "" && isWord(after[0]) || countsThings(after) {
			continue
		}
		alone := before == "" || !isWord(before[len(before)-1])
		first := i == 0 && (strings.HasPrefix(after, " {") || strings.HasPrefix(after, ": "))
		if first || beforeStatus.MatchString(before) || alone && afterStatus.MatchString(head(after, 48)) {
			found = append(found, int(folded[i]-'0')*100+int(folded[i+1]-'0')*10+int(folded[i+2]-'0'))
		}
	}
	return found
}

// countsThings knows that "returned 500 rows" is no status.
func countsThings(rest string) bool {
	rest = strings.TrimPrefix(rest, " ")
	for _, unit := range [...]string{"ms", "rows", "lines", "files", "bytes", "kb", "mb", "items", "results", "records", "tests", "errors"} {
		if strings.HasPrefix(rest, unit) {
			return true
		}
	}
	return false
}

// nextStatus is where the next number from 400 to 599 begins, at from or later;
// -1: nowhere. It may be the end of a longer word.
func nextStatus(s string, from int) int {
	for i := from; i+2 < len(s); i++ {
		if (s[i] == '4' || s[i] == '5') && isDigit(s[i+1]) && isDigit(s[i+2]) && (i == 0 || !isDigit(s[i-1])) {
			return i
		}
	}
	return -1
}

func isWord(c byte) bool { return isDigit(c) || c == '_' || 'a' <= c && c <= 'z' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// head is the first n bytes of s, cut at a rune.
func head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// ends is the first and the last part of a long text.
func ends(s string) string {
	if len(s) <= 2*window {
		return s
	}
	tail := s[len(s)-window:]
	for len(tail) > 0 && !utf8.RuneStart(tail[0]) {
		tail = tail[1:]
	}
	return head(s, window) + "\n" + tail
}

func join(a, b string) string {
	if a == "" || b == "" || a == b {
		return a + strings.TrimPrefix(b, a)
	}
	return a + "\n" + b
}

// clean makes a text valid UTF-8 and removes terminal escapes and control
// characters, line ends and tabs excepted.
func clean(s string) string {
	if plain(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		if s[i] == 0x1b {
			i += escapeLen(s[i:])
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		i += size
		switch {
		case r == '\n' || r == '\t':
			b.WriteRune(r)
		case r == '\r':
			if i >= len(s) || s[i] != '\n' {
				b.WriteByte('\n') // a progress line that overwrites itself
			}
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029':
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func plain(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c >= 0x7f || c < ' ' && c != '\n' && c != '\t' {
			return false
		}
	}
	return true
}

// escapeLen is the length of the terminal escape that s starts with.
func escapeLen(s string) int {
	if len(s) < 2 {
		return 1
	}
	switch s[1] {
	case '[': // until its final byte
		for i := 2; i < len(s); i++ {
			if s[i] >= 0x40 && s[i] <= 0x7e {
				return i + 1
			}
			if s[i] < 0x20 || s[i] > 0x7e {
				return i
			}
		}
		return len(s)
	case ']', 'P', '_', '^': // until BEL or ESC \, on this line
		for i := 2; i < len(s); i++ {
			if s[i] == 0x07 {
				return i + 1
			}
			if s[i] == 0x1b || s[i] == '\n' {
				return i
			}
		}
		return len(s)
	}
	return 2
}

var foldings = strings.NewReplacer("\u2019", "'", "\u2018", "'", "\u201c", `"`, "\u201d", `"`, `\n`, "\n", `\"`, `"`, "\u00a0", " ")

// fold makes a clean text ready for the tables: lower case, plain quotes,
// and the line ends and quotes of a text inside JSON undone.
func fold(s string) string { return strings.ToLower(foldings.Replace(s)) }
