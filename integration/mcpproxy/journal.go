package mcpproxy

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/expediter-go/expediter/expediter"
)

// journal writes each event of one client's engine as a line of its own file, at
// once: a proxy that is killed leaves all that it did. The file is made with the
// first event after the start, so that a client which only looks leaves none. It
// is told by the engine, one event at a time. The nil journal writes nothing.
type journal struct {
	path string
	log  *zap.Logger

	mu     sync.Mutex // no other is taken within it
	buf    bytes.Buffer
	file   *os.File
	broken bool
}

// newJournal is the journal of a session; nil: none is wanted. The file's name has
// a hash of the session's id: a journal that is given away names no session.
func newJournal(env Env, id string, now time.Time, log *zap.Logger) *journal {
	if env.JournalDir == "" {
		return nil
	}
	sum := sha256.Sum256([]byte(id))
	name := now.UTC().Format("20060102T150405.000Z") + "-" + hex.EncodeToString(sum[:6]) + ".jsonl"
	return &journal{path: filepath.Join(env.JournalDir, name), log: log}
}

func (j *journal) event(e *expediter.Event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.broken {
		return
	}
	enc := json.NewEncoder(&j.buf)
	enc.SetEscapeHTML(false) // CLOSED->OPEN stays readable
	err := enc.Encode(e)
	if err == nil && (e.Op != expediter.OpStart || j.file != nil) {
		err = j.flushLocked()
	}
	if err != nil {
		j.broken = true
		j.log.Error("the journal ends here", zap.String("file", j.path), zap.Uint64("event", e.Seq), zap.Error(err))
	}
}

func (j *journal) flushLocked() error {
	if j.file == nil {
		if err := os.MkdirAll(filepath.Dir(j.path), 0o700); err != nil {
			return fmt.Errorf("%w; give a folder for journals that can be written", err)
		}
		f, err := os.OpenFile(j.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
		if err != nil {
			return fmt.Errorf("%w; give a folder for journals that can be written", err)
		}
		j.file = f
	}
	_, err := j.file.Write(j.buf.Bytes())
	j.buf.Reset()
	return err
}

// close ends the journal. What is told after that is not kept.
func (j *journal) close() {
	if j == nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.broken = true
	if j.file == nil {
		return
	}
	if err := j.file.Close(); err != nil {
		j.log.Error("the journal may lack its end", zap.String("file", j.path), zap.Error(err))
	}
	j.file = nil
}
