package redisfleet

import (
	"context"
)

// publishMost is how many changes one command offers.
const publishMost = 64

// publish offers what waits in the outbox, in its order, until that is empty.
func (f *Fleet) publish(ctx context.Context) error {
	for {
		offers, err := f.next()
		if err != nil || len(offers) == 0 {
			return err
		}
		verdicts, err := f.wire.publish(ctx, f.view.epoch, offers)
		if err != nil {
			f.mu.Lock()
			f.outbox = append(onlyBudget(offers), f.outbox...)
			f.mu.Unlock()
			return err
		}
		for i, v := range verdicts {
			f.judged(offers[i], v)
		}
	}
}

// next takes changes out of the outbox, as many as one command offers: no two of
// one tool, since the second builds on what becomes of the first.
func (f *Fleet) next() ([]offer, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.flood {
		return nil, errFlood
	}
	var offers []offer
	taken := map[string]bool{}
	for len(f.outbox) > 0 && len(offers) < publishMost {
		o := f.outbox[0]
		tool, ok := o.about()
		if ok && taken[tool] {
			break
		}
		taken[tool] = taken[tool] || ok
		f.outbox = f.outbox[1:]
		var err error
		if o.json, err = writeChange(o.change); err != nil {
			f.commentLocked("change of "+tool, err)
			f.settledLocked(o, place{})
			continue
		}
		offers = append(offers, o)
	}
	return offers, nil
}

// settledLocked notes that the verdict on a change is there. at is its place in
// the log, or zero: what builds on it stands on that.
func (f *Fleet) settledLocked(o offer, at place) {
	tool, ok := o.about()
	if !ok {
		return
	}
	if f.unsettled[tool] == o.serial {
		delete(f.unsettled, tool)
	}
	for i := range f.outbox {
		if at != (place{}) && f.outbox[i].after == o.serial {
			f.outbox[i].base = at
		}
	}
}

// judged takes in the fleet's word on a change of this engine's.
func (f *Fleet) judged(o offer, v verdict) {
	f.mu.Lock()
	if v.accepted {
		f.status.Counts.Published++
	} else {
		f.status.Counts.Refused++
	}
	if v.full {
		f.unshared[o.change.Tool] = true
		f.commentLocked("tools", errFull)
	}
	if l := f.leases[o.change.Tool]; l.token != "" && l.token == o.token {
		delete(f.leases, o.change.Tool) // a trial, or a control, ends it
	}
	f.settledLocked(o, v.at)
	f.mu.Unlock()
	f.saw(v.at)
	tool, ok := o.about()
	switch {
	case !ok || v.full:
	case v.accepted:
		f.fold(told{at: v.at, member: f.o.Member, change: o.change})
		if tool != "" { // the engine may have changed its mind meanwhile
			f.reconcile(tool)
		}
	default:
		f.learn(tool, v.current)
	}
}
