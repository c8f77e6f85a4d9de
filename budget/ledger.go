package budget

import (
	"fmt"
	"slices"
)

// Limits of a ledger.
const (
	Default   = 5  // failures per cycle (SPEC section 6)
	Unlimited = -1 // counts, never exhausts
)

// MaxCharges bounds the charges that a ledger remembers one by one; consumed
// goes on counting beyond it, the oldest charges are then forgotten.
const MaxCharges = 10_000

// Charge is one failure on the budget.
type Charge struct {
	Tool      string `json:"tool"`
	Step      int64  `json:"step"`
	At        int64  `json:"at,omitempty"`       // milliseconds; 0: no time was given
	Category  string `json:"category,omitempty"` // as the caller names it
	Signature string `json:"signature,omitempty"`
	Text      string `json:"text,omitempty"`
	Declared  bool   `json:"declared,omitempty"` // by a declared outage: never folds, never capped
	Folded    bool   `json:"folded,omitempty"`   // belongs to an incident that counts once
	Free      bool   `json:"free,omitempty"`     // folded, and not the one that counts
}

// Ledger counts the failures of one cycle against a limit. It is not safe for
// concurrent use. Make one with New.
type Ledger struct {
	limit    int
	perTool  int // 0: off
	cycle    int
	consumed int
	charges  []Charge
	byTool   map[string]int
}

// New returns the ledger of cycle 1. limit is the failures that exhaust it:
// 1 or more, or Unlimited; 0 is Default. perTool stops charging a tool after
// that many charges in a cycle; 0 or less is off.
func New(limit, perTool int) (*Ledger, error) {
	if limit == 0 {
		limit = Default
	}
	if limit < 1 && limit != Unlimited {
		return nil, fmt.Errorf("budget is %d; give 1 or more, or budget.Unlimited", limit)
	}
	return &Ledger{limit: limit, perTool: max(perTool, 0), cycle: 1, byTool: map[string]int{}}, nil
}

// Charge puts a failure on the ledger and reports whether it was charged: past
// the limit of one tool it is not. A ledger that is exhausted goes on counting.
func (l *Ledger) Charge(c Charge) bool {
	if l.perTool > 0 && !c.Declared && l.byTool[c.Tool] >= l.perTool {
		return false
	}
	l.byTool[c.Tool]++
	l.consumed++
	if len(l.charges) >= MaxCharges {
		l.charges = slices.Delete(l.charges, 0, MaxCharges/10)
	}
	l.charges = append(l.charges, c)
	return true
}

// Fold makes the charges that match count as one, leaving out those that are
// folded already or were declared (SPEC section 7).
func (l *Ledger) Fold(match func(*Charge) bool) {
	first := true
	for i := range l.charges {
		c := &l.charges[i]
		if c.Folded || c.Declared || !match(c) {
			continue
		}
		c.Folded = true
		if !first {
			c.Free = true
			l.consumed--
		}
		first = false
	}
}

// Begin empties the ledger for the next cycle.
func (l *Ledger) Begin() {
	l.cycle++
	l.consumed, l.charges = 0, nil
	clear(l.byTool)
}

// Cycle counts the cycles; the first is 1.
func (l *Ledger) Cycle() int { return l.cycle }

// Limit returns the budget, or Unlimited.
func (l *Ledger) Limit() int { return l.limit }

// Consumed returns the failures that count in this cycle. Late ones may take
// it past the limit.
func (l *Ledger) Consumed() int { return l.consumed }

// Remaining returns the failures that are left, at least 0; Unlimited if there
// is no limit.
func (l *Ledger) Remaining() int {
	if l.limit == Unlimited {
		return Unlimited
	}
	return max(l.limit-l.consumed, 0)
}

// Exhausted reports whether the agent must pause: consumed ≥ limit.
func (l *Ledger) Exhausted() bool { return l.limit != Unlimited && l.consumed >= l.limit }

// Charges returns this cycle's charges, oldest first.
func (l *Ledger) Charges() []Charge { return slices.Clone(l.charges) }

// String is consumed/limit, as in 4/5; without a limit it is 4/unlimited.
func (l *Ledger) String() string {
	if l.limit == Unlimited {
		return fmt.Sprintf("%d/unlimited", l.consumed)
	}
	return fmt.Sprintf("%d/%d", l.consumed, l.limit)
}

// Saved is a ledger without its limits, for snapshots.
type Saved struct {
	Cycle    int            `json:"cycle"`
	Consumed int            `json:"consumed"`
	Charges  []Charge       `json:"charges,omitempty"`
	ByTool   map[string]int `json:"by_tool,omitempty"`
}

// Save copies the ledger's state.
func (l *Ledger) Save() Saved {
	s := Saved{Cycle: l.cycle, Consumed: l.consumed, Charges: slices.Clone(l.charges), ByTool: make(map[string]int, len(l.byTool))}
	for t, n := range l.byTool {
		s.ByTool[t] = n
	}
	return s
}

// Load sets the ledger's state and keeps its limits.
func (l *Ledger) Load(s Saved) {
	l.cycle, l.consumed = max(s.Cycle, 1), max(s.Consumed, 0)
	l.charges = slices.Clone(s.Charges)
	clear(l.byTool)
	for t, n := range s.ByTool {
		l.byTool[t] = n
	}
}
