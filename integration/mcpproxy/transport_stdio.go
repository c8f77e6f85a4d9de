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

	input  sync.Mutex // held while the input is written to
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
		_, _ = stdin.Close(), r.Close() // a start that failed may have closed them
		return nil, err
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

// write is the only writer that waits, so that a server that does not read blocks
// no caller beyond its context.
func (p *process) write() {
	for {
		select {
		case o := <-p.out:
			p.input.Lock()
			_, err := p.stdin.Write(o.data)
			p.input.Unlock()
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
	return &exitError{how, p.stderr.lastLine()}
}

// exitError is the end of a server's process. To who judges it, it is a
// connection that was cut.
type exitError struct{ how, last string }

// Error has the last line as such: it need not be the cause.
func (e *exitError) Error() string {
	text := "the server's process ended (" + e.how + ")"
	if e.last != "" {
		text += "; its last line: " + e.last
	}
	return text
}

func (e *exitError) Unwrap() error { return io.ErrUnexpectedEOF }

// Write sends a message. An error says that no whole message was sent, or that
// ctx ended while it was.
func (p *process) Write(ctx context.Context, msg jsonrpc.Message) error {
	data, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return err
	}
	data = append(data, '\n')
	if p.writeNow(data) {
		return nil
	}
	o := outgoing{data: data, done: make(chan error, 1)}
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

// writeNow writes a small message if that needs no waiting, and reports whether
// it did: most servers read, and two goroutines fewer have a hand in their calls.
func (p *process) writeNow(data []byte) bool {
	if len(data) > wholePipeWrite || !p.input.TryLock() {
		return false
	}
	defer p.input.Unlock()
	select {
	case <-p.closed:
		return false
	default:
		return tryWrite(p.stdin, data)
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
