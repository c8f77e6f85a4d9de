package expediter

import (
	"time"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade"
)

// Config makes an engine. It is validated once and copied.
type Config struct {
	Tools           capability.Map
	Policy          Policy // zero: Faithful; zero fields: their defaults
	Strict          bool   // SKIP tools that nobody declared
	UserUnavailable bool   // nobody can do a manual fallback
	Stepless        bool   // the caller passes NoStep: pacing by steps is an error
	MaxTools        int    // undeclared tools held at once; default 10,000
	Events          Events
	// Replay accepts probe.max below probe.every, as replay asks (SPEC 14).
	Replay bool
}

// DefaultMaxTools bounds the tools that a non-strict engine learns by itself.
const DefaultMaxTools = 10_000

// Engine decides. See New.
type Engine struct{}

func New(cfg Config) (*Engine, error)                                   { panic("skeleton") }
func Restore(cfg Config, s *Snapshot) (*Engine, error)                  { panic("skeleton") }
func (x *Engine) Decide(tool string, step int64, at time.Time) Decision { panic("skeleton") }
func (x *Engine) DecideScored(tool string, s capability.Score, step int64, at time.Time) Decision {
	panic("skeleton")
}
func (x *Engine) Record(call CallID, o Outcome, step int64, at time.Time) (Result, error) {
	panic("skeleton")
}
func (x *Engine) BeginCycle(step int64, at time.Time) Result { panic("skeleton") }
func (x *Engine) ConfirmRecovery(why string, step int64, at time.Time) (Result, error) {
	panic("skeleton")
}
func (x *Engine) SetAvailability(tool string, s capability.Score, step int64, at time.Time) {
	panic("skeleton")
}
func (x *Engine) DeclareOutage(cause cascade.Category, tools []string, step int64, at time.Time) (Result, error) {
	panic("skeleton")
}
func (x *Engine) ForceOpen(tool, why string, step int64, at time.Time) error { panic("skeleton") }
func (x *Engine) Reset(tool, why string, step int64, at time.Time) error     { panic("skeleton") }
func (x *Engine) Disable(tool, why string, step int64, at time.Time) error   { panic("skeleton") }
func (x *Engine) ObserveOnly(on bool, why string, step int64, at time.Time)  { panic("skeleton") }
func (x *Engine) Note(op Op, note map[string]any, step int64, at time.Time) error {
	panic("skeleton")
}
func (x *Engine) Status() Status      { panic("skeleton") }
func (x *Engine) Snapshot() *Snapshot { panic("skeleton") }

type Snapshot struct{}

func itoa(n int64) string { panic("skeleton") }
