package capability

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"

	"github.com/expediter-go/expediter/internal/pattern"
)

// WriteYAML writes the map as a file that Read reads back unchanged, laid out
// for people to edit. An invalid map is an error, and nothing is written.
func (m Map) WriteYAML(w io.Writer) error {
	if err := m.Validate(); err != nil {
		return err
	}
	var b bytes.Buffer
	b.WriteString("capability_map:")
	if len(m) == 0 {
		b.WriteString(" []\n")
	}
	for _, e := range m {
		b.WriteString("\n")
		if err := e.writeYAML(&b); err != nil {
			return err
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

func (e Entry) writeYAML(b *bytes.Buffer) error {
	fmt.Fprintf(b, "  - tool: %s\n", name(e.Tool))
	if e.Provides != "" {
		fmt.Fprintf(b, "    provides: %s\n", name(e.Provides))
	}
	b.WriteString("    alternatives:")
	if len(e.Alternatives) == 0 {
		b.WriteString(" []")
	}
	b.WriteString("\n")
	for _, a := range e.Alternatives {
		a.writeYAML(b)
	}
	line(b, "    fallback", e.Fallback)
	if len(e.Shares) > 0 {
		b.WriteString("    shares:\n")
		for _, s := range e.Shares {
			fmt.Fprintf(b, "      - %s\n", name(s))
		}
	}
	line(b, "    known_issues", e.KnownIssues)
	return e.writeRest(b)
}

func (a Alternative) writeYAML(b *bytes.Buffer) {
	fmt.Fprintf(b, "      - tool: %s\n", name(a.Tool))
	line(b, "        method", a.Method)
	line(b, "        degradation", a.Degradation)
	if a.Level != LevelUndeclared {
		fmt.Fprintf(b, "        level: %s\n", a.Level)
	}
	if a.SameAuthority {
		b.WriteString("        same_authority: true\n")
	}
	if a.Passthrough {
		b.WriteString("        passthrough: true\n")
	}
}

// writeRest writes the keys that are no texts, in one line each: words as they
// are, policy and classify as JSON, which is YAML too.
func (e Entry) writeRest(b *bytes.Buffer) error {
	e.Tool, e.Provides, e.Alternatives, e.Fallback, e.Shares, e.KnownIssues = "", "", nil, "", nil, ""
	data, err := json.Marshal(e)
	if err != nil {
		return err
	}
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(data, &keys); err != nil {
		return err
	}
	for _, key := range []string{"freshness", "side_effects", "no_substitute", "initial", "policy", "classify"} {
		if value, ok := keys[key]; ok {
			fmt.Fprintf(b, "    %s: %s\n", key, inline(value))
		}
	}
	return nil
}

// inline spaces JSON out as people write flow YAML, and escapes what YAML
// forbids and JSON does not.
func inline(value json.RawMessage) string {
	var b strings.Builder
	quoted, escaped := false, false
	for _, r := range string(value) {
		switch {
		case !unicode.IsPrint(r):
			fmt.Fprintf(&b, `\U%08x`, r)
		case !quoted && (r == ',' || r == ':'):
			b.WriteRune(r)
			b.WriteByte(' ')
		default:
			b.WriteRune(r)
		}
		if r == '"' && !escaped {
			quoted = !quoted
		}
		escaped = r == '\\' && !escaped
	}
	return b.String()
}

// line writes a text in quotes; an empty one is left out.
func line(b *bytes.Buffer, key, text string) {
	if text != "" {
		fmt.Fprintf(b, "%s: %s\n", key, strconv.Quote(text))
	}
}

var (
	plainYAML = pattern.New(`^[A-Za-z][A-Za-z0-9_./()-]*(?:,? [A-Za-z0-9_./()-]+)*$`)
	wordsYAML = pattern.New(`^(?i:y|yes|n|no|on|off|true|false|null)$`)
)

// name writes a short text without quotes where YAML reads it as it is.
func name(text string) string {
	if plainYAML.RE().MatchString(text) && !wordsYAML.RE().MatchString(text) {
		return text
	}
	return strconv.Quote(text)
}
