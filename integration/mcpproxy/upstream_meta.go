package mcpproxy

import (
	"bytes"
	"encoding/json"
	"runtime/debug"
	"slices"
	"strconv"
)

// The revisions of the protocol. Those before stateless have sessions.
const (
	newestLegacy = "2025-11-25"
	stateless    = "2026-07-28"
)

var legacyVersions = []string{"2024-11-05", "2025-03-26", "2025-06-18", newestLegacy}

// What each request of 2026-07-28 says in its _meta.
const (
	metaPrefix       = "io.modelcontextprotocol/"
	metaVersion      = metaPrefix + "protocolVersion"
	metaClient       = metaPrefix + "clientInfo"
	metaCapabilities = metaPrefix + "clientCapabilities"
	metaLogLevel     = metaPrefix + "logLevel"
	metaSubscription = metaPrefix + "subscriptionId"
)

// self is what the proxy calls itself to servers.
var self = func() json.RawMessage {
	version := "devel"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		version = info.Main.Version
	}
	raw, _ := json.Marshal(map[string]string{"name": "expediter", "version": version})
	return raw
}()

// offered is what the proxy can do for the servers of an old revision, if
// somebody answers their requests. Servers of 2026-07-28 are told what the
// client of each request can do.
var offered = json.RawMessage(`{"roots":{"listChanged":true},"sampling":{},"elicitation":{"form":{},"url":{}}}`)

// outbound makes params fit for this link: the progress token is the call's own
// id, and _meta speaks the server's revision, not the client's.
func (l *link) outbound(params json.RawMessage, id int64, p *pending) json.RawMessage {
	meta := field(params, "_meta")
	changed := meta
	if p.token != nil || p.wanted {
		changed = with(changed, "progressToken", strconv.AppendInt(nil, id, 10))
	}
	if l.modern() {
		changed = l.statelessMeta(changed)
	} else if bytes.Contains(changed, []byte(metaPrefix)) {
		changed = without(changed, metaVersion, metaClient, metaCapabilities, metaLogLevel)
	}
	if bytes.Equal(meta, changed) {
		return params
	}
	return with(params, "_meta", changed)
}

func (l *link) statelessMeta(meta json.RawMessage) json.RawMessage {
	quoted, _ := json.Marshal(l.version)
	meta = with(meta, metaVersion, quoted)
	if field(meta, metaClient) == nil {
		meta = with(meta, metaClient, self)
	}
	if field(meta, metaCapabilities) == nil {
		meta = with(meta, metaCapabilities, []byte("{}"))
	}
	if level := l.logLevel.Load(); level != nil && field(meta, metaLogLevel) == nil {
		quoted, _ := json.Marshal(*level)
		meta = with(meta, metaLogLevel, quoted)
	}
	return meta
}

// knownLegacy returns the newest old revision of a list; empty: none is known.
func knownLegacy(list []string) string {
	for _, v := range slices.Backward(legacyVersions) {
		if slices.Contains(list, v) {
			return v
		}
	}
	return ""
}
