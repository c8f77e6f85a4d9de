package classify

import (
	"net/netip"
	"strings"
)

const punctuation = "()[]{}<>,;:.!?\"'`"

// normaliseWord keeps the punctuation around a word.
func normaliseWord(word string) string {
	start := len(word) - len(strings.TrimLeft(word, "([{<\"'`"))
	end := len(strings.TrimRight(word, punctuation))
	if end <= start {
		return numbers(word)
	}
	core := word[start:end]
	switch core {
	case "q", "id", "path", "host", "url":
		return word
	}
	return word[:start] + normaliseCore(core) + word[end:]
}

func normaliseCore(core string) string {
	if i := strings.Index(core, "://"); i >= 0 {
		for i > 0 && isWordByte(core[i-1]) {
			i--
		}
		return core[:i] + "<url>"
	}
	switch {
	case isSlashDate(core) || isAddress(core):
		return "#"
	case isPath(core):
		return "<path>"
	case isHost(core):
		return "<host>"
	case isID(core):
		return "<id>"
	}
	if name, value, ok := strings.Cut(core, "="); ok && value != "" {
		return numbers(name) + "=" + normaliseWord(value)
	}
	return numbers(core)
}

func isSlashDate(s string) bool {
	return strings.Count(s, "/") == 2 && strings.Trim(s, "0123456789/") == ""
}

// isAddress knows IPv6 addresses; numbers takes the others.
func isAddress(s string) bool {
	if strings.Count(s, ":") < 2 || !strings.ContainsAny(s, "0123456789") {
		return false
	}
	if _, err := netip.ParseAddr(s); err == nil {
		return true
	}
	_, err := netip.ParseAddrPort("[" + s)
	return err == nil
}

func isPath(s string) bool {
	switch {
	case strings.HasPrefix(s, "/"), strings.HasPrefix(s, "./"), strings.HasPrefix(s, "../"), strings.HasPrefix(s, "~/"):
		return true
	case len(s) > 2 && s[1] == ':' && (s[2] == '\\' || s[2] == '/'):
		return true
	case strings.Count(s, "/") >= 2 || strings.Count(s, `\`) >= 2:
		return true
	}
	return isFile(s)
}

// fileTypes are the endings that make a word without slashes a file.
var fileTypes = map[string]bool{
	"go": true, "py": true, "js": true, "ts": true, "tsx": true, "jsx": true, "mjs": true, "cjs": true, "json": true, "jsonl": true,
	"yaml": true, "yml": true, "toml": true, "md": true, "txt": true, "csv": true, "log": true, "lock": true, "rb": true, "rs": true,
	"java": true, "kt": true, "c": true, "h": true, "cc": true, "cpp": true, "hpp": true, "cs": true, "php": true, "swift": true,
	"html": true, "css": true, "xml": true, "sql": true, "db": true, "sqlite": true, "tmp": true, "pid": true, "sock": true,
	"pdf": true, "png": true, "zip": true, "gz": true, "exe": true, "dll": true, "ipynb": true, "ini": true, "cfg": true, "conf": true,
}

// isFile knows name.ext with or without a folder and a position: a.go:3:2.
func isFile(s string) bool {
	s = strings.TrimRight(s, "0123456789:#")
	dot := strings.LastIndexByte(s, '.')
	if dot < 0 || dot == len(s)-1 || strings.ContainsAny(s, "()[]{}=,;\"'") {
		return false
	}
	name, ext := s[:dot], s[dot+1:]
	if lower := strings.ToLower(name); lower == "node" || lower == "next" {
		return false
	}
	return fileTypes[ext] && (name == "" || isWordByte(name[len(name)-1]) || strings.ContainsAny(name, `/\`))
}

// hostEndings are the last labels that make a dotted word a host.
var hostEndings = map[string]bool{
	"com": true, "org": true, "net": true, "io": true, "dev": true, "ai": true, "app": true, "co": true, "cloud": true,
	"us": true, "uk": true, "de": true, "eu": true, "fr": true, "nl": true, "jp": true, "cn": true, "in": true, "edu": true, "gov": true,
	"info": true, "biz": true, "me": true, "local": true, "internal": true, "localdomain": true, "lan": true, "svc": true,
	"test": true, "example": true, "invalid": true, "localhost": true, "run": true, "xyz": true, "tech": true, "site": true,
}

// isHost knows the name of a host, with or without a user and a port.
func isHost(s string) bool {
	s = s[strings.LastIndexByte(s, '@')+1:]
	name, port, hasPort := strings.Cut(s, ":")
	if strings.Trim(port, "0123456789#") != "" || hasPort && port == "" {
		return false
	}
	if name == "localhost" {
		return hasPort
	}
	dot := strings.LastIndexByte(name, '.')
	if dot <= 0 || !hostEndings[name[dot+1:]] {
		return false
	}
	return strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-_.#") == ""
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
	switch inCapitals := digits+capitals == len(s); {
	case digits == 0:
		return false
	case letters == 0 && hex > 0 && (len(s) >= 8 || len(s) == 7 && digits > 1 && hex+digits == 7):
		return true
	case len(s) >= 16 && (digits >= 3 || inCapitals):
		return true
	}
	return len(s) >= 8 && changes(s) >= 4
}

// changes counts how often letters and digits take turns, in the part of s
// where they do most.
func changes(s string) (most int) {
	n := 0
	for i := 1; i < len(s); i++ {
		a, b := s[i-1], s[i]
		switch {
		case a == '-' || a == '_' || b == '-' || b == '_':
			n = 0
		case isDigit(a) != isDigit(b):
			n++
		}
		most = max(most, n)
	}
	return most
}

// units are those of durations, the longest first.
var units = [...]string{"mins", "secs", "min", "sec", "hrs", "ms", "us", "µs", "ns", "hr", "s", "m", "h"}

// numbers replaces numbers, with their dots and colons, by #, a date with its
// time likewise, and durations by #s.
func numbers(s string) string {
	if !strings.ContainsAny(s, "0123456789") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if !isDigit(s[i]) {
			b.WriteByte(s[i])
			i++
			continue
		}
		b.WriteByte('#')
		if n := dateLen(s[i:]); n > 0 {
			i += n
			continue
		}
		i += numberLen(s[i:])
		for unit := unitLen(s[i:]); unit > 0; unit = unitLen(s[i:]) {
			if i += unit; i < len(s) && isDigit(s[i]) {
				i += numberLen(s[i:])
				continue
			}
			b.WriteByte('s')
			break
		}
	}
	return b.String()
}

func numberLen(s string) int {
	i := 0
	for i < len(s) && (isDigit(s[i]) || i+1 < len(s) && strings.IndexByte(".,:", s[i]) >= 0 && isDigit(s[i+1])) {
		i++
	}
	return i
}

// unitLen is the length of the unit of time that s starts with.
func unitLen(s string) int {
	for _, u := range units {
		if strings.HasPrefix(s, u) && (len(s) == len(u) || !isWordByte(s[len(u)]) || isDigit(s[len(u)])) {
			return len(u)
		}
	}
	return 0
}

// dateLen is the length of the date that s starts with, with its time.
func dateLen(s string) int {
	if len(s) < len("2006-01-02") || s[4] != '-' || s[7] != '-' {
		return 0
	}
	for _, i := range [...]int{0, 1, 2, 3, 5, 6, 8, 9} {
		if !isDigit(s[i]) {
			return 0
		}
	}
	n := len("2006-01-02")
	for n < len(s) && strings.IndexByte("0123456789T:.+-Z", s[n]) >= 0 {
		n++
	}
	return n
}

var dayNames = map[string]bool{
	"Mon": true, "Tue": true, "Wed": true, "Thu": true, "Fri": true, "Sat": true, "Sun": true,
	"Jan": true, "Feb": true, "Mar": true, "Apr": true, "May": true, "Jun": true,
	"Jul": true, "Aug": true, "Sep": true, "Oct": true, "Nov": true, "Dec": true,
}

// maskDates replaces names of days and months beside a number.
func maskDates(words []string) {
	mask := func(i, beside int) {
		if beside >= 0 && beside < len(words) && strings.HasPrefix(words[beside], "#") && dayNames[strings.TrimRight(words[i], ",.")] {
			words[i] = "#"
		}
	}
	for i := range words {
		mask(i, i-1)
	}
	for i := len(words) - 1; i >= 0; i-- {
		mask(i, i+1)
	}
}
