package mcpproxy

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"go.uber.org/zap"
)

const maxResumes = 5 // of a call's stream, one after the other without news

// lateCancel gives a stream the time to end behind its answer, so that its
// connection can be used again, and no more.
func lateCancel(cancel context.CancelFunc) { time.AfterFunc(drainAfter, cancel) }

// got is what a stream had when it ended.
type got struct {
	lastID string        // of its events; empty: none had one
	retry  time.Duration // when the server wants to be asked again; 0: it does not say
	done   bool          // the answer was there
	err    error
}

// follow hands over what is on a call's stream until its answer is there. A
// stream of an old revision that ends before is resumed if it can be.
func (l *link) follow(ctx context.Context, x *exchange, id jsonrpc.ID) {
	resp, lastID := x.stream, ""
	wait := newBackoff()
	for tries := 0; ; tries++ {
		var g got
		if resp != nil {
			g = l.events(ctx, resp, id)
		}
		switch {
		case g.done || ctx.Err() != nil:
			return
		case errors.Is(g.err, errTooLarge):
			x.fail(g.err)
			return
		case g.lastID != "" && g.lastID != lastID:
			lastID, tries = g.lastID, 0
		}
		if lastID == "" || l.modern() || tries >= maxResumes {
			x.fail(fmt.Errorf("%w: its stream ended without an answer: %w", errLost, unlessEOF(g.err)))
			return
		}
		pause(ctx, min(max(g.retry, 0), longestAsked))
		if g.retry == 0 {
			pause(ctx, wait.NextBackOff())
		}
		var err error
		if resp, err = l.open(ctx, l.web.client(), lastID); err == nil && !isStream(resp) {
			_ = resp.Body.Close()
			resp = nil
		}
	}
}

func unlessEOF(err error) error {
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return io.ErrUnexpectedEOF
}

func isStream(resp *http.Response) bool {
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return resp.StatusCode == http.StatusOK && kind == "text/event-stream"
}

// open asks for a stream by GET: the one behind lastID, or that of what belongs
// to no call.
func (l *link) open(ctx context.Context, client *http.Client, lastID string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, l.web.endpoint.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "text/event-stream")
	if session := l.conn.SessionID(); session != "" {
		req.Header.Set("Mcp-Session-Id", session)
	}
	if lastID != "" {
		req.Header.Set("Last-Event-ID", lastID)
	}
	return client.Do(req)
}

// events hands over the messages of a stream and closes it. ctx is that of the
// call that it belongs to, id the call's; the zero id: none.
func (l *link) events(ctx context.Context, resp *http.Response, id jsonrpc.ID) (g got) {
	defer resp.Body.Close()
	in := lines{r: bufio.NewReaderSize(resp.Body, 16<<10), limit: l.web.limit}
	var data [][]byte
	var size int64
	for {
		next, err := in.next()
		if err != nil {
			g.err = err
			return g
		}
		if size += int64(len(next.data)); next.tooLong || size > l.web.limit {
			g.err = errTooLarge
			return g
		}
		text := bytes.TrimRight(next.data, "\r\n")
		key, val, _ := bytes.Cut(text, []byte(":"))
		val = bytes.TrimPrefix(val, []byte(" "))
		switch string(key) {
		case "data":
			data = append(data, val)
		case "id":
			g.lastID = string(val)
		case "retry":
			if ms, err := strconv.Atoi(string(val)); err == nil {
				g.retry = time.Duration(ms) * time.Millisecond
			}
		}
		if len(text) == 0 {
			g.done = l.event(ctx, joined(data), id) || g.done
			data, size = nil, 0
		}
	}
}

// joined is the data of an event, without a copy if it is one line.
func joined(data [][]byte) []byte {
	if len(data) == 1 {
		return data[0]
	}
	return bytes.Join(data, []byte("\n"))
}

// event hands over the messages of one event, and reports whether the call's
// answer was among them.
func (l *link) event(ctx context.Context, data []byte, id jsonrpc.ID) (answered bool) {
	if len(data) == 0 {
		return false
	}
	list, err := decode(data)
	if err != nil {
		l.log.Warn("an event that is no message was skipped", zap.Error(err))
		if resp := (line{data: data}).unreadable(err); resp != nil {
			list = append(list, resp)
		}
	}
	for _, msg := range list {
		resp, ok := msg.(*jsonrpc.Response)
		answered = answered || ok && id.IsValid() && resp.ID == id
		l.handle(ctx, msg)
	}
	return answered
}
