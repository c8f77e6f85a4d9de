package trace

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// textOf is a string's text; "" for another value.
func textOf(raw []byte) string {
	if len(raw) < 2 || raw[0] != '"' {
		return ""
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1])
	}
	var text string
	_ = json.Unmarshal(raw, &text) // what cannot be read is empty
	return text
}

// maxWhole is the longest text that is decoded as a whole, in bytes.
const maxWhole = 256 << 10

// endsOf is textOf for a text of which the beginning and the end are enough:
// the middle of a long one is left out.
func endsOf(raw []byte) string {
	if len(raw) <= maxWhole || raw[0] != '"' {
		return textOf(raw)
	}
	end, start := outsideEscape(raw, maxWhole/4), outsideEscape(raw, len(raw)-maxWhole/4)
	if end < 0 || start < 0 {
		return textOf(raw)
	}
	return textOf(append(bytes.Clone(raw[:end]), '"')) + " … " + textOf(append([]byte{'"'}, raw[start:]...))
}

// outsideEscape is the first place from p on where a text can be cut: none of
// the bytes before it may be the beginning of an escape, or of a pair of them.
func outsideEscape(raw []byte, p int) int {
	const longest = len(`\ud83d\ude00`)
	for limit := p + maxWhole/4; p < limit; p++ {
		i := bytes.LastIndexByte(raw[p-longest:p], '\\')
		if i < 0 {
			return p
		}
		p += i // further on it may be gone
	}
	return -1
}

// fieldOf is the value of an object's member; nil if it has none or is no object.
func fieldOf(raw []byte, name string) []byte {
	var found []byte
	_ = eachField(raw, func(key, value []byte) {
		if string(key) == name {
			found = value
		}
	})
	return found
}

// numberOf is an integer; 0 for another value.
func numberOf(raw []byte) int64 {
	n, _ := strconv.ParseInt(string(raw), 10, 64)
	return n
}

func isTrue(raw []byte) bool { return string(raw) == "true" }

// scalar is a text, a number or a truth as a text; empty for anything else.
func scalar(raw json.RawMessage) string {
	raw = bytes.TrimSpace(raw)
	var text string
	switch {
	case len(raw) == 0 || raw[0] == '{' || raw[0] == '[' || string(raw) == "null":
		return ""
	case json.Unmarshal(raw, &text) == nil:
		return strings.TrimSpace(text)
	default:
		return string(raw)
	}
}

// unquoted is the JSON in a text; other JSON as it is.
func unquoted(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 || raw[0] != '"' {
		return raw
	}
	var text string
	if json.Unmarshal(raw, &text) != nil || !json.Valid([]byte(text)) {
		return raw
	}
	return json.RawMessage(text)
}

// contentText is the text of a message's content, or of any other value its own
// JSON.
func contentText(raw json.RawMessage) string {
	if text, ok := partsText(raw); ok {
		return text
	}
	return string(raw)
}

// partsText is the text of a content that is a text, parts of which some are
// text, or null; ok is false for any other value. Of a long text it is both ends.
func partsText(raw json.RawMessage) (text string, ok bool) {
	if len(raw) == 0 || raw[0] == '"' || string(raw) == "null" {
		return endsOf(raw), true
	}
	var texts []string
	ok = true
	err := eachElement(raw, func(part []byte) {
		ok = ok && part[0] == '{'
		if text := endsOf(fieldOf(part, "text")); text != "" {
			texts = append(texts, text)
		}
	})
	return strings.Join(texts, "\n"), ok && err == nil
}
