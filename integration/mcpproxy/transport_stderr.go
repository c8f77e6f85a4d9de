package mcpproxy

import (
	"bytes"
	"sync"
	"time"

	"github.com/expediter-go/expediter/cascade/redact"
	"go.uber.org/zap"
)

// What of a server's own text is kept: so much of a line, and so many lines in
// a time.
const (
	maxLine      = 400
	linesInTime  = 50
	linesPerTime = 10 * time.Second
)

// stderrLog takes what a server writes beside its messages to the log: bounded,
// clean, without secrets. It is safe for concurrent use.
type stderrLog struct {
	log  *zap.Logger
	mask func(string) string

	mu      sync.Mutex
	part    []byte // of a line without its end
	last    string
	since   time.Time
	written int
	dropped int
}

// Write never fails: a server that writes much must not be held up.
func (s *stderrLog) Write(data []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for rest := data; len(rest) > 0; {
		line, after, ended := bytes.Cut(rest, []byte{'\n'})
		rest = after
		s.part = append(s.part, line[:min(len(line), 4*maxLine-len(s.part))]...)
		if ended {
			s.lineLocked("stderr", s.part)
			s.part = s.part[:0]
		}
	}
	return len(data), nil
}

// stray logs a line of standard output that is no message.
func (s *stderrLog) stray(data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lineLocked("stdout", data[:min(len(data), 4*maxLine)])
}

func (s *stderrLog) lineLocked(stream string, data []byte) {
	text := redact.Text(s.mask(string(data)), maxLine)
	if text == "" {
		return
	}
	s.last = text
	if now := time.Now(); now.Sub(s.since) > linesPerTime {
		if s.dropped > 0 {
			s.log.Info("lines of the server were dropped", zap.Int("lines", s.dropped))
		}
		s.since, s.written, s.dropped = now, 0, 0
	}
	if s.written++; s.written > linesInTime {
		s.dropped++
		return
	}
	s.log.Info(text, zap.String("stream", stream))
}

// lastLine is the last that the server wrote, its unfinished line included.
func (s *stderrLog) lastLine() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if text := redact.Text(s.mask(string(s.part)), maxLine); text != "" {
		return text
	}
	return s.last
}
