package operator

import (
	"slices"
	"strings"
)

// words reads a text that is no valid Bash: command by command, as words.
func (r *reader) words(text string, escape byte) {
	if !r.enter() {
		return
	}
	defer r.leave()
	if _, call, ok := strings.Cut(strings.ToLower(text), "::setenvironmentvariable"); ok && strings.Contains(call, strings.ToLower(Variable)) {
		r.find(setsVariable)
	}
	s := splitter{text: text, escape: escape}
	for s.at < len(s.text) {
		s.next()
	}
	s.endCommand(0)
	in, out := r.stdin, flow{}
	for _, c := range s.commands {
		if r.stdin = in; c.input != "" {
			r.stdin = flow{c.input, true}
		} else if c.piped {
			r.stdin = out
		}
		out = r.loose(c.words)
	}
	r.stdin = in
}

// leading are words that a command follows.
const leading = "if then do else elif while until try ! time & begin end and or not done fi esac function process finally catch"

// loose reads one command of such a text.
func (r *reader) loose(words []string) flow {
	for len(words) > 0 && (words[0] == "" || listed(leading, strings.ToLower(words[0]))) {
		words = words[1:]
	}
	if len(words) == 0 || r.environment(words) {
		return flow{}
	}
	if name, ok := strings.CutPrefix(words[0], "$"); ok && len(words) > 2 && words[1] == "=" { // PowerShell
		r.set(name, strings.Join(words[2:], " "))
		return r.run(words[2:])
	}
	expanded := make([]string, 0, len(words))
	for _, w := range words {
		if inner, ok := strings.CutPrefix(w, "$("); ok {
			r.text(strings.TrimSuffix(inner, ")"))
		}
		if name, ok := strings.CutPrefix(w, "$"); ok {
			w, _ = r.get(strings.Trim(name, "{}"))
			expanded = append(expanded, strings.Fields(w)...)
			continue
		}
		if before, inner, ok := strings.Cut(w, "$("); ok && before != "" {
			r.text(strings.TrimSuffix(inner, ")"))
		}
		expanded = append(expanded, w)
	}
	for len(expanded) > 0 && isAssignment(expanded[0]) {
		r.setting(expanded[0])
		expanded = expanded[1:]
	}
	return r.run(expanded)
}

// loosely is one command of a text, as words.
type loosely struct {
	words []string
	input string // of a here-document
	piped bool
}

// splitter cuts a text into commands and their words.
type splitter struct {
	text     string
	at       int
	escape   byte
	word     []byte
	inWord   bool
	words    []string
	piped    bool
	inputs   []string // delimiters of the here-documents of this line
	open     [256]bool
	commands []loosely
}

// next takes what comes next.
func (s *splitter) next() {
	c := s.text[s.at]
	s.at++
	switch {
	case c == ' ' || c == '\t' || c == '\r':
		s.endWord()
	case c == s.escape:
		if s.at < len(s.text) && s.text[s.at] != '\n' && s.text[s.at] != '\r' {
			s.add(s.text[s.at : s.at+1])
		}
		s.at++
	case (c == '\'' || c == '"') && !s.open[c]:
		end := strings.IndexByte(s.text[s.at:], c)
		if end < 0 {
			s.open[c] = true // no other of its kind follows
			return
		}
		s.add(s.text[s.at : s.at+end])
		s.at += end + 1
	case c == '<' || c == '>':
		s.redirection()
	case c == '#' && !s.inWord:
		if end := strings.IndexByte(s.text[s.at:], '\n'); end >= 0 {
			s.at += end
		} else {
			s.at = len(s.text)
		}
	case c == '$' && strings.HasPrefix(s.text[s.at:], "{"):
		if end := strings.IndexByte(s.text[s.at:min(s.at+200, len(s.text))], '}'); end >= 0 {
			s.add("$" + s.text[s.at+1:s.at+end])
			s.at += end + 1
		}
	case c == '\n':
		s.endCommand(c)
		s.documents()
	case strings.IndexByte("|;&(){}", c) >= 0:
		s.endCommand(c)
	default:
		s.add(string([]byte{c}))
	}
}

func (s *splitter) add(text string) {
	s.word, s.inWord = append(s.word, text...), true
}

func (s *splitter) endWord() {
	if s.inWord {
		s.words = append(s.words, string(s.word))
	}
	s.word, s.inWord = s.word[:0], false
}

// endCommand ends a command before the byte c.
func (s *splitter) endCommand(c byte) {
	s.endWord()
	if len(s.words) > 0 {
		s.commands = append(s.commands, loosely{words: slices.Clone(s.words), piped: s.piped})
		s.piped = c == '|'
	}
	s.words = s.words[:0]
}

// redirection skips one with its target, and notes a here-document.
func (s *splitter) redirection() {
	if strings.Trim(string(s.word), "0123456789&") == "" {
		s.word, s.inWord = s.word[:0], false
	}
	s.endWord()
	operator := s.text[s.at-1:]
	rest := strings.TrimLeft(operator, "<>&|")
	document := strings.HasPrefix(operator, "<<") && len(operator)-len(rest) == 2
	rest = strings.TrimLeft(rest, " -")
	end := strings.IndexAny(rest, " \t\r\n|;&<>()")
	if end < 0 {
		end = len(rest)
	}
	if target := strings.Trim(rest[:end], `'"\`); document && target != "" {
		s.inputs = append(s.inputs, target)
	}
	s.at = len(s.text) - len(rest) + end
}

// documents takes the bodies of the line's here-documents.
func (s *splitter) documents() {
	for _, delimiter := range s.inputs {
		from := s.at
		for s.at < len(s.text) {
			line, _, _ := strings.Cut(s.text[s.at:], "\n")
			begin := s.at
			s.at = min(s.at+len(line)+1, len(s.text))
			if strings.Trim(line, "\t\r") == delimiter {
				if n := len(s.commands); n > 0 {
					s.commands[n-1].input = s.text[from:begin]
				}
				break
			}
		}
	}
	s.inputs = s.inputs[:0]
}
