package classify

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// window is how much of a text is read at each end, in bytes.
const window = 2 << 10

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

// without is s without the first of the prefixes that it has.
func without(s string, prefixes ...string) string {
	for _, p := range prefixes {
		if rest, ok := strings.CutPrefix(s, p); ok {
			return rest
		}
	}
	return s
}

// clean makes a text valid UTF-8 and removes terminal escapes and control
// characters, line ends and tabs excepted.
func clean(s string) string {
	if isClean(s) {
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

func isClean(s string) bool {
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
