package mcpproxy

import (
	"bytes"
	"encoding/json"
	"runtime/debug"
	"slices"
	"strconv"
)

// The revisions of the protocol. Those before newest have sessions; newest has
// none, and is told by the _meta of each request.
const (
	newestLegacy = "2025-11-25"
	newest       = "2026-07-28"
)

var legacyVersions = []string{"2024-11-05", "2025-03-26", "2025-06-18", newestLegacy}

// What requests and results of 2026-07-28 say in their _meta.
const (
	metaPrefix       = "io.modelcontextprotocol/"
	metaVersion      = metaPrefix + "protocolVersion"
	metaClient       = metaPrefix + "clientInfo"
	metaServer       = metaPrefix + "serverInfo"
	metaCapabilities = metaPrefix + "clientCapabilities"
	metaLogLevel     = metaPrefix + "logLevel"
	metaSubscription = metaPrefix + "subscriptionId"
)

// self is what the proxy calls itself to servers.
var self = encode(map[string]string{"name": "expediter", "version": ownVersion()})

// ownVersion is the version of the module that the proxy was built from.
func ownVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "devel"
}

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
	meta = with(meta, metaVersion, encode(l.version))
	if field(meta, metaClient) == nil {
		meta = with(meta, metaClient, self)
	}
	if field(meta, metaCapabilities) == nil {
		meta = with(meta, metaCapabilities, []byte("{}"))
	}
	if level := l.logLevel.Load(); level != nil && field(meta, metaLogLevel) == nil {
		meta = with(meta, metaLogLevel, encode(*level))
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
