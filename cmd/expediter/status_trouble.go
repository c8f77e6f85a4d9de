package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/expediter-go/expediter/cascade/redact"
	"github.com/expediter-go/expediter/internal/hookproc"
)

// Bounds of the trouble of hooks that is told: how old it may be, how much of
// it, and how much of the log is read.
const (
	lateTrouble = 24 * time.Hour
	maxTrouble  = 20
	maxLogTail  = 64 << 10 // bytes
)

// troubleView is one entry of hook.log: a hook call that let its tool run
// because something was wrong.
type troubleView struct {
	At    int64  `json:"at_ms"`
	Agent string `json:"agent"`
	Error string `json:"error"`
}

// troubles reads the latest entries of hook.log in the store's folder, oldest
// first. A log that cannot be read, or is not there, has none.
func troubles(dir, agent string, now time.Time) []troubleView {
	list := []troubleView{}
	path := filepath.Join(dir, hookproc.LogName)
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() { // a pipe would be waited for
		return list
	}
	f, err := os.Open(path)
	if err != nil {
		return list
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > maxLogTail {
		_, _ = f.Seek(-maxLogTail, io.SeekEnd)
	}
	tail, _ := io.ReadAll(io.LimitReader(f, maxLogTail))
	lines := bufio.NewScanner(bytes.NewReader(tail))
	lines.Buffer(nil, maxLogTail+1)
	for lines.Scan() {
		if t, ok := troubleOf(lines.Bytes()); ok && (t.Agent == agent || t.Agent == "" || t.Agent == "auto") && now.UnixMilli()-t.At < lateTrouble.Milliseconds() {
			list = append(list, t)
		}
	}
	return list[max(len(list)-maxTrouble, 0):]
}

// troubleOf reads one line of the log; ok is false for what is no entry, such
// as a line that the tail begins in.
func troubleOf(line []byte) (t troubleView, ok bool) {
	var entry hookproc.Entry
	if json.Unmarshal(line, &entry) != nil || entry.Time.IsZero() {
		return troubleView{}, false
	}
	return troubleView{At: entry.Time.UnixMilli(), Agent: redact.Text(entry.Agent, maxToolName), Error: redact.Text(entry.Error, maxPath)}, true
}
