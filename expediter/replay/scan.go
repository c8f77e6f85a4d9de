package replay

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// scanner reads JSON without allocating, for inputs of millions of events. It
// accepts what encoding/json accepts, down to maxDepth.
type scanner struct {
	data []byte
	pos  int
}

const maxDepth = 1000

var (
	errRange = errors.New("which does not fit 64 bits")
	errFloat = errors.New("which is no integer")
)

// peek returns the next byte that is no white space; 0 at the end.
func (s *scanner) peek() byte {
	for s.pos < len(s.data) {
		switch c := s.data[s.pos]; c {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return c
		}
	}
	return 0
}

// fail is a syntax error at the next byte.
func (s *scanner) fail(want string) error {
	if s.pos >= len(s.data) {
		return fmt.Errorf("the JSON ends at byte %d; want %s", s.pos, want)
	}
	return fmt.Errorf("byte %d: found %s; want %s", s.pos, s.found(), want)
}

// found is the token that is next, cut, and escaped where it needs it.
func (s *scanner) found() string {
	const most = 24
	first := s.peek()
	if first == '{' || first == '[' {
		return string(first)
	}
	quoted := first == '"'
	end := min(s.pos+1, len(s.data))
	for ; end < len(s.data) && end-s.pos < most; end++ {
		c := s.data[end]
		if quoted && c == '"' {
			end++
			break
		}
		if !quoted && (c == ',' || c == ':' || c == '}' || c == ']' || c <= ' ') {
			break
		}
	}
	token := string(s.data[s.pos:end])
	if strings.ContainsFunc(token, func(r rune) bool { return r < ' ' || r > '~' }) {
		return strconv.QuoteToASCII(token)
	}
	return token
}

// open consumes the sign that begins a list or an object, if it is next.
func (s *scanner) open(sign byte) bool {
	if s.peek() != sign {
		return false
	}
	s.pos++
	return true
}

// more reports whether another item follows in a list or object, and consumes
// the sign before it, or the one that ends it.
func (s *scanner) more(end byte, first bool) (bool, error) {
	switch c := s.peek(); {
	case c == end:
		s.pos++
		return false, nil
	case first:
		return true, nil
	case c == ',':
		s.pos++
		return true, nil
	}
	return false, s.fail("a comma or " + string(end))
}

// key consumes a member's name and the colon.
func (s *scanner) key() ([]byte, error) {
	if s.peek() != '"' {
		return nil, s.fail("a name in quotes")
	}
	key, err := s.text()
	if err != nil {
		return nil, err
	}
	if !s.open(':') {
		return nil, s.fail("a colon")
	}
	return key, nil
}

// text consumes a string and returns it without its quotes and escapes.
func (s *scanner) text() ([]byte, error) {
	begin, escaped := s.pos, false
	for s.pos++; s.pos < len(s.data); s.pos++ {
		switch c := s.data[s.pos]; {
		case c == '"':
			s.pos++
			if escaped {
				return unescape(s.data[begin:s.pos])
			}
			return s.data[begin+1 : s.pos-1], nil
		case c == '\\':
			escaped = true
			s.pos++
		case c < ' ':
			return nil, s.fail("no control characters in a text")
		}
	}
	s.pos = len(s.data)
	return nil, s.fail("the end of a text")
}

func unescape(quoted []byte) ([]byte, error) {
	var text string
	if err := json.Unmarshal(quoted, &text); err != nil {
		return nil, fmt.Errorf("the text %.40q is no JSON: %v", quoted, err)
	}
	return []byte(text), nil
}

// integer consumes a number. errFloat and errRange are numbers that are no
// int64.
func (s *scanner) integer() (int64, error) {
	s.peek()
	begin := s.pos
	if err := s.number(); err != nil {
		return 0, err
	}
	token := s.data[begin:s.pos]
	digits, negative := token, token[0] == '-'
	if negative {
		digits = digits[1:]
	}
	var n uint64
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, errFloat
		}
		if len(digits) < 19 {
			n = n*10 + uint64(c-'0')
		}
	}
	if len(digits) >= 19 {
		v, err := strconv.ParseInt(string(token), 10, 64)
		if err != nil {
			return 0, errRange
		}
		return v, nil
	}
	if negative {
		return -int64(n), nil
	}
	return int64(n), nil
}

// number consumes a number of any form.
func (s *scanner) number() error {
	if s.at('-') {
		s.pos++
	}
	switch {
	case s.at('0'):
		s.pos++
	case s.digits() == 0:
		return s.fail("a number")
	}
	if s.at('.') {
		s.pos++
		if s.digits() == 0 {
			return s.fail("a digit")
		}
	}
	if s.at('e') || s.at('E') {
		s.pos++
		if s.at('+') || s.at('-') {
			s.pos++
		}
		if s.digits() == 0 {
			return s.fail("a digit")
		}
	}
	return nil
}

func (s *scanner) at(c byte) bool { return s.pos < len(s.data) && s.data[s.pos] == c }

func (s *scanner) digits() int {
	begin := s.pos
	for s.pos < len(s.data) && s.data[s.pos] >= '0' && s.data[s.pos] <= '9' {
		s.pos++
	}
	return s.pos - begin
}

// skip consumes a value of any form.
func (s *scanner) skip(depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("byte %d: nested more than %d levels deep; make it flatter", s.pos, maxDepth)
	}
	switch c := s.peek(); {
	case c == '{' || c == '[':
		return s.skipInside(c, depth)
	case c == '"':
		_, err := s.text()
		return err
	case c == '-' || c >= '0' && c <= '9':
		return s.number()
	}
	for _, literal := range [...]string{"true", "false", "null"} {
		if len(s.data)-s.pos >= len(literal) && string(s.data[s.pos:s.pos+len(literal)]) == literal {
			s.pos += len(literal)
			return nil
		}
	}
	return s.fail("a value")
}

func (s *scanner) skipInside(open byte, depth int) error {
	end := open + 2 // ] and } stand two behind [ and {
	s.pos++
	for first := true; ; first = false {
		more, err := s.more(end, first)
		if err != nil || !more {
			return err
		}
		if open == '{' {
			if _, err := s.key(); err != nil {
				return err
			}
		}
		if err := s.skip(depth + 1); err != nil {
			return err
		}
	}
}

// end checks that nothing follows.
func (s *scanner) end() error {
	if s.peek(); s.pos < len(s.data) {
		return s.fail("nothing more")
	}
	return nil
}
