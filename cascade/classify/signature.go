package classify

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxSignature bounds a signature, in bytes.
const MaxSignature = 160

// Signature is the normalised first meaningful line of an error text, at most
// MaxSignature bytes: numbers are #, long ids <id>, paths <path>, quoted parts
// <q>, and of a URL only scheme and host are left; of a JSON object it is the
// message. Two failures with the same signature are the same trouble, so a text
// of which no word is left has none. It is idempotent, valid UTF-8 and free of
// control characters.
func Signature(text string) string { return signature(clean(ends(text))) }

func signature(text string) string {
	s := normalise(meaningfulLine(text))
	for range 3 { // a cut may leave half of something that normalises further
		again := normalise(meaningfulLine(s))
		if again == s {
			break
		}
		s = again
	}
	if !strings.ContainsFunc(placeholders.Replace(s), unicode.IsLetter) {
		return ""
	}
	return s
}

var placeholders = strings.NewReplacer("<q>", "", "<id>", "", "<path>", "")

// jsonMessage finds what JSON APIs put their error text in.
var jsonMessage = [...]*regexp.Regexp{
	regexp.MustCompile(`(?i)"(?:message|error_?description|error_?message|detail|msg)"\s*:\s*"([^"\\]{3,})`),
	regexp.MustCompile(`(?i)"(?:error|title|reason|status|code|type)"\s*:\s*"([^"\\]{3,})`),
}

// noise are the starts of lines that say nothing about the cause.
var noise = []string{
	"exit code", "traceback (most recent call last)", "node:internal", "npm error code", "npm err! code",
	"during handling of the above", "the above exception was", "stderr:", "stdout:", "error:\n",
}

// meaningfulLine is the first line that is no noise; of a Python traceback it
// is the line after the last frame, of JSON the message.
func meaningfulLine(text string) string {
	if start := strings.TrimSpace(head(text, 64)); strings.HasPrefix(start, "{") || strings.HasPrefix(start, "[") {
		for _, re := range jsonMessage {
			if m := re.FindStringSubmatch(text); m != nil {
				return strings.TrimSpace(m[1])
			}
		}
	}
	traceback := strings.Contains(text, "Traceback (most recent call last)")
	first, found := "", ""
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		if trimmed == "" {
			continue
		}
		if first == "" {
			first = trimmed
		}
		if isNoise(trimmed) || traceback && (line[0] == ' ' || line[0] == '\t') {
			continue
		}
		found = trimmed
		if !traceback {
			break
		}
	}
	if found == "" {
		return first
	}
	return found
}

func isNoise(line string) bool {
	lower := strings.ToLower(head(line, 64))
	for _, n := range noise {
		rest, ok := strings.CutPrefix(lower, n)
		if ok && (len(rest) == 0 || n != "exit code" || strings.Trim(rest, " :#0123456789") == "") {
			return true
		}
	}
	return false
}

// normalise replaces what varies from call to call.
func normalise(line string) string {
	line = head(line, 4*MaxSignature)
	var b strings.Builder
	for _, word := range strings.Fields(unquote(line)) {
		word = normaliseWord(word)
		if b.Len() > 0 {
			if b.Len()+1+len(word) > MaxSignature {
				break
			}
			b.WriteByte(' ')
		}
		b.WriteString(head(word, MaxSignature))
	}
	return b.String()
}

// unquote replaces quoted parts. A quote opens only after a non-letter, so that
// an apostrophe is none.
func unquote(s string) string {
	if !strings.ContainsAny(s, "\"'`") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '"' || c == '\'' || c == '`' {
			end := strings.IndexByte(s[i+1:], c)
			if c == '`' && end < 0 {
				end = strings.IndexByte(s[i+1:], '\'') // GNU's old quotes
			}
			if end >= 0 && (i == 0 || !isWordByte(s[i-1])) {
				b.WriteString("<q>")
				i += end + 1
				continue
			}
		}
		b.WriteByte(c)
	}
	return b.String()
}

func isWordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || isDigit(c) || c >= utf8.RuneSelf || c == '>'
}

const punctuation = "()[]{}<>,;:.!?\"'`"

// normaliseWord keeps the punctuation around a word.
func normaliseWord(word string) string {
	start := len(word) - len(strings.TrimLeft(word, "([{<\"'`"))
	end := len(strings.TrimRight(word, punctuation))
	if end <= start {
		return numbers(word)
	}
	core := word[start:end]
	switch {
	case core == "q" || core == "id" || core == "path":
		return word
	case strings.Contains(core, "://"):
		core = shortURL(core)
	case isPath(core):
		core = "<path>"
	case isID(core):
		core = "<id>"
	default:
		core = numbers(core)
	}
	return word[:start] + core + word[end:]
}

// shortURL keeps scheme and host.
func shortURL(s string) string {
	scheme, rest, _ := strings.Cut(s, "://")
	host := rest
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		host = rest[:i]
	}
	host = host[strings.LastIndexByte(host, '@')+1:]
	return numbers(scheme) + "://" + numbers(host)
}

func isPath(s string) bool {
	switch {
	case strings.HasPrefix(s, "/"), strings.HasPrefix(s, "./"), strings.HasPrefix(s, "../"), strings.HasPrefix(s, "~/"):
		return true
	case len(s) > 2 && s[1] == ':' && (s[2] == '\\' || s[2] == '/'):
		return true
	}
	return strings.Count(s, "/") >= 2 || strings.Count(s, `\`) >= 2
}

// isID knows hexadecimal ids, UUIDs, the long mixtures of letters and digits
// that request ids and keys are, and keys in capitals.
func isID(s string) bool {
	digits, hex, letters, capitals := 0, 0, 0, 0
	for i := 0; i < len(s); i++ {
		c := s[i] | 0x20
		if 'A' <= s[i] && s[i] <= 'Z' {
			capitals++
		}
		switch {
		case isDigit(s[i]):
			digits++
		case c >= 'a' && c <= 'f':
			hex++
		case c >= 'g' && c <= 'z':
			letters++
		case s[i] != '-' && s[i] != '_':
			return false
		}
	}
	if letters == 1 && len(s) > 4 && s[0] == '0' && s[1]|0x20 == 'x' {
		return true
	}
	inCapitals := digits+capitals == len(s)
	return digits > 0 && (letters == 0 && hex > 0 && len(s) >= 8 || len(s) >= 16 && (digits >= 3 || inCapitals))
}

// numbers replaces numbers, with their dots and colons, by #.
func numbers(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		if !isDigit(s[i]) {
			b.WriteByte(s[i])
			i++
			continue
		}
		for i < len(s) && (isDigit(s[i]) || i+1 < len(s) && strings.IndexByte(".,:", s[i]) >= 0 && isDigit(s[i+1])) {
			i++
		}
		b.WriteByte('#')
	}
	return b.String()
}
