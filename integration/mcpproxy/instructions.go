package mcpproxy

import (
	"context"
	"encoding/json"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// introduceWait is how long a client's handshake waits for the servers, whose
// instructions and capabilities are part of the answer. Those that are not up by
// then are left out: a client gives up on a slow handshake, not on a slow tool.
const introduceWait = 2 * time.Second

// Bounds of instructions, in bytes, and of the capabilities that are added.
const (
	maxInstructions    = 4 << 10 // of one server
	maxAllInstructions = 32 << 10
	maxCapabilities    = 64 << 10
)

// introduce adds to the SDK's answer to a handshake what the servers say of
// themselves.
func (p *Proxy) introduce(ctx context.Context, res mcp.Result, modern bool) mcp.Result {
	p.readyWithin(ctx, introduceWait)
	raw, err := json.Marshal(res)
	if err != nil {
		return res
	}
	ms, err := members(raw)
	if err != nil {
		return res
	}
	if text := p.instructions(); text != "" {
		ms = setMember(ms, "instructions", encode(text))
	}
	ms = setMember(ms, "capabilities", p.capabilities(getMember(ms, "capabilities")))
	raw = encodeMembers(ms)
	if modern {
		raw = completed(raw, true)
	}
	return &rawResult{raw: raw}
}

// instructions are those of all servers, each below its server's name. The texts
// are indented, so that none can pass for another's.
func (p *Proxy) instructions() string {
	var b strings.Builder
	for _, u := range p.ups {
		text := tidy(u.instructions(), maxInstructions)
		if text == "" {
			continue
		}
		name := strings.Map(printable, strings.ReplaceAll(u.name(), "\n", " "))
		part := "Server " + name + ":\n  " + strings.ReplaceAll(text, "\n", "\n  ") + "\n"
		if b.Len() > 0 {
			part = "\n" + part
		}
		if b.Len()+len(part) > maxAllInstructions {
			continue
		}
		b.WriteString(part)
	}
	return b.String()
}

// tidy is a server's text without control characters, cut at limit bytes.
func tidy(text string, limit int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	text = strings.ReplaceAll(text, "\r\n", "\n")
	text = strings.TrimSpace(strings.Map(printable, text))
	if len(text) <= limit {
		return text
	}
	const more = " […]"
	cut := limit - len(more)
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + more
}

// printable drops control characters, and those that change what is seen of the
// others. Other breaks of a line than \n become one.
func printable(r rune) rune {
	switch {
	case r == '\n', r == '\t':
		return r
	case r == '\r', r == '\v', r == '\f', r == '\u0085', r == '\u2028', r == '\u2029':
		return '\n'
	case unicode.IsControl(r), r >= '\u202a' && r <= '\u202e', r >= '\u2066' && r <= '\u2069', r >= 0xe0000 && r <= 0xe007f:
		return -1
	}
	return r
}

// capabilities are the proxy's own, and what servers declare beyond them:
// experimental, extensions, tasks. Where two declare one thing differently, it is
// the first's.
func (p *Proxy) capabilities(own json.RawMessage) json.RawMessage {
	ms, err := members(own)
	if err != nil {
		return own
	}
	for _, u := range p.ups {
		theirs, _ := members(u.capabilities())
		for _, m := range theirs {
			if !ownCapabilities[m.key] {
				ms = setMember(ms, m.key, merge(getMember(ms, m.key), m.value, 4))
			}
		}
		if raw := encodeMembers(ms); len(raw) <= maxCapabilities {
			own = raw
		}
		ms, _ = members(own)
	}
	return own
}

// ownCapabilities are those that the proxy answers for.
var ownCapabilities = map[string]bool{"tools": true, "resources": true, "prompts": true, "completions": true, "logging": true}

// merge is a with what of b it lacks, to a depth.
func merge(a, b json.RawMessage, depth int) json.RawMessage {
	if a == nil {
		return b
	}
	as, aerr := members(a)
	bs, berr := members(b)
	if aerr != nil || berr != nil || depth == 0 {
		return a
	}
	for _, m := range bs {
		as = setMember(as, m.key, merge(getMember(as, m.key), m.value, depth-1))
	}
	return encodeMembers(as)
}
