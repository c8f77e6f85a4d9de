package mcpproxy

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// clientLines are what a client on stdio says, without the lines that are no
// messages: those are answered here, since the SDK would end the session for
// one of them. The messages of a batch become lines of their own.
type clientLines struct {
	io.Closer
	in   lines
	out  io.Writer
	left []byte
}

func newClientLines(in io.ReadCloser, out io.Writer) *clientLines {
	return &clientLines{Closer: in, out: out, in: lines{r: bufio.NewReaderSize(in, 64<<10), limit: maxBody}}
}

// Read gives lines that the SDK can read.
func (c *clientLines) Read(p []byte) (int, error) {
	for len(c.left) == 0 {
		l, err := c.in.next()
		if err != nil {
			return 0, err
		}
		if c.left, err = c.good(l); err != nil {
			return 0, err
		}
	}
	n := copy(p, c.left)
	c.left = c.left[n:]
	return n, nil
}

// good is what of a line is messages. The error is that of an answer that could
// not be given.
func (c *clientLines) good(l line) ([]byte, error) {
	text := bytes.TrimSpace(l.data)
	switch {
	case l.tooLong:
		return nil, c.refuse(nil, jsonrpc.CodeInvalidRequest, fmt.Sprintf("a message may have %d bytes at most", maxBody))
	case len(text) == 0:
		return nil, nil
	case text[0] != '[':
		return c.message(text)
	}
	parts, ok := elements(text)
	if !ok || len(parts) == 0 {
		return c.message(text)
	}
	var all []byte
	for _, part := range parts {
		one, err := c.message(part)
		if err != nil {
			return nil, err
		}
		all = append(all, one...)
	}
	return all, nil
}

func (c *clientLines) message(text []byte) ([]byte, error) {
	if !json.Valid(text) { // the SDK's own decoder overlooks what stands behind a message
		return nil, c.refuse(nil, jsonrpc.CodeParseError, "the line is no JSON")
	}
	if _, err := jsonrpc.DecodeMessage(text); err == nil {
		return append(text[:len(text):len(text)], '\n'), nil
	}
	return nil, c.refuse(field(text, "id"), jsonrpc.CodeInvalidRequest, "not a message of JSON-RPC 2.0")
}

// refuse answers what is no message, under its id if it has one.
func (c *clientLines) refuse(id json.RawMessage, code int, why string) error {
	if known, err := decodeID(id); err != nil || !known.IsValid() || len(id) > ends {
		id = json.RawMessage("null")
	}
	_, err := fmt.Fprintf(c.out, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%s}}`+"\n", id, code, encode(why))
	return err
}

// wholeWrites lets one Write end before the next begins.
type wholeWrites struct {
	mu sync.Mutex
	w  io.Writer
}

func (w *wholeWrites) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.w.Write(p)
}

// Close leaves the writer open: it is its owner's.
func (w *wholeWrites) Close() error { return nil }
