package redact

import (
	"slices"
	"strings"
	"unicode"

	"github.com/expediter-go/expediter/internal/pattern"
)

// masked stands for a secret.
const masked = "[masked]"

// secretForms are secrets that their own form gives away, and headers and
// addresses that carry one. A text without any of a form's hints, in lower case,
// is not searched for it, nor one that likely (nil: no matter) excludes.
var secretForms = []secretForm{
	{hints{"private key"}, nil, pattern.New(`(?s)-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\z)`), masked},
	{hints{"cookie"}, nil, pattern.New(`(?i)(\b(?:set-)?cookie\b["'\\]*\s*[:=][\s\["'\\]*)[^\s;,"'\\=\[\]]+=[^\s;,"'\\]*(?:;\s*[^\s;,"'\\=]+=[^\s;,"'\\]*)*`), "${1}" + masked},
	{hints{"://"}, hasAt, pattern.New(`(?i)\b([a-z][a-z0-9+.-]*://[^\s:/?#@]*:)[^\s/"'<>]*@`), "${1}" + masked + "@"},
	{hints{"://"}, hasAt, pattern.New(`(?i)\b([a-z][a-z0-9+.-]*://)[^\s:/?#@"'<>\[\]]{12,}@`), "${1}" + masked + "@"}, // a token in the place of a user
	{hints{"@tcp(", "@udp(", "@unix("}, nil, pattern.New(`(?i)\b([\w.-]+:)[^\s:@/"'\[\]]+@((?:tcp|udp|unix)\()`), "${1}" + masked + "@${2}"},
	{hints{"hooks.slack.com/"}, nil, pattern.New(`(?i)(\bhooks\.slack\.com/(?:services|workflows)/)[\w/]+`), "${1}" + masked},
	{hints{"/api/webhooks/"}, nil, pattern.New(`(?i)(\bdiscord(?:app)?\.com/api/webhooks/)[\w/-]+`), "${1}" + masked},
	{hints{":"}, hasNumberAndColon, pattern.New(`\b\d{8,10}:[A-Za-z0-9_-]{35}\b`), masked},
	{hints{"eyj"}, nil, pattern.New(`\beyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{5,}(?:\.[A-Za-z0-9_-]*)*`), masked},
	{hints{"akia", "asia", "aroa", "aida", "agpa", "abia", "acca"}, nil, pattern.New(`\b(?:AKIA|ASIA|AROA|AIDA|AGPA|ABIA|ACCA)[A-Z0-9]{12,}`), masked},
	{hints{"sk_", "rk_", "pk_", "whsec_"}, nil, pattern.New(`\b(?:sk|rk|pk|whsec)_[A-Za-z0-9_]{12,}`), masked},
	{hints{"sk-", "xai-", "pplx-", "tvly-", "glpat-", "gldt-", "glrt-", "pypi-", "lsv2-"}, nil, pattern.New(`\b(?:sk|xai|pplx|tvly|glpat|gldt|glrt|pypi|lsv2)-[A-Za-z0-9_-]{10,}`), masked},
	{hints{"xox", "xapp-"}, nil, pattern.New(`\bxox[a-z]-[A-Za-z0-9-]{8,}|\bxapp-[A-Za-z0-9-]{8,}`), masked},
	{hints{"gh"}, hasGitHubPrefix, pattern.New(`\bgh[a-z]_[A-Za-z0-9_]{10,}`), masked},
	{hints{"_pat_", "npm_", "hf_", "gsk_", "r8_", "glc_", "glsa_", "shpat_", "dop_v1_", "lin_api_", "figd_", "nfp_", "rubygems_"}, nil, pattern.New(`\b(?:github_pat|npm|hf|gsk|r8|glc|glsa|shpat|dop_v1|lin_api|figd|nfp|rubygems)_[A-Za-z0-9_]{10,}`), masked},
	{hints{"aiza", "ya29.", "sg.", "hvs.", "hvb.", "hvr."}, nil, pattern.New(`\bAIza[A-Za-z0-9_-]{20,}|\bya29\.[A-Za-z0-9_-]{10,}|\bSG\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}|\bhv[sbr]\.[A-Za-z0-9_-]{10,}`), masked},
	{hints{"_gh", "_github_pat_", "_sk-"}, nil, pattern.New(`_(?:gh[oprsu]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|sk-[A-Za-z0-9_-]{20,})`), "_" + masked}, // the tail of a tool's name
	{hints{"dckr_"}, nil, pattern.New(`\bdckr_[po]at_[A-Za-z0-9_-]{10,}`), masked},
	{hints{"age-secret-key-1"}, nil, pattern.New(`\bAGE-SECRET-KEY-1[A-Z0-9]{10,}`), masked},
	{hints{"-u ", "-u=", "-user ", "-user="}, nil, pattern.New(`((?:^|\s)(?:-u|--user)[ =]["']?[^\s:"']*:)[^\s"']+`), "${1}" + masked},
}

type secretForm struct {
	hints  hints
	likely func(lower string) bool
	form   *pattern.Pattern
	with   string
}

// searches reports whether a text in lower case is worth the pattern.
func (f secretForm) searches(lower string) bool {
	return f.hints.in(lower) && (f.likely == nil || f.likely(lower))
}

// hints are texts in lower case, one of which a secret's form contains.
type hints []string

func (h hints) in(lower string) bool {
	return slices.ContainsFunc(h, func(hint string) bool { return strings.Contains(lower, hint) })
}

// lower is s as hints want it. The long s is one that (?i) takes for an s.
func lower(s string) string { return strings.ReplaceAll(strings.ToLower(s), "\u017f", "s") }

var (
	credentialHints = hints{"authorization"}
	schemeHints     = hints{"bearer", "basic", "token "}
	flagHints       = hints{"-passw", "-passphrase", "-secret", "-token", "-api", "-access"}
	keyHints        = hints{"pass", "pwd", "secret", "key", "credential", "token", "auth", "session", "sid", "sig", "jwt", "csrf", "otp"}
)

var (
	// credentials ends where those of an Authorization header begin. Group 1
	// is a scheme whose credentials are many words.
	credentials = pattern.New(`(?i)\b(?:proxy-)?authorization["'\\]*\s*[:=]["'\\\s]*(?:\[["'\\]*)?(?:(?:basic|bearer|negotiate|token|apikey)\s+|(digest|aws4-hmac-sha256)\s+)?`)

	scheme = pattern.New(`(?i)\b(bearer|basic|token)\s+([A-Za-z0-9._~+/=-]{4,})`)

	// secretFlag is a command-line flag whose value is the next word.
	secretFlag = pattern.New(`(?i)((?:^|\s)--?(?:[\w-]*-)?(?:password|passwd|passphrase|secret|token|api-?key|access-?key|secret-?key)\s+)([^\s"'-][^\s"']*|"[^"]+"|'[^']+')`)

	// secretKey ends where the value of a key=value or "key": "value" pair
	// begins. Group 1 is a word that also has harmless uses.
	secretKey = pattern.New(`(?i)(?:[\w.-]*(?:password|passwd|passphrase|passcode|pwd|secret|api[_-]?key|access[_-]?key|private[_-]?key|encryption[_-]?key|signing[_-]?key|account[_-]?key|credential)[\w.-]*` +
		`|[?&]key|((?:[\w.-]*token|(?:[\w.-]*[_.-])?(?:auth|session|session[_-]?id|sid|sig|signature|jwt|csrf|otp)))\b)["'\\]*\s*(?:=>|:=|[:=])\s*`)
)

// prose are words that follow a secret's name in a sentence.
var prose = func() map[string]bool {
	words := map[string]bool{}
	for _, w := range strings.Fields(`a access an and auth authentication authorization cannot command could credentials denied
		did does empty error expected expired failed false file for format has incorrect invalid is malformed missing must
		no none not nil null of operation or permission realm rejected required revoked scheme should string the this token
		tokens too true type unable undefined unexpected unknown unsupported user was were with wrong`) {
		words[w] = true
	}
	return words
}()

func isProse(word string) bool { return prose[strings.ToLower(strings.Trim(word, ".,:;!?"))] }

// mask hides what looks like a secret.
func mask(s string) string {
	low := lower(s)
	for _, f := range secretForms {
		if f.searches(low) {
			s = f.form.RE().ReplaceAllString(s, f.with)
		}
	}
	if schemeHints.in(low) {
		s = scheme.RE().ReplaceAllStringFunc(s, maskScheme)
	}
	if flagHints.in(low) {
		s = secretFlag.RE().ReplaceAllStringFunc(s, maskFlag)
	}
	if credentialHints.in(low) {
		s = maskCredentials(s)
	}
	if keyHints.in(low) && hasNamedValue(low) {
		s = maskPairs(s)
	}
	return s
}

func maskScheme(found string) string {
	m := scheme.RE().FindStringSubmatch(found)
	switch kind, word := strings.ToLower(m[1]), m[2]; {
	case isProse(word), kind == "basic" && !random(word), kind == "token" && !drawn(word):
		return found
	}
	return found[:len(found)-len(m[2])] + masked
}

func maskFlag(found string) string {
	m := secretFlag.RE().FindStringSubmatch(found)
	if isProse(strings.Trim(m[2], `"'`)) {
		return found
	}
	return m[1] + masked
}

// maskCredentials hides what follows the scheme in an Authorization header.
func maskCredentials(s string) string {
	var b strings.Builder
	from := 0
	for _, at := range credentials.RE().FindAllStringSubmatchIndex(s, -1) {
		start := at[1]
		if strings.HasSuffix(s[:start], "[") && isMasked(s[start-1:]) {
			start--
		}
		stop, end := " \t\n\"'\\]", len(s)
		if at[2] >= 0 {
			stop = "\n"
		}
		if n := strings.IndexAny(s[start:], stop); n >= 0 {
			end = start + n
		}
		if start < from || start == end || isMasked(s[start:]) {
			continue
		}
		b.WriteString(s[from:start] + masked)
		from = end
	}
	return b.String() + s[from:]
}

// isMasked reports whether a mask stands at the beginning of s, cut or not.
func isMasked(s string) bool { return strings.HasPrefix(s, masked[:len(masked)-1]) }

// maskPairs hides the values of key=value and "key": "value" pairs.
func maskPairs(s string) string {
	var b strings.Builder
	from := 0
	for _, at := range secretKey.RE().FindAllStringSubmatchIndex(s, -1) {
		if at[0] < from {
			continue
		}
		start, end, quoted := value(s, at[1])
		if keep(s[start:end], s[at[0]:at[1]], at[2] >= 0, quoted) {
			continue
		}
		b.WriteString(s[from:start])
		b.WriteString(masked)
		from = end
	}
	b.WriteString(s[from:])
	return b.String()
}

// value finds the value that begins at i, without its quotes, which may be
// escaped ones.
func value(s string, i int) (start, end int, quoted bool) {
	j := i
	for j < len(s) && s[j] == '\\' {
		j++
	}
	if j == len(s) || s[j] != '"' && s[j] != '\'' {
		end = len(s)
		if n := strings.IndexAny(s[i:], " \t\n&;\"'"); n >= 0 {
			end = i + n
		}
		return i, i + len(strings.TrimRight(s[i:end], ",.)]}>\\")), false
	}
	open := s[i : j+1]
	for end = j + 1; end < len(s); end++ {
		if strings.HasPrefix(s[end:], open) {
			return j + 1, end, true
		}
		if len(open) == 1 && s[end] == '\\' {
			end++
		}
	}
	return j + 1, len(s), true
}

// keep reports whether a value is no secret: none, masked already, or a
// harmless use of a word such as token.
func keep(v, key string, weak, quoted bool) bool {
	if v == "" || isMasked(v) {
		return true
	}
	assigned := strings.Contains(key, "=")
	if !quoted && !assigned && isProse(v) {
		return true
	}
	if !weak {
		return strings.Contains(strings.ToLower(key), "pwd") && strings.HasPrefix(v, "/")
	}
	if len(v) <= 6 && strings.Trim(v, "0123456789") == "" {
		return true
	}
	return !assigned && !quoted && !random(v)
}

// drawn is random for a word that a sentence may have in that place.
func drawn(word string) bool {
	return len(word) >= 16 && strings.ContainsAny(word, "0123456789") && !strings.ContainsAny(word, "./") && random(word)
}

// random reports whether a word looks drawn rather than written.
func random(word string) bool {
	digit, letter, inner := false, false, false
	for i, r := range word {
		digit = digit || unicode.IsDigit(r)
		letter = letter || unicode.IsLetter(r)
		inner = inner || i > 0 && unicode.IsUpper(r)
	}
	return len(word) >= 8 && (digit && letter || inner || strings.HasSuffix(word, "=")) || len(word) >= 24
}
