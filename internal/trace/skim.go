package trace

import (
	"bytes"
	"errors"
)

// The functions here look into JSON without decoding it: recordings are large,
// and little of a record matters. They are sure of strings and brackets, and
// lenient in what lies between.

// errNoJSON is a record that is no JSON, or not the JSON that was asked for.
var errNoJSON = errors.New("no JSON of the expected kind")

// maxSkim bounds the depth of what is passed over.
const maxSkim = 10000

// eachField hands the members of an object to f. Keys are without their quotes,
// escapes in them are left. A duplicate comes twice.
func eachField(raw []byte, f func(key, value []byte)) error {
	p := blanks(raw, 0)
	if p >= len(raw) || raw[p] != '{' {
		return errNoJSON
	}
	p = blanks(raw, p+1)
	for first := true; ; first = false {
		if p < len(raw) && raw[p] == '}' && first {
			return atEnd(raw, p+1)
		}
		start := p
		if p >= len(raw) || raw[p] != '"' {
			return errNoJSON
		}
		if p = skipString(raw, p); p < 0 {
			return errNoJSON
		}
		key := raw[start+1 : p-1]
		if p = blanks(raw, p); p >= len(raw) || raw[p] != ':' {
			return errNoJSON
		}
		start = blanks(raw, p+1)
		if p = skipValue(raw, start); p < 0 {
			return errNoJSON
		}
		f(key, raw[start:p])
		if p = blanks(raw, p); p >= len(raw) {
			return errNoJSON
		}
		switch raw[p] {
		case '}':
			return atEnd(raw, p+1)
		case ',':
			p = blanks(raw, p+1)
		default:
			return errNoJSON
		}
	}
}

// eachElement hands the elements of an array to f.
func eachElement(raw []byte, f func(value []byte)) error {
	p := blanks(raw, 0)
	if p >= len(raw) || raw[p] != '[' {
		return errNoJSON
	}
	p = blanks(raw, p+1)
	for first := true; ; first = false {
		if p < len(raw) && raw[p] == ']' && first {
			return atEnd(raw, p+1)
		}
		start := p
		if p = skipValue(raw, start); p < 0 {
			return errNoJSON
		}
		f(raw[start:p])
		if p = blanks(raw, p); p >= len(raw) {
			return errNoJSON
		}
		switch raw[p] {
		case ']':
			return atEnd(raw, p+1)
		case ',':
			p = blanks(raw, p+1)
		default:
			return errNoJSON
		}
	}
}

func atEnd(raw []byte, p int) error {
	if blanks(raw, p) != len(raw) {
		return errNoJSON
	}
	return nil
}

func blanks(raw []byte, p int) int {
	for p < len(raw) && (raw[p] == ' ' || raw[p] == '\t' || raw[p] == '\n' || raw[p] == '\r') {
		p++
	}
	return p
}

// What the skip functions return in place of an index.
const (
	cutShort = -1 // more bytes might complete the value
	wrong    = -2
)

// skipValue returns the index after the value at p, or that it is cut short or
// wrong.
func skipValue(raw []byte, p int) int {
	if p >= len(raw) {
		return cutShort
	}
	switch raw[p] {
	case '"':
		return skipString(raw, p)
	case '{', '[':
		return skipNested(raw, p)
	}
	end := p
	for end < len(raw) && isScalar[raw[end]] {
		end++
	}
	if end == p {
		return wrong
	}
	return end
}

// isScalar are the bytes of numbers, true, false and null.
var isScalar = func() (set [256]bool) {
	for _, c := range []byte("+-.0123456789Eaeflnrstu") {
		set[c] = true
	}
	return set
}()

// skipString returns the index after the string that begins at p.
func skipString(raw []byte, p int) int {
	for p++; ; {
		n := bytes.IndexByte(raw[p:], '"')
		if n < 0 {
			return cutShort
		}
		end := p + n
		escapes := 0
		for end-1-escapes >= p && raw[end-1-escapes] == '\\' {
			escapes++
		}
		if p = end + 1; escapes%2 == 0 {
			return p
		}
	}
}

// skipNested returns the index after the object or array that begins at p.
func skipNested(raw []byte, p int) int {
	var kinds [64]byte
	open := kinds[:0]
	for p < len(raw) {
		switch c := raw[p]; c {
		case '"':
			if p = skipString(raw, p); p < 0 {
				return p
			}
			continue
		case '{', '[':
			if len(open) >= maxSkim {
				return wrong
			}
			open = append(open, c+2) // the sign that closes it
		case '}', ']':
			if open[len(open)-1] != c {
				return wrong
			}
			if open = open[:len(open)-1]; len(open) == 0 {
				return p + 1
			}
		}
		p++
	}
	return cutShort
}
