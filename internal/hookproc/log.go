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

// entry is a line of the log, as zap would write it. zap itself brings a web
// server, which each hook call would have to start.
type entry struct {
	Level string `json:"level"`
	Time  string `json:"ts"`
	What  string `json:"msg"`
	Agent string `json:"agent"`
	Error string `json:"error"`
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
	line, err := json.Marshal(entry{"error", time.Now().Format(time.RFC3339), "hook", redact.Text(c.agent, maxText), text})
	if c.dir == "" || err != nil {
		return
	}
	path := filepath.Join(c.dir, "hook.log")
	if info, err := os.Lstat(path); err == nil && info.Size() > maxLog {
		_ = os.Rename(path, path+".1")
	}
	file, err := store.OpenLog(c.dir, "hook.log")
	if err != nil {
		return
	}
	defer file.Close()
	_, _ = file.Write(append(line, '\n'))
}
