package hookproc

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/expediter-go/expediter/cascade/redact"
	"github.com/expediter-go/expediter/internal/store"
)

const (
	maxLog  = 1 << 20 // bytes of the log file and of the one before it
	maxText = 8 << 10 // characters of one error
)

// LogName is the file in the store's folder that tells what went wrong. The one
// before it has the same name with .1 behind it.
const LogName = "hook.log"

// Entry is a line of the log, as zap would write it. zap itself brings a web
// server, which each hook call would have to start.
type Entry struct {
	Level string    `json:"level"` // error
	Time  time.Time `json:"ts"`    // to the second
	What  string    `json:"msg"`   // hook
	Agent string    `json:"agent"` // as the hook was called, which anybody may
	Error string    `json:"error"` // masked and bounded
}

// soon is how long a log may take: the disk that it is on may hang.
const soon = 500 * time.Millisecond

// troubleSoon is trouble for whom the agent waits for.
func (c called) troubleSoon(err error, stderr io.Writer) {
	told := make(chan struct{})
	go func() {
		defer close(told)
		c.trouble(err, stderr)
	}()
	select {
	case <-told:
	case <-time.After(soon):
	}
}

// trouble tells what went wrong, in a file: the output belongs to the agent. What
// cannot be told is lost.
func (c called) trouble(err error, stderr io.Writer) {
	text := redact.Text(err.Error(), maxText)
	fmt.Fprintln(stderr, "expediter:", text)
	line, err := json.Marshal(Entry{"error", time.Now().Truncate(time.Second), "hook", redact.Text(c.agent, maxText), text})
	if c.dir == "" || err != nil {
		return
	}
	path := filepath.Join(c.dir, LogName)
	if info, err := os.Lstat(path); err == nil && info.Size() > maxLog {
		_ = os.Rename(path, path+".1")
	}
	file, err := store.OpenLog(c.dir, LogName)
	if err != nil {
		return
	}
	defer file.Close()
	_, _ = file.Write(append(line, '\n'))
}
