package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// fields are those of a JSON object. A field of another type than the one asked
// for is as good as absent. Of a field that is there twice the last one counts.
type fields map[string]json.RawMessage

// readInput is the JSON object of one hook call.
func readInput(input []byte) (fields, error) {
	if len(input) > MaxInput {
		return nil, fmt.Errorf("%w: longer than %d MiB; the call is not looked at", ErrInput, MaxInput>>20)
	}
	input = bytes.TrimSpace(bytes.TrimPrefix(input, []byte("\xef\xbb\xbf")))
	if len(input) == 0 {
		return nil, fmt.Errorf("%w: none; the command is for an agent's hooks, which write JSON to its standard input", ErrInput)
	}
	if input[0] != '{' {
		return nil, fmt.Errorf("%w: not a JSON object; the command is for an agent's hooks", ErrInput)
	}
	var f fields
	if err := json.Unmarshal(bytes.ToValidUTF8(input, []byte("\uFFFD")), &f); err != nil {
		return nil, fmt.Errorf("%w: not JSON: %w", ErrInput, plainSyntax(err))
	}
	return f, nil
}

// plainSyntax is a JSON error with its place.
func plainSyntax(err error) error {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Errorf("at byte %d: %w", syntax.Offset, err)
	}
	return err
}

// object is the JSON object that raw is, also one inside a JSON string; nil if
// it is none.
func object(raw json.RawMessage) fields {
	if raw = unquoted(raw); len(raw) == 0 || raw[0] != '{' {
		return nil
	}
	var f fields
	if json.Unmarshal(raw, &f) != nil {
		return nil
	}
	return f
}

// unquoted is the JSON in a JSON string; any other value as it is.
func unquoted(raw json.RawMessage) json.RawMessage {
	if text := str(raw); text != "" {
		if inner := bytes.TrimSpace([]byte(text)); len(inner) > 0 && (inner[0] == '{' || inner[0] == '[') && json.Valid(inner) {
			return inner
		}
	}
	return raw
}

// str is the text that raw is, empty for all that is no JSON string.
func str(raw json.RawMessage) string {
	var s string
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// list is the JSON list that raw is, also one inside a JSON string.
func list(raw json.RawMessage) []json.RawMessage {
	var items []json.RawMessage
	if raw = unquoted(raw); len(raw) == 0 || raw[0] != '[' || json.Unmarshal(raw, &items) != nil {
		return nil
	}
	return items
}

func (f fields) object(name string) fields          { return object(f[name]) }
func (f fields) list(name string) []json.RawMessage { return list(f[name]) }

// text is the first of the named fields that is a text and not empty.
func (f fields) text(names ...string) string {
	for _, name := range names {
		if s := str(f[name]); s != "" {
			return s
		}
	}
	return ""
}

// name is text for a name or an id: on one line, and bounded.
func (f fields) name(names ...string) string { return trim(f.text(names...), maxName) }

// ident is name for an id that may also be a number.
func (f fields) ident(names ...string) string {
	for _, name := range names {
		if id := f.name(name); id != "" {
			return id
		}
		if n := json.Number(f[name]); n != "" {
			if _, err := n.Int64(); err == nil {
				return n.String()
			}
		}
	}
	return ""
}

// says reports whether a field is there and is this truth value.
func (f fields) says(name string, value bool) bool {
	return string(f[name]) == strconv.FormatBool(value)
}

// has reports whether all of the fields are there, whatever their values.
func (f fields) has(names ...string) bool {
	for _, name := range names {
		if _, ok := f[name]; !ok {
			return false
		}
	}
	return true
}

// raw is the first of the named fields that is there and not null.
func (f fields) raw(names ...string) json.RawMessage {
	for _, name := range names {
		if v := f[name]; len(v) > 0 && string(v) != "null" {
			return v
		}
	}
	return nil
}

// maxDuration bounds what an agent says a call took.
const maxDuration = 30 * 24 * time.Hour

// milliseconds is how long something took; zero if the fields do not tell.
func (f fields) milliseconds(names ...string) time.Duration {
	for _, name := range names {
		ms, err := strconv.ParseFloat(string(f[name]), 64)
		if err == nil && ms > 0 && !math.IsInf(ms, 0) {
			return time.Duration(min(ms, float64(maxDuration/time.Millisecond)) * float64(time.Millisecond))
		}
	}
	return 0
}

// trim takes control characters off a text and cuts it to so many bytes.
func trim(text string, limit int) string { return cut(strip(text, ""), limit) }

// strip takes out control characters but those that are to stay.
func strip(text, stay string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && !strings.ContainsRune(stay, r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
}

// cut is text in at most so many bytes, whole characters only.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}
