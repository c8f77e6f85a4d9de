package hookproc

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/expediter-go/expediter/cascade/redact"
)

const (
	maxLog  = 1 << 20 // bytes of the log file and of the one before it
	maxText = 8 << 10 // bytes of one error
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

// trouble tells what went wrong, in a file: the output belongs to the agent. What
// cannot be told is lost.
func (c called) trouble(err error, stderr io.Writer) {
	text := redact.Text(err.Error(), maxText)
	fmt.Fprintln(stderr, "expediter:", text)
	line, err := json.Marshal(entry{"error", time.Now().Format(time.RFC3339), "hook", redact.Text(c.agent, maxText), text})
	if c.dir == "" || err != nil || os.MkdirAll(c.dir, 0o700) != nil {
		return
	}
	path := filepath.Join(c.dir, "hook.log")
	if info, err := os.Stat(path); err == nil && info.Size() > maxLog {
		_ = os.Rename(path, path+".1")
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return
	}
	defer file.Close()
	_, _ = file.Write(append(line, '\n'))
}
