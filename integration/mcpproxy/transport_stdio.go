package mcpproxy

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"go.uber.org/zap"
)

// How a process is ended: its input is closed, it is asked, it is killed.
const (
	exitAfterClose = 2 * time.Second
	exitAfterTerm  = 2 * time.Second
	readAfterExit  = time.Second // for what a process wrote just before its end
)

// What came of a call whose answer was there, but is of no use.
var (
	errTooLarge   = errors.New("the server's message is larger than the proxy's limit for results")
	errUnreadable = errors.New("the server's answer cannot be read")
)

// process is a server that is a child process, as an mcp.Connection. The SDK's
// own ends with the first line that is no JSON, and at 16 MiB.
type process struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *os.File
	lines  *lines
	stderr *stderrLog
	log    *zap.Logger

	out    chan outgoing
	closed chan struct{} // Close has begun
	exited chan struct{} // the process has ended, exit is set
	exit   error

	once  sync.Once
	queue []jsonrpc.Message // of a batch; for the reader alone
}

type outgoing struct {
	data []byte
	done chan error // takes one
}

// startProcess starts the server's command. Its output is read to limit bytes a
// line; its errors go to the log.
func startProcess(s Server, limit int64, log *zap.Logger, mask func(string) string) (*process, error) {
	cmd := exec.Command(s.Command, s.Args...)
	cmd.Dir, cmd.Env = s.Dir, os.Environ()
	for k, v := range s.Env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	ownGroup(cmd)
	p := &process{cmd: cmd, log: log, stderr: &stderrLog{log: log, mask: mask},
		out: make(chan outgoing), closed: make(chan struct{}), exited: make(chan struct{})}
	cmd.Stderr, cmd.WaitDelay = p.stderr, readAfterExit
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, stdin.Close())
	}
	cmd.Stdout = w
	err = startChild(cmd)
	_ = w.Close() // the child has its own
	if err != nil {
		return nil, errors.Join(err, stdin.Close(), r.Close())
	}
	p.stdin, p.stdout, p.lines = stdin, r, &lines{r: bufio.NewReaderSize(r, 64<<10), limit: limit}
	go p.wait()
	go p.write()
	return p, nil
}

// wait reaps the process and lets its output be read a little longer: what it
// started may hold the output open for ever.
func (p *process) wait() {
	p.exit = p.cmd.Wait()
	killGroup(p.cmd.Process)
	close(p.exited)
	if p.stdout.SetReadDeadline(time.Now().Add(readAfterExit)) != nil {
		time.Sleep(readAfterExit)
		_ = p.stdout.Close()
	}
}

// write is the only writer, so that a server that does not read blocks no
// caller beyond its context.
func (p *process) write() {
	for {
		select {
		case o := <-p.out:
			_, err := p.stdin.Write(o.data)
			o.done <- err
		case <-p.closed:
			return
		}
	}
}

// Read returns the next message. Lines that are no JSON are logged and skipped.
func (p *process) Read(ctx context.Context) (jsonrpc.Message, error) {
	for len(p.queue) == 0 {
		line, err := p.lines.next()
		if err != nil {
			return nil, p.ending("output", err)
		}
		if line.tooLong {
			if resp := line.refusal(); resp != nil {
				return resp, nil
			}
			p.log.Warn("a line beyond the limit for results was skipped")
			continue
		}
		p.queue, err = decode(line.data)
		if err != nil && len(bytes.TrimSpace(line.data)) > 0 {
			p.stderr.stray(line.data)
			if resp := line.unreadable(err); resp != nil {
				p.queue = append(p.queue, resp)
			}
		}
	}
	msg := p.queue[0]
	p.queue = p.queue[1:]
	return msg, nil
}

// ending says how the process ended, with the last that it said, or which pipe
// it has closed.
func (p *process) ending(pipe string, err error) error {
	select {
	case <-p.closed:
		return io.EOF
	case <-p.exited:
	case <-time.After(readAfterExit):
		return fmt.Errorf("the server closed its %s: %w", pipe, err)
	}
	how := "status 0"
	if p.exit != nil {
		how = p.exit.Error()
	}
	if last := p.stderr.lastLine(); last != "" {
		return fmt.Errorf("the server's process ended (%s): %s: %w", how, last, io.ErrUnexpectedEOF)
	}
	return fmt.Errorf("the server's process ended (%s): %w", how, io.ErrUnexpectedEOF)
}

// Write sends a message. An error says that no whole message was sent, or that
// ctx ended while it was.
func (p *process) Write(ctx context.Context, msg jsonrpc.Message) error {
	data, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return err
	}
	o := outgoing{data: append(data, '\n'), done: make(chan error, 1)}
	select {
	case p.out <- o:
	case <-p.exited:
		return p.ending("input", io.EOF)
	case <-p.closed:
		return io.ErrClosedPipe
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	select {
	case err := <-o.done:
		if err != nil {
			return p.ending("input", err)
		}
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-p.closed:
		return io.ErrClosedPipe
	}
}

// Close ends the process and what it started, and waits for it.
func (p *process) Close() error {
	p.once.Do(func() {
		close(p.closed)
		_ = p.stdin.Close()
		if !p.exits(exitAfterClose) && (endGroup(p.cmd.Process) != nil || !p.exits(exitAfterTerm)) {
			killGroup(p.cmd.Process)
		}
		<-p.exited
		_ = p.stdout.Close()
	})
	return nil
}

func (p *process) exits(d time.Duration) bool { return within(context.Background(), p.exited, d) }

// SessionID is empty: a process is its own session.
func (p *process) SessionID() string { return "" }

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
