package mcpproxy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/expediter-go/expediter/capability/document"
)

// member is one member of a JSON object. Both parts are the bytes as they came.
type member struct {
	key   string          // decoded
	value json.RawMessage // as it stands
}

var errNotObject = errors.New("not a JSON object")

// members returns the members of the object in raw, in order, their values
// untouched. A key that stands twice is refused: readers disagree on which of
// the two counts, and what is decided must be what is sent.
func members(raw json.RawMessage) ([]member, error) {
	if !json.Valid(raw) {
		return nil, errNotObject
	}
	i := skipSpace(raw, 0)
	if i >= len(raw) || raw[i] != '{' {
		return nil, errNotObject
	}
	ms := make([]member, 0, 8)
	var seen map[string]bool // of many; few are looked through
	for i = skipSpace(raw, i+1); raw[i] != '}'; i = skipSpace(raw, i) {
		if raw[i] == ',' {
			i = skipSpace(raw, i+1)
		}
		end := skipValue(raw, i)
		var m member
		var err error
		if m.key, err = text(raw[i:end]); err != nil {
			return nil, fmt.Errorf("a key of a JSON object: %w", err)
		}
		if seen[m.key] || seen == nil && getMember(ms, m.key) != nil {
			return nil, fmt.Errorf("the key %.64q stands twice in a JSON object", m.key)
		}
		seen = noted(seen, ms, m.key)
		i = skipSpace(raw, skipSpace(raw, end)+1) // the colon
		end = skipValue(raw, i)
		m.value = raw[i:end:end]
		ms = append(ms, m)
		i = end
	}
	return ms, nil
}

// noted adds a key to those seen, once there are many.
func noted(seen map[string]bool, ms []member, key string) map[string]bool {
	if len(ms) < 16 {
		return nil
	}
	if seen == nil {
		seen = map[string]bool{}
		for _, m := range ms {
			seen[m.key] = true
		}
	}
	seen[key] = true
	return seen
}

// text is the string that a JSON string stands for.
func text(raw []byte) (s string, err error) {
	if bytes.IndexByte(raw, '\\') < 0 && utf8.Valid(raw) {
		return string(raw[1 : len(raw)-1]), nil
	}
	err = json.Unmarshal(raw, &s)
	return s, err
}

func skipSpace(raw []byte, i int) int {
	for i < len(raw) && (raw[i] == ' ' || raw[i] == '\t' || raw[i] == '\n' || raw[i] == '\r') {
		i++
	}
	return i
}

// skipValue returns the end of the value that begins at i of valid JSON.
func skipValue(raw []byte, i int) int {
	depth := 0
	for i < len(raw) {
		switch raw[i] {
		case '"':
			i = skipString(raw, i)
			if depth == 0 {
				return i
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth < 0 {
				return i // the end of what holds a number or a word
			}
			if depth == 0 {
				return i + 1
			}
		case ',', ' ', '\t', '\n', '\r':
			if depth == 0 {
				return i
			}
		}
		i++
	}
	return i
}

func skipString(raw []byte, i int) int {
	for i++; raw[i] != '"'; i++ {
		if raw[i] == '\\' {
			i++
		}
	}
	return i + 1
}

// encodeMembers is the object that ms are the members of.
func encodeMembers(ms []member) json.RawMessage {
	n := 2
	for _, m := range ms {
		n += len(m.key) + len(m.value) + 4
	}
	b := bytes.NewBuffer(make([]byte, 0, n))
	b.WriteByte('{')
	for i, m := range ms {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(encode(m.key))
		b.WriteByte(':')
		b.Write(m.value)
	}
	b.WriteByte('}')
	return b.Bytes()
}

// encode is v as JSON, <, > and & as they stand. Values that cannot be encoded
// are never given to it.
func encode(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return json.RawMessage("null")
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// getMember returns the value of the key, nil if there is none.
func getMember(ms []member, key string) json.RawMessage {
	for _, m := range ms {
		if m.key == key {
			return m.value
		}
	}
	return nil
}

// setMember puts value in the place of the key's, or at the end.
func setMember(ms []member, key string, value json.RawMessage) []member {
	for i := range ms {
		if ms[i].key == key {
			ms[i].value = value
			return ms
		}
	}
	return append(ms, member{key: key, value: value})
}

// dropMember takes the key out, and says whether it was there.
func dropMember(ms []member, key string) ([]member, bool) {
	for i := range ms {
		if ms[i].key == key {
			return append(ms[:i:i], ms[i+1:]...), true
		}
	}
	return ms, false
}

// getString returns the string that the key holds.
func getString(ms []member, key string) (string, bool) {
	v := getMember(ms, key)
	if len(v) == 0 || v[0] != '"' {
		return "", false
	}
	s, err := text(v)
	return s, err == nil
}

// flat reports that brackets, those in texts included, are nested no deeper than
// document.MaxDepth.
func flat(data []byte) bool {
	depth := 0
	for _, c := range data {
		switch c {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		if depth > document.MaxDepth {
			return false
		}
	}
	return true
}
