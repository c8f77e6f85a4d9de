package mcpproxy

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// lines reads lines without growing beyond a limit.
type lines struct {
	r     *bufio.Reader
	limit int64
}

// line is one line, or of one beyond the limit its beginning and its end.
type line struct {
	data       []byte
	tooLong    bool
	head, tail []byte
}

// ends are how much of a line beyond the limit is kept on either side: enough
// for its id.
const ends = 512

func (l *lines) next() (line, error) {
	var parts [][]byte
	var size int64
	var long line
	for {
		part, err := l.r.ReadSlice('\n')
		size += int64(len(part))
		switch {
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return line{}, err // a line without its end is no message
		case size > l.limit:
			if !long.tooLong {
				long = line{tooLong: true, head: head(append(parts, part))}
				parts = nil
			}
			long.tail = slices.Clone(part[max(0, len(part)-ends):])
		default:
			parts = append(parts, slices.Clone(part))
		}
		if err == nil {
			if long.tooLong {
				return long, nil
			}
			if len(parts) == 1 {
				return line{data: parts[0]}, nil
			}
			return line{data: bytes.Join(parts, nil)}, nil
		}
	}
}

func head(parts [][]byte) []byte {
	var h []byte
	for _, p := range parts {
		h = append(h, p[:min(len(p), ends-len(h))]...)
	}
	return h
}

// An id stands before the result, as here, or behind it, as with the SDK for
// TypeScript. Elsewhere it could be the result's own text.
var idAtHead, isResult, idAtTail = lazily(`^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d+)\s*,\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"(?:result|error)"\s*:`),
	lazily(`^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"(?:result|error)"\s*:`),
	lazily(`,\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d+)\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$`)

func lazily(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// unreadable answers the call whose answer is no message; nil: it cannot be told
// which one that is, if any.
func (l line) unreadable(err error) *jsonrpc.Response {
	l.head, l.tail = l.data[:min(ends, len(l.data))], l.data[max(0, len(l.data)-ends):]
	resp := l.refusal()
	if resp != nil {
		resp.Error = fmt.Errorf("%w: %w", errUnreadable, err)
	}
	return resp
}

// refusal answers the call whose answer was too long; nil: it cannot be told
// which one that is.
func (l line) refusal() *jsonrpc.Response {
	m := idAtHead().FindSubmatch(l.head)
	if m == nil && isResult().Match(l.head) {
		m = idAtTail().FindSubmatch(l.tail)
	}
	if m == nil {
		return nil
	}
	n, err := strconv.ParseInt(string(m[1]), 10, 53)
	if err != nil {
		return nil
	}
	id, _ := jsonrpc.MakeID(float64(n)) // a number is always fit for an id
	return &jsonrpc.Response{ID: id, Error: errTooLarge}
}
