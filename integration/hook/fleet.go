package hook

import (
	"encoding/json"
	"time"

	"github.com/expediter-go/expediter/cascade/classify"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
	"github.com/expediter-go/expediter/internal/session"
)

// A hook asks its fleet at most once in askEach, unless it has something to tell or
// to ask, and not for awayFor after Redis was away.
const (
	askEach = time.Second
	awayFor = 30 * time.Second
)

// Fleet is the fleet that the sessions' engines belong to; the zero Fleet is none.
type Fleet struct {
	ID string // tells fleets apart: what is remembered of one is not another's
	// Visit makes an engine a member for the time of one event, with what the last
	// Leave returned; it does not wait long. at is the session's time.
	Visit func(engine *expediter.Engine, memory []byte, at time.Time) Visit
}

// Visit is one event's time with a fleet.
type Visit struct {
	Reached bool          // the fleet was there
	Settle  func()        // waits until what the engine came to is told, and for the lease that it wants
	Leave   func() []byte // ends it; what is to be remembered
}

// kept is what a session remembers of its fleet.
type kept struct {
	ID     string          `json:"id"`
	Asked  int64           `json:"asked,omitempty"` // when it was last there, in milliseconds
	Away   int64           `json:"away,omitempty"`  // when it was last found away
	Memory json.RawMessage `json:"memory,omitempty"`
}

// visitor is what one event has to do with the session's fleet.
type visitor struct {
	fleet Fleet
	s     *session.Session
	kept  kept
	visit *Visit // under way; nil: not asked
	open  int    // tools that were not CLOSED as the event began, and active incidents
}

// meet begins an event: what is remembered of the fleet is read, and the fleet is
// asked if it is time to, or the event is about a tool that is open.
func (f Fleet) meet(s *session.Session, e Event) (*visitor, error) {
	data := s.Fleet()
	if f.Visit == nil {
		if data == nil {
			return nil, nil
		}
		s.Engine().Share(expediter.Fleet{}, s.Step(), s.At()) // else its trials would wait for leases for ever
		return nil, s.SetFleet(nil)
	}
	v := &visitor{fleet: f, s: s}
	if data != nil {
		_ = json.Unmarshal(data, &v.kept) // what cannot be read is not remembered
	}
	if v.kept.ID != f.ID {
		v.kept = kept{ID: f.ID}
	}
	v.open = v.standing()
	if v.since(v.kept.Asked) >= askEach || v.concerned(e) {
		v.ask()
	}
	return v, nil
}

// concerned reports whether the event is about a tool that is not CLOSED: a trial may
// be due, or have ended.
func (v *visitor) concerned(e Event) bool {
	if e.Kind != Before && e.Kind != After {
		return false
	}
	t, ok := v.s.Engine().Tool(classify.Key(e.Call.Observation))
	return ok && t.State != breaker.Closed
}

func (v *visitor) since(ms int64) time.Duration {
	return time.Duration(v.s.At().UnixMilli()-ms) * time.Millisecond
}

// standing counts what an event may add to: a fleet hears of that at once.
func (v *visitor) standing() int {
	st, n := v.s.Status(), 0
	for _, t := range st.Tools {
		if t.State != breaker.Closed {
			n++
		}
	}
	for _, i := range st.Incidents {
		if i.Active {
			n++
		}
	}
	return n
}

// ask makes the engine a member, unless Redis was away just now.
func (v *visitor) ask() {
	if v.visit != nil || v.since(v.kept.Away) < awayFor {
		return
	}
	visit := v.fleet.Visit(v.s.Engine(), v.kept.Memory, v.s.At())
	v.visit = &visit
}

// leased waits for the lease that a call was skipped for, and reports whether the
// engine has it now. The nil visitor has none.
func (v *visitor) leased(r session.Ruling) bool {
	if v == nil || v.visit == nil || r.Verb != expediter.Skip || r.Again {
		return false
	}
	v.visit.Settle()
	t, ok := v.s.Engine().Tool(r.Key)
	return ok && t.Leased > v.s.At().UnixMilli()
}

// abandon ends a visit that a panic has cut short: nobody may use the session after
// the event.
func (v *visitor) abandon() {
	if v != nil && v.visit != nil {
		v.visit.Leave()
	}
}

// part ends the event: the fleet hears what the engine came to, and what is to be
// remembered is kept.
func (v *visitor) part() error {
	if v == nil {
		return nil
	}
	if v.visit == nil && v.standing() > v.open {
		v.ask()
	}
	if v.visit == nil {
		return nil
	}
	if v.kept.Away = 0; !v.visit.Reached {
		v.kept.Away = v.s.At().UnixMilli()
	} else {
		v.visit.Settle()
		v.kept.Asked = v.s.At().UnixMilli()
	}
	v.kept.Memory = v.visit.Leave()
	v.visit = nil
	data, err := json.Marshal(v.kept)
	if err != nil {
		return err
	}
	return v.s.SetFleet(data)
}
