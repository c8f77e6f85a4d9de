package mcpproxy

import (
	"net/http"
	"time"
)

// A client over HTTP must take so much in so long a time. One that does not is
// cut off: what tells all clients of a change tells one after the other.
const (
	takesAtATime = 64 << 10
	takesWithin  = 10 * time.Second
)

// patient is an answer to a client that does not wait for it for ever.
type patient struct {
	http.ResponseWriter
	within time.Duration
}

// Write writes in parts, each with a deadline of its own.
func (w patient) Write(p []byte) (int, error) {
	done := 0
	for {
		w.extend()
		n, err := w.ResponseWriter.Write(p[done:min(len(p), done+takesAtATime)])
		if done += n; err != nil || done == len(p) {
			return done, err
		}
	}
}

// Flush sends what was written.
func (w patient) Flush() {
	w.extend()
	_ = http.NewResponseController(w.ResponseWriter).Flush() // the next Write says what went wrong
}

// Unwrap is for http.ResponseController.
func (w patient) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w patient) extend() {
	_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(time.Now().Add(w.within)) // none where there is no connection
}

// end lets the connection be used again.
func (w patient) end() {
	_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(time.Time{})
}
