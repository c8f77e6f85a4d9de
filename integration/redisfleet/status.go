package redisfleet

import (
	"time"

	"go.uber.org/zap"

	"github.com/expediter-go/expediter/cascade/redact"
)

// Status is how an engine stands to its fleet.
type Status struct {
	Scope, Member string
	Connected     bool
	Since         time.Time // when it came to be connected, or away
	Why           string    // away: what Redis, or the way to it, said last
	Members       int       // of the fleet, as of the last beat; those that died count for some seconds
	Position      string    // the latest entry of the log that was adopted
	Buffered      int       // changes that wait to be offered
	Dropped       uint64    // charges of the shared budget that found no room while Redis was away
	Leases        []Lease   // that this process has
	Counts        Counts
	Comments      []string // what was not understood of what others wrote, each kind once; at most 64
}

// Lease is the right to make a tool's one trial in the whole fleet.
type Lease struct {
	Tool  string
	Token string // of a scope, later leases have greater ones
	Until time.Time
}

// Counts are totals since Join.
type Counts struct {
	Sessions  uint64 // times that Redis was reached
	Resyncs   uint64 // times that something was missed, and the view was read anew
	Published uint64 // changes of this engine that the fleet accepted
	Refused   uint64 // changes of this engine that came too late
	Adopted   uint64 // changes of others, and corrections, that the engine took over
	Skipped   uint64 // entries that were not understood
	Leases    uint64 // leases that were given to this process
	Busy      uint64 // wishes that another member's lease stood in the way of
	Lost      uint64 // leases that were over before their trial was
}

// Status reads how the engine stands to its fleet.
func (f *Fleet) Status() Status {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.status
	s.Members, s.Position, s.Buffered = f.view.members, f.view.last.String(), len(f.outbox)
	s.Comments = append([]string(nil), s.Comments...)
	for tool, l := range f.leases {
		if l.token != "" {
			s.Leases = append(s.Leases, Lease{Tool: tool, Token: l.token, Until: l.until})
		}
	}
	return s
}

// comment says what was not understood, each kind once.
func (f *Fleet) comment(where string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.commentLocked(where, err)
}

func (f *Fleet) commentLocked(where string, err error) {
	where, what := redact.Text(where, 80), redact.Text(err.Error(), 200)
	f.status.Counts.Skipped++
	if f.said[what] || len(f.said) >= maxComments {
		return
	}
	f.said[what] = true
	f.status.Comments = append(f.status.Comments, where+": "+what)
	f.unlogged = append(f.unlogged, f.status.Comments[len(f.said)-1])
}

// logComments writes the comments that are new to the log.
func (f *Fleet) logComments() {
	f.mu.Lock()
	comments := f.unlogged
	f.unlogged = nil
	f.mu.Unlock()
	for _, c := range comments {
		f.o.Log.Warn("fleet: skipped what was not understood", zap.String("what", c))
	}
}
