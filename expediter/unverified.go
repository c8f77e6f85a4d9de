package expediter

import (
	"slices"
	"time"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade"
)

// Unverified is a failed call that may have taken effect all the same, until
// somebody has looked.
type Unverified struct {
	Tool string `json:"tool"`
	Moment
}

// maxUnverified bounds the calls that are kept one by one.
const maxUnverified = 20

// unverify keeps a failed call that may have taken effect. One of a tool that
// only reads has none.
func (x *Engine) unverify(t *tool, o Outcome) {
	if !o.MayHaveTakenEffect || o.Result != cascade.Failed || t.spec.entry.SideEffects == capability.EffectsNone {
		return
	}
	t.ill().unverified++
	if len(x.unverified) >= maxUnverified {
		x.unverified = slices.Delete(x.unverified, 0, 1)
	}
	u := Unverified{t.name, Moment{Step: x.cur.step, At: x.cur.at, Category: o.Category, Text: clip(o.Text)}}
	x.unverified = append(x.unverified, u)
	if x.events.Unverified != nil {
		x.queue.add(notice{unverified: &u})
	}
}

// Verified says that somebody has found out what the calls of the tool that may
// have taken effect did: they leave Status.Unverified, and alternatives may
// stand in for it again. The name is the tool's own, not that of its map entry.
// why is for the journal. A tool with no such call is no error; one that a
// strict engine does not know is.
func (x *Engine) Verified(name, why string, step int64, at time.Time) error {
	name = toolName(name)
	_, err := x.try(OpVerified, step, at, func() error { return x.named(name, why) }, func() {
		if t := x.find(name); t != nil && t.unverified > 0 {
			t.ill().unverified = 0
		}
		x.unverified = slices.DeleteFunc(x.unverified, func(u Unverified) bool { return u.Tool == name })
	})
	return err
}

// recall counts the unverified calls of a tool that was evicted and is back.
func (x *Engine) recall(t *tool) {
	for _, u := range x.unverified {
		if u.Tool == t.name {
			t.ill().unverified++
		}
	}
}
