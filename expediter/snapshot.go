package expediter

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/expediter-go/expediter/budget"
	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter/breaker"
)

// Snapshot is an engine's whole state, for Restore. It marshals to JSON; its
// fields are exported for that alone.
type Snapshot struct {
	Format     int                         `json:"format"` // JournalFormat
	Step       int64                       `json:"step"`
	At         int64                       `json:"at"`
	LastCall   uint64                      `json:"last_call"`         // the number of the last call
	Pending    []uint64                    `json:"pending,omitempty"` // the numbers not recorded yet
	Lost       uint64                      `json:"lost,omitempty"`    // numbers below may have been forgotten
	Burnt      uint64                      `json:"burnt,omitempty"`
	Tools      []ToolSnapshot              `json:"tools"`           // in table order
	Calls      []CallSnapshot              `json:"calls,omitempty"` // those that need more than their id
	Budget     budget.Saved                `json:"budget"`
	Incidents  []IncidentSnapshot          `json:"incidents,omitempty"`
	Scores     map[string]capability.Score `json:"scores,omitempty"` // of tools not in the table
	Observe    bool                        `json:"observe_only,omitempty"`
	ObserveWhy string                      `json:"observe_why,omitempty"`
	Fleet      FleetMode                   `json:"fleet,omitzero"`
	Suspected  *SystemicOutput             `json:"suspected,omitempty"`
	Unverified []Unverified                `json:"unverified,omitempty"`
	Counts     Counts                      `json:"counts"`
	EventSeq   uint64                      `json:"event_seq,omitempty"`
}

// ToolSnapshot is one tool of a Snapshot.
type ToolSnapshot struct {
	Tool       string           `json:"tool"`
	Idx        uint32           `json:"idx"` // of its call ids
	Machine    breaker.Saved    `json:"machine"`
	Window     string           `json:"window,omitempty"`
	LastOld    uint64           `json:"last_old,omitempty"` // calls up to this number are stale
	Born       uint64           `json:"born,omitempty"`
	Used       uint64           `json:"used,omitempty"`      // undeclared: the number of its last call
	Flying     int64            `json:"in_flight,omitempty"` // undeclared: its calls in flight
	Anchor     breaker.Anchor   `json:"anchor,omitzero"`
	NotDue     int64            `json:"not_due,omitempty"`
	DueNow     bool             `json:"due_now,omitempty"`
	Forced     bool             `json:"forced,omitempty"`
	Disabled   bool             `json:"disabled,omitempty"`
	Why        string           `json:"why,omitempty"`
	External   *External        `json:"external,omitempty"`
	K          int              `json:"failed_probes,omitempty"`
	Score      capability.Score `json:"score,omitzero"`
	Probe      CallID           `json:"probe,omitzero"`
	ProbeAt    cascade.Moment   `json:"probe_at,omitzero"`
	Succeeded  bool             `json:"succeeded,omitempty"`
	OK         cascade.Moment   `json:"last_success,omitzero"`
	Failing    bool             `json:"failing,omitempty"`
	Latest     cascade.Failure  `json:"latest,omitzero"`
	LatestAt   cascade.Moment   `json:"latest_at,omitzero"`
	LastBad    *Moment          `json:"last_failure,omitempty"`
	Unverified int              `json:"unverified,omitempty"`
	Counted    *Counted         `json:"counted,omitempty"` // policy batch
	Tripped    bool             `json:"tripped,omitempty"`
	Trip       cascade.Failure  `json:"trip,omitzero"`
	TripAt     cascade.Moment   `json:"trip_at,omitzero"`
	Run        int              `json:"run,omitempty"`
	Fails      []Moment         `json:"fails,omitempty"`
	Lease      int64            `json:"lease,omitempty"`
	Private    bool             `json:"private,omitempty"`
}

// CallSnapshot is what a call in flight needs beside its id.
type CallSnapshot struct {
	Call      CallID `json:"call"`
	Threshold int    `json:"threshold,omitempty"`
	Shadow    bool   `json:"shadow,omitempty"`
}

// IncidentSnapshot is one incident that has not ended.
type IncidentSnapshot struct {
	Cause    string          `json:"cause"`
	Failure  cascade.Failure `json:"failure"`
	Pattern  string          `json:"pattern,omitempty"`
	Flagged  []string        `json:"flagged"` // in the order of flagging
	Members  []string        `json:"members,omitempty"`
	Active   bool            `json:"active,omitempty"`
	Declared bool            `json:"declared,omitempty"`
	K        int             `json:"failed_probes,omitempty"`
	At       cascade.Moment  `json:"at"`
}

// Snapshot copies the engine's state. Calls in flight stay valid in an engine
// restored from it.
func (x *Engine) Snapshot() *Snapshot {
	x.mu.Lock()
	defer x.mu.Unlock()
	s := &Snapshot{
		Format: JournalFormat, Burnt: x.burnt, Lost: x.ring.lost, Budget: x.ledger.Save(),
		Observe: x.observe, ObserveWhy: x.observeW, Suspected: x.suspect, Counts: x.counts, EventSeq: x.eventSeq, Fleet: x.fleetMode,
		Unverified: append([]Unverified(nil), x.unverified...),
		Scores:     map[string]capability.Score{},
	}
	s.Step, s.At = x.clock.now()
	for n, score := range x.scores {
		s.Scores[n] = score
	}
	for _, t := range x.table.rows {
		s.Tools = append(s.Tools, t.save())
	}
	for _, inc := range x.live {
		s.Incidents = append(s.Incidents, x.saveIncident(inc))
	}
	for id, c := range x.special {
		s.Calls = append(s.Calls, CallSnapshot{Call: id, Threshold: c.threshold, Shadow: c.shadow})
	}
	slices.SortFunc(s.Calls, func(a, b CallSnapshot) int { return cmp.Compare(a.Call, b.Call) })
	s.LastCall = x.seq.Load()
	s.Pending = x.ring.pending(s.LastCall)
	return s
}

func (t *tool) save() ToolSnapshot {
	s := ToolSnapshot{
		Tool: t.name, Idx: t.idx, Machine: t.m.Save(), LastOld: t.genSeq, Born: t.born, Used: t.used.Load(), Flying: t.flying.Load(), Anchor: t.anchor,
		NotDue: t.notDue, DueNow: t.dueNow, Forced: t.forced, Disabled: t.off, Why: t.reason, External: t.outer, K: t.k, Score: t.score,
		Probe: t.probe.call, ProbeAt: cascade.Moment{Step: t.probe.step, At: t.probe.at},
		Succeeded: t.okEver, OK: cascade.Moment{Step: t.okStep.Load(), At: t.okAt.Load()},
		Failing: t.failing, Latest: t.latest, LatestAt: t.failAt, LastBad: t.lastBad, Unverified: t.unverified, Counted: t.counted,
		Tripped: t.tripped, Trip: t.trip, TripAt: t.tripAt, Run: t.run, Fails: slices.Clone(t.fails),
		Lease: t.lease, Private: t.private,
	}
	if t.win != nil {
		s.Window = t.win.Outcomes()
	}
	return s
}

func (x *Engine) saveIncident(inc *incident) IncidentSnapshot {
	s := IncidentSnapshot{Cause: inc.cause, Failure: inc.failure, Pattern: inc.pattern, Active: inc.active,
		Declared: inc.declared, K: inc.k, At: inc.at}
	for _, f := range inc.flagged {
		for _, t := range x.table.rows {
			if int(t.order) == f.Tool {
				s.Flagged = append(s.Flagged, t.name)
			}
		}
	}
	for _, m := range inc.members {
		s.Members = append(s.Members, m.name)
	}
	return s
}

// Restore makes an engine that goes on where the snapshot was taken. cfg may
// differ from the old one: policies apply from now on, tools of the snapshot
// that its map lacks stay as undeclared ones. A snapshot that contradicts
// itself is an error.
func Restore(cfg Config, s *Snapshot) (*Engine, error) {
	if s == nil {
		return nil, errors.New("expediter: no snapshot; use New")
	}
	if s.Format != JournalFormat {
		return nil, fmt.Errorf("expediter: snapshot format %d; this version reads %d", s.Format, JournalFormat)
	}
	x, err := build(cfg)
	if err != nil {
		return nil, err
	}
	if err := x.load(s); err != nil {
		return nil, fmt.Errorf("expediter: snapshot: %w", err)
	}
	x.start(s)
	return x, nil
}

func (x *Engine) load(s *Snapshot) error {
	if s.LastCall >= maxSeq/2 || s.Step < 0 || s.At < 0 {
		return fmt.Errorf("step %d, at %d, last_call %d; none may be negative or beyond %d", s.Step, s.At, s.LastCall, uint64(maxSeq/2))
	}
	x.clock.advance(s.Step, s.At)
	x.seq.Store(s.LastCall)
	x.burnt = s.Burnt
	x.ledger.Load(s.Budget)
	x.observe, x.observeW, x.suspect = s.Observe, s.ObserveWhy, s.Suspected
	x.counts, x.eventSeq = s.Counts, s.EventSeq
	x.fleetMode = min(s.Fleet, FleetAlone)
	x.unverified = append(x.unverified, s.Unverified[max(len(s.Unverified)-maxUnverified, 0):]...)
	for n, score := range s.Scores {
		x.scores[n] = score
	}
	for i := range s.Tools {
		if err := x.loadTool(&s.Tools[i]); err != nil {
			return err
		}
	}
	if err := x.reindex(s.Tools); err != nil {
		return err
	}
	for _, i := range s.Incidents {
		if err := x.loadIncident(i); err != nil {
			return err
		}
	}
	if err := x.loadCalls(s); err != nil {
		return err
	}
	for _, t := range x.table.rows {
		x.heat(t)
		t.publish()
	}
	x.paused = x.pauseReason()
	x.publishGate()
	return nil
}

func (x *Engine) loadTool(s *ToolSnapshot) error {
	if s.Machine.State > breaker.Closed || s.Score > capability.Unavailable || s.LastOld > x.seq.Load() || s.Born > s.LastOld {
		return fmt.Errorf("tool %.64q: state %v, score %v, last_old %d are not all valid", s.Tool, s.Machine.State, s.Score, s.LastOld)
	}
	if o := s.External; o != nil && (o.State >= breaker.Closed || !s.Forced && !s.Disabled && o.State != s.Machine.State) {
		return fmt.Errorf("tool %.64q: another breaker is %v, and its state is %v; they must agree", s.Tool, o.State, s.Machine.State)
	}
	t := x.find(s.Tool)
	if t == nil {
		t = x.learn(s.Tool)
	}
	t.m.Load(s.Machine)
	if t.win != nil {
		t.win.Load(s.Window)
	}
	t.genSeq, t.born = s.LastOld, s.Born
	t.used.Store(s.Used)
	t.flying.Store(max(s.Flying, 0))
	t.forced, t.off, t.score, t.failing = s.Forced, s.Disabled, s.Score, s.Failing
	t.okEver = s.Succeeded
	t.okStep.Store(s.OK.Step)
	t.okAt.Store(s.OK.At)
	*t.ill() = trouble{
		anchor: s.Anchor, notDue: s.NotDue, dueNow: s.DueNow, reason: s.Why, outer: s.External, k: s.K,
		probe:  probe{call: s.Probe, step: s.ProbeAt.Step, at: s.ProbeAt.At},
		latest: s.Latest, failAt: s.LatestAt, lastBad: s.LastBad, unverified: max(s.Unverified, 0), counted: s.Counted,
		tripped: s.Tripped, trip: s.Trip, tripAt: s.TripAt, run: s.Run, fails: slices.Clone(s.Fails),
		lease: s.Lease, private: s.Private,
	}
	return nil
}

func (x *Engine) loadIncident(s IncidentSnapshot) error {
	inc := &incident{cause: s.Cause, failure: s.Failure, pattern: s.Pattern, active: s.Active, declared: s.Declared, k: s.K, at: s.At}
	for _, n := range s.Flagged {
		if t := x.find(n); t != nil {
			inc.flagged = append(inc.flagged, t.source())
		}
		inc.names = insertSorted(inc.names, n)
	}
	for _, n := range s.Members {
		t := x.find(n)
		if t == nil {
			return fmt.Errorf("incident %q: member %.64q is not in the table", s.Cause, n)
		}
		if t.inc != nil {
			return fmt.Errorf("incident %q: member %.64q belongs to two incidents", s.Cause, n)
		}
		t.inc = inc
		inc.members = append(inc.members, t)
	}
	inc.shares = common(inc.flagged)
	x.live = append(x.live, inc)
	if !s.Active {
		return nil
	}
	if x.active != nil {
		return errors.New("two incidents are active; one may be")
	}
	x.active = inc
	return nil
}

// reindex gives every tool of the snapshot its old idx, which its call ids
// name, and the tools that are new the free ones.
func (x *Engine) reindex(tools []ToolSnapshot) error {
	size := len(x.table.rows)
	for _, s := range tools {
		if s.Idx >= maxTools/2 {
			return fmt.Errorf("tool %.64q: idx %d is beyond %d", s.Tool, s.Idx, maxTools/2)
		}
		size = max(size, int(s.Idx)+1)
	}
	all := make([]*tool, size, size+len(x.table.rows))
	placed := map[*tool]bool{}
	for _, s := range tools {
		t := x.find(s.Tool)
		if all[s.Idx] != nil || placed[t] {
			return fmt.Errorf("tool %.64q: its name or idx %d appears twice", s.Tool, s.Idx)
		}
		all[s.Idx], t.idx, placed[t] = t, s.Idx, true
	}
	for _, t := range x.table.rows {
		if !placed[t] {
			t.idx, t.born, t.genSeq = uint32(len(all)), x.seq.Load(), x.seq.Load()
			all = append(all, t)
		}
	}
	x.table.free = nil
	hole := &tool{gone: true, declared: true, trouble: healthy}
	for i, t := range all {
		if t == nil {
			x.table.free = append(x.table.free, uint32(i))
			all[i] = hole
		}
	}
	x.tools.Store(&all)
	return nil
}

func (x *Engine) loadCalls(s *Snapshot) error {
	for i, seq := range s.Pending {
		if seq == 0 || seq > s.LastCall || i > 0 && seq <= s.Pending[i-1] {
			return fmt.Errorf("pending call %d is out of order or was never issued", seq)
		}
	}
	x.ring.restore(s.LastCall, s.Lost, s.Pending)
	for _, c := range s.Calls {
		x.special[c.Call] = callInfo{threshold: c.Threshold, shadow: c.Shadow}
	}
	return nil
}
