package redisfleet_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/expediter-go/expediter/expediter"
)

// toolbox is a server of tools that are broken as the test wants, and that keeps
// who called them when: what a fleet does as its tools see it.
type toolbox struct {
	*httptest.Server
	mu     sync.Mutex
	broken map[string]bool
	holds  map[string]*hold
	seen   []request
}

// request is one call that has ended. Times are in nanoseconds since 1970.
type request struct {
	tool, member string
	call         expediter.CallID
	probe        bool
	began, ended int64
	failed       bool
}

// hold stops the next trial of a tool in its middle.
type hold struct {
	by     chan string // the member whose trial it is
	failed chan bool   // lets the trial end
}

// trialTakes is long enough that trials and entries of the log, whose times are
// in milliseconds, are in one order.
const trialTakes = 5 * time.Millisecond

func newToolbox(t testing.TB) *toolbox {
	b := &toolbox{broken: map[string]bool{}, holds: map[string]*hold{}}
	b.Server = httptest.NewServer(b)
	t.Cleanup(b.Close)
	return b
}

func (b *toolbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	call, _ := strconv.ParseUint(q.Get("call"), 10, 64)
	req := request{tool: q.Get("tool"), member: q.Get("member"), call: expediter.CallID(call), probe: q.Get("verb") == expediter.Probe.String(),
		began: time.Now().UnixNano()}
	if req.probe {
		<-time.After(trialTakes)
	}
	b.mu.Lock()
	h := b.holds[req.tool]
	if req.failed = b.broken[req.tool]; req.probe {
		delete(b.holds, req.tool)
	}
	b.mu.Unlock()
	if req.probe && h != nil {
		h.by <- req.member
		select {
		case req.failed = <-h.failed:
		case <-r.Context().Done(): // the process is gone
		}
	}
	req.ended = time.Now().UnixNano()
	b.mu.Lock()
	b.seen = append(b.seen, req)
	b.mu.Unlock()
	if req.failed {
		w.WriteHeader(http.StatusBadGateway)
	}
}

// set breaks tools, or heals them.
func (b *toolbox) set(broken bool, tools ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, t := range tools {
		b.broken[t] = broken
	}
}

// hold waits for the next trial of a tool, and returns it with who makes it.
func (b *toolbox) hold(t testing.TB, tool string) (*hold, string) {
	t.Helper()
	h := &hold{by: make(chan string, 1), failed: make(chan bool, 1)}
	b.mu.Lock()
	b.holds[tool] = h
	b.mu.Unlock()
	select {
	case by := <-h.by:
		return h, by
	case <-time.After(20 * time.Second):
		t.Fatal("nobody tries " + tool)
		return nil, ""
	}
}

// requests are the calls that have ended so far and that are such.
func (b *toolbox) requests(such func(request) bool) []request {
	b.mu.Lock()
	defer b.mu.Unlock()
	var found []request
	for _, r := range b.seen {
		if such(r) {
			found = append(found, r)
		}
	}
	slices.SortFunc(found, func(r, s request) int { return int(r.began - s.began) })
	return found
}
