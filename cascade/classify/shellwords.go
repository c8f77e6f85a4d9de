package classify

import (
	"slices"
	"strings"
)

// words reads a text that is no valid shell, or PowerShell: the first command
// that does not only prepare. Whose exit code it ends with cannot be told.
func (r *reader) words(text string, powerShell bool) exits {
	if r.depth >= maxDepth {
		return several
	}
	r.depth++
	defer func() { r.depth-- }()
	for _, words := range split(head(text, maxCommand), powerShell) {
		for len(words) > 0 && leading[words[0]] {
			words = words[1:]
		}
		if powerShell {
			words = withoutTarget(words)
		}
		if len(words) > 0 {
			r.argv(words)
		}
		if r.found {
			break
		}
	}
	return several
}

// leading are words that a command follows.
var leading = map[string]bool{"then": true, "do": true, "else": true, "try": true, "!": true, "time": true}

// withoutTarget is what PowerShell's $x = COMMAND runs; a value of .NET is
// nothing that runs.
func withoutTarget(words []string) []string {
	if len(words) > 0 && strings.HasPrefix(words[0], "[") {
		return nil
	}
	if len(words) > 1 && words[1] == "=" {
		return words[2:]
	}
	return words
}

// split cuts shell text into its commands and their words. It ends before an
// open quote, and before the body of a here-document.
func split(text string, powerShell bool) [][]string {
	s := splitter{text: text, escape: '\\'}
	if powerShell {
		s.escape = '`'
	}
	for s.at < len(s.text) && s.next() {
	}
	s.endCommand()
	return s.commands
}

type splitter struct {
	text     string
	at       int
	escape   byte
	word     []byte
	inWord   bool
	words    []string
	commands [][]string
}

// next takes what comes next, and reports whether the rest can be read.
func (s *splitter) next() bool {
	c := s.text[s.at]
	s.at++
	switch {
	case c == ' ' || c == '\t' || c == '\r':
		s.endWord()
	case c == s.escape:
		if s.at < len(s.text) && s.text[s.at] != '\n' && s.text[s.at] != '\r' {
			s.word, s.inWord = append(s.word, s.text[s.at]), true
		}
		s.at++
	case c == '\'' || c == '"':
		end := strings.IndexByte(s.text[s.at:], c)
		if end < 0 {
			s.word, s.inWord = nil, false
			return false
		}
		s.word, s.inWord = append(s.word, s.text[s.at:s.at+end]...), true
		s.at += end + 1
	case c == '<' || c == '>':
		return s.redirection()
	case c == '#' && !s.inWord:
		if end := strings.IndexByte(s.text[s.at:], '\n'); end >= 0 {
			s.at += end
		} else {
			s.at = len(s.text)
		}
	case strings.IndexByte("|;&\n(){}", c) >= 0:
		s.endCommand()
	default:
		s.word, s.inWord = append(s.word, c), true
	}
	return true
}

func (s *splitter) endWord() {
	if s.inWord {
		s.words = append(s.words, string(s.word))
	}
	s.word, s.inWord = s.word[:0], false
}

func (s *splitter) endCommand() {
	s.endWord()
	if len(s.words) > 0 {
		s.commands = append(s.commands, slices.Clone(s.words))
	}
	s.words = s.words[:0]
}

// redirection skips one with its target. A here-document ends the reading.
func (s *splitter) redirection() bool {
	if strings.Trim(string(s.word), "0123456789&") == "" {
		s.word, s.inWord = s.word[:0], false
	}
	s.endWord()
	if strings.HasPrefix(s.text[s.at-1:], "<<") {
		return false
	}
	rest := strings.TrimLeft(s.text[s.at:], "<>&|")
	rest = strings.TrimLeft(rest, " ")
	if end := strings.IndexAny(rest, " \t\r\n|;&<>()"); end >= 0 {
		rest = rest[end:]
	} else {
		rest = ""
	}
	s.at = len(s.text) - len(rest)
	return true
}
