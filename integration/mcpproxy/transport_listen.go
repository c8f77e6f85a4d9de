package mcpproxy

import (
	"errors"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// listen keeps the stream of a legacy session open on which a server sends what
// belongs to no call, until the link ends or the server offers none. The SDK
// opens it for its own clients alone.
func (l *link) listen(client *http.Client) {
	wait := newBackoff()
	for lastID := ""; ; {
		began := time.Now()
		g, again := l.listenOnce(client, lastID)
		if !again {
			return
		}
		if g.lastID != "" {
			lastID = g.lastID
		}
		if time.Since(began) > steady {
			wait.Reset()
		}
		select {
		case <-time.After(max(wait.NextBackOff(), min(g.retry, longestAsked))):
		case <-l.stale:
			return
		case <-l.ctx.Done():
			return
		}
	}
}

// listenOnce reads one stream to its end, and reports whether another may be
// opened. A server that is not there ends the link.
func (l *link) listenOnce(client *http.Client, lastID string) (g got, again bool) {
	resp, err := l.open(l.ctx, client, lastID)
	if err != nil {
		if l.ctx.Err() == nil {
			l.retire(err)
		}
		return got{}, false
	}
	if !isStream(resp) {
		_ = resp.Body.Close()
		if resp.StatusCode == http.StatusNotFound && lastID != "" {
			l.retire(errRetired) // the session is gone, and no call has noticed yet
		}
		return got{}, resp.StatusCode >= 500 || resp.StatusCode == http.StatusTooManyRequests
	}
	g = l.events(l.ctx, resp, jsonrpc.ID{})
	if errors.Is(g.err, errTooLarge) {
		l.log.Warn("an event beyond the limit for results was dropped")
	}
	return g, true
}
