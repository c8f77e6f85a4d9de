package classify

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/expediter-go/expediter/internal/pattern"
)

// MaxSignature bounds a signature, in bytes.
const MaxSignature = 160

// Signature is the normalised first meaningful line of an error text, at most
// MaxSignature bytes: numbers and dates are #, ids and keys <id>, paths and files
// <path>, hosts <host>, URLs <url>, quoted parts <q>; of a JSON object it is the
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

var placeholders = strings.NewReplacer("<q>", "", "<id>", "", "<path>", "", "<host>", "", "<url>", "")

// jsonMessage finds what JSON APIs put their error text in.
var jsonMessage = [...]*pattern.Pattern{
	pattern.New(`(?i)"(?:message|error_?description|error_?message|detail|msg)"\s*:\s*"([^"\\]{3,})`),
	pattern.New(`(?i)"(?:error|title|reason|status|code|type)"\s*:\s*"([^"\\]{3,})`),
}

// noise are the starts of lines that say nothing about the cause. Of those
// that end with a colon or a code, nothing but a number may follow.
var noise = [...]struct {
	start string
	alone bool
}{
	{"exit code", true}, {"process exited with code", true}, {"stderr:", true}, {"stdout:", true}, {"output:", true},
	{"error:", true}, {"original token count:", true}, {"total output lines:", true}, {"chunk id:", false}, {"wall time:", false},
	{"traceback (most recent call last)", false}, {"node:internal", false}, {"npm error code", false},
	{"npm err! code", false}, {"during handling of the above", false}, {"the above exception was", false},
}

// messageOf is the error text in JSON; empty for other texts.
func messageOf(text string) string {
	start := strings.TrimSpace(head(text, 64))
	if !strings.HasPrefix(start, "{") && !strings.HasPrefix(start, "[") {
		return ""
	}
	for _, re := range jsonMessage {
		if m := re.RE().FindStringSubmatch(text); m != nil {
			return strings.TrimSpace(m[1])
		}
	}
	return ""
}

// meaningfulLine is the first line that is no noise; of a Python traceback it
// is the line after the last frame, of JSON the message.
func meaningfulLine(text string) string {
	if message := messageOf(text); message != "" {
		return message
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
		rest, ok := strings.CutPrefix(lower, n.start)
		if ok && (!n.alone || strings.Trim(rest, " :#0123456789") == "") {
			return true
		}
	}
	return false
}

// normalise replaces what varies from call to call.
func normalise(line string) string {
	words := strings.Fields(unquote(plainQuotes(head(line, 4*MaxSignature))))
	maskSecrets(words)
	for i, w := range words {
		if words[i] = normaliseWord(w); i > 0 && words[i-1] == "<path>" && strings.Contains(words[i], `\`) {
			words[i] = "<path>" + words[i][len(strings.TrimRight(words[i], punctuation)):] // of Windows, with spaces
		}
	}
	maskDates(words)
	var b strings.Builder
	for i, w := range words {
		if w == "<path>" && i+1 < len(words) && strings.HasPrefix(words[i+1], "<path>") {
			continue // a path with a space
		}
		if b.Len() > 0 {
			if b.Len()+1+len(w) > MaxSignature {
				break
			}
			b.WriteByte(' ')
		}
		b.WriteString(head(w, MaxSignature))
	}
	return b.String()
}

var quotes = strings.NewReplacer("\u2018", "'", "\u2019", "'", "\u201c", `"`, "\u201d", `"`)

func plainQuotes(s string) string {
	if strings.Contains(s, "\u2018"[:2]) {
		return quotes.Replace(s)
	}
	return s
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
