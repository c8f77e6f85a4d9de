package redact

import (
	"slices"
	"strings"
)

// What follows spares most texts a pattern and its compilation. Each reads a
// text in lower case and says no only where its pattern finds nothing.

// hasAt: a password in an address stands before an @.
func hasAt(lower string) bool { return strings.Contains(lower, "@") }

// hasNumberAndColon: the token of a bot begins with a number of eight digits or
// more, and a colon.
func hasNumberAndColon(lower string) bool {
	digits := 0
	for i := 0; i < len(lower); i++ {
		switch c := lower[i]; {
		case '0' <= c && c <= '9':
			digits++
			continue
		case c == ':' && digits >= 8:
			return true
		}
		digits = 0
	}
	return false
}

// hasGitHubPrefix: ghp_ and its like.
func hasGitHubPrefix(lower string) bool {
	for {
		_, rest, ok := strings.Cut(lower, "gh")
		if !ok {
			return false
		}
		if len(rest) > 1 && rest[1] == '_' {
			return true
		}
		lower = rest
	}
}

// The names of secrets: words anywhere in a name, and words at its end.
var (
	nameWords = hints{"password", "passwd", "passphrase", "passcode", "pwd", "secret", "key", "credential"}
	nameEnds  = hints{"token", "auth", "session", "sid", "sessionid", "session_id", "session-id", "sig", "signature", "jwt", "csrf", "otp"}
)

// hasNamedValue: such a name stands before a colon or an equals sign.
func hasNamedValue(lower string) bool {
	for i := 0; i < len(lower); i++ {
		if lower[i] != ':' && lower[i] != '=' {
			continue
		}
		word := strings.TrimRight(strings.TrimRight(lower[:i], " \t\n\f\r"), `"'\`)
		start := len(word)
		for start > 0 && inName(word[start-1]) {
			start--
		}
		name := word[start:]
		if nameWords.in(name) || slices.ContainsFunc(nameEnds, func(end string) bool { return strings.HasSuffix(name, end) }) {
			return true
		}
	}
	return false
}

func inName(c byte) bool {
	return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '_' || c == '.' || c == '-'
}
