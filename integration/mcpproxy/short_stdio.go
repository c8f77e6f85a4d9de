package mcpproxy

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxShortLine bounds the requests that go past the SDK: it is the buffer that
// lines are read through.
const maxShortLine = 64 << 10

// newTee is the transport of one client on in and out.
func newTee(ctx context.Context, p *Proxy, in io.ReadCloser, out io.Writer) *teeTransport {
	r, w := io.Pipe()
	t := &teeTransport{p: p, ctx: ctx, in: in, out: &wholeWrites{w: out}, feed: w}
	t.Transport = &mcp.IOTransport{Reader: newClientLines(fedReader{r, in}, t.out), Writer: t.out, MaxLineLength: -1}
	return t
}

// result writes the message of a result. A message is one line.
func (w *wholeWrites) result(id, raw json.RawMessage) error {
	if bytes.ContainsAny(raw, "\r\n") {
		var b bytes.Buffer
		if err := json.Compact(&b, raw); err != nil {
			return err
		}
		raw = b.Bytes()
	}
	head, tail := resultMessage(id)
	tail = append(tail, '\n')
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(raw) <= maxShortLine {
		_, err := w.w.Write(append(append(head, raw...), tail...))
		return err
	}
	_, err := w.w.Write(head)
	if err == nil {
		_, err = w.w.Write(raw)
	}
	if err == nil {
		_, err = w.w.Write(tail)
	}
	return err
}

// fedReader is what the SDK reads of the client.
type fedReader struct {
	*io.PipeReader
	in io.Closer
}

func (f fedReader) Close() error { return errors.Join(f.PipeReader.Close(), f.in.Close()) }

// split hands what comes in to the SDK, but for short calls.
func (c *teeConn) split() {
	r := bufio.NewReaderSize(c.t.in, maxShortLine)
	for {
		part, err := r.ReadSlice('\n')
		if err == nil && c.isShort(part) {
			continue
		}
		if !c.pass(part, err, r) {
			return
		}
	}
}

// pass hands a line to the SDK, which may be longer than the buffer. It reports
// false at the end.
func (c *teeConn) pass(part []byte, err error, r *bufio.Reader) bool {
	c.feeding.Lock()
	defer c.feeding.Unlock()
	for {
		if _, werr := c.t.feed.Write(part); werr != nil {
			return false
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			break
		}
		part, err = r.ReadSlice('\n')
	}
	if err != nil {
		_ = c.t.feed.CloseWithError(err) // never fails
	}
	return err == nil
}

// isShort takes a line that is a short call, and reports whether it was one.
func (c *teeConn) isShort(line []byte) bool {
	if bytes.Contains(line, []byte(`"notifications/cancelled"`)) {
		if ms, err := members(line); err == nil {
			c.p.shorts.cancel(c.id, getMember(ms, "params"))
		}
		return false // the SDK may have joined
	}
	if !bytes.Contains(line, []byte(`"tools/call"`)) {
		return false
	}
	ss := c.session()
	if ss == nil {
		return false
	}
	line = bytes.Clone(line)
	ms, err := members(line)
	if err != nil {
		return false
	}
	e, ok := plainCall(ms)
	if !ok {
		return false
	}
	id, err := decodeID(e.id)
	if err != nil {
		return false
	}
	r, err := c.p.requestOf(ss, "tools/call", e.params, idText(id))
	if err != nil || !r.plain() {
		return false
	}
	return c.start(r, id, e.id, line)
}

// session is the SDK's of this connection, once the client has introduced
// itself. It is for split alone.
func (c *teeConn) session() *mcp.ServerSession {
	if c.ss == nil {
		for ss := range c.p.server.Sessions() {
			if ss.ID() == c.id && ss.InitializeParams() != nil {
				c.ss = ss
			}
		}
	}
	return c.ss
}

// start begins a short call. It reports false if it cannot be one.
func (c *teeConn) start(r *request, id jsonrpc.ID, raw json.RawMessage, line []byte) bool {
	ctx, cancel := context.WithCancel(c.ctx)
	key := shortID{c.id, string(raw)}
	q := c.p.short(c.ctx.Done(), cancel, func(key string) {
		c.mu.Lock()
		c.joining[id] = key
		c.mu.Unlock()
		go c.pass(line, nil, nil)
	})
	if !c.p.shorts.open(key, q) {
		cancel()
		return false
	}
	if !c.admits(&jsonrpc.Request{ID: id, Method: r.method}) {
		c.p.shorts.close(key, q)
		cancel()
		return false
	}
	c.busy.Add(1)
	go func() {
		defer c.busy.Done()
		defer cancel()
		defer c.p.shorts.close(key, q)
		if result, ok := q.answer(ctx, r); ok {
			_ = c.t.out.result(raw, result) // a client that does not read has left
			c.answered(id)
		}
	}()
	return true
}

// mark puts the key of a short call on the request that joins it.
func (c *teeConn) mark(m *jsonrpc.Request, h http.Header) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if key := c.joining[m.ID]; key != "" && m.Method == "tools/call" {
		delete(c.joining, m.ID)
		h[joinHeader] = []string{key}
	}
}

// end waits until the short calls of an ended connection have ended.
func (t *teeTransport) end() {
	if t.conn != nil {
		t.conn.busy.Wait()
	}
}
