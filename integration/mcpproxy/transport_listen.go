package mcpproxy

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"mime"
	"net/http"
	"time"

	"go.uber.org/zap"
)

// lateCancel gives the SDK the time to read a stream to its end, so that its
// connection can be used again, and no more.
func lateCancel(cancel context.CancelFunc) { time.AfterFunc(drainAfter, cancel) }

// listen keeps the stream of a legacy session open on which a server sends what
// belongs to no call, until the link ends or the server offers none. The SDK
// opens it for its own clients alone.
func (l *link) listen(client *http.Client) {
	wait := newBackoff()
	for lastID := ""; ; {
		began := time.Now()
		id, again := l.listenOnce(client, lastID)
		if !again {
			return
		}
		if id != "" {
			lastID = id
		}
		if time.Since(began) > steady {
			wait.Reset()
		}
		select {
		case <-time.After(wait.NextBackOff()):
		case <-l.stale:
			return
		case <-l.ctx.Done():
			return
		}
	}
}

// listenOnce reads one stream to its end. It returns the last event's id, and
// whether another may be opened.
func (l *link) listenOnce(client *http.Client, lastID string) (id string, again bool) {
	req, err := http.NewRequestWithContext(l.ctx, http.MethodGet, l.web.endpoint.String(), nil)
	if err != nil {
		return "", false
	}
	req.Header.Set("Accept", "text/event-stream")
	if session := l.conn.SessionID(); session != "" {
		req.Header.Set("Mcp-Session-Id", session)
	}
	if lastID != "" {
		req.Header.Set("Last-Event-ID", lastID)
	}
	resp, err := client.Do(req)
	if err != nil {
		return "", l.lost(err)
	}
	defer resp.Body.Close()
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if resp.StatusCode != http.StatusOK || kind != "text/event-stream" {
		if resp.StatusCode == http.StatusNotFound && lastID != "" {
			l.retire(errRetired) // the session is gone, and no call has noticed yet
		}
		return "", resp.StatusCode >= 500 || resp.StatusCode == http.StatusTooManyRequests
	}
	id, err = l.events(resp)
	if errors.Is(err, errTooLarge) {
		l.log.Warn("an event beyond the limit for results was dropped")
	}
	return id, true
}

// lost reports whether the link goes on after its stream could not be opened;
// a server that is not there ends it.
func (l *link) lost(err error) bool {
	if l.ctx.Err() == nil {
		l.retire(err)
	}
	return false
}

// events hands over the messages of a stream.
func (l *link) events(resp *http.Response) (id string, err error) {
	in := lines{r: bufio.NewReaderSize(resp.Body, 16<<10), limit: l.web.limit}
	var data [][]byte
	var size int64
	for {
		next, err := in.next()
		if err != nil {
			return id, err
		}
		if size += int64(len(next.data)); next.tooLong || size > l.web.limit {
			return id, errTooLarge
		}
		text := bytes.TrimRight(next.data, "\r\n")
		key, val, _ := bytes.Cut(text, []byte(":"))
		val = bytes.TrimPrefix(val, []byte(" "))
		switch {
		case len(text) == 0:
			l.event(bytes.Join(data, []byte("\n")))
			data, size = nil, 0
		case string(key) == "data":
			data = append(data, val)
		case string(key) == "id":
			id = string(val)
		}
	}
}

func (l *link) event(data []byte) {
	if len(data) == 0 {
		return
	}
	list, err := decode(data)
	if err != nil {
		l.log.Warn("an event that is no message was skipped", zap.Error(err))
	}
	for _, msg := range list {
		l.handle(msg)
	}
}
