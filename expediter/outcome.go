package expediter

import (
	"errors"
	"time"

	"github.com/expediter-go/expediter/cascade"
)

// Outcome is what came of a call, as Record takes it. Make one with Success,
// Failure or Ignored, then set the optional fields. The zero Outcome is a
// failure of unknown category.
type Outcome struct {
	Result   cascade.Outcome
	Category cascade.Category // of a failure
	// MayHaveTakenEffect is a failure (a timeout, a lost connection) after which
	// nobody knows whether the call was carried out. It is a failure as any other;
	// until Verified no alternative stands in for its tool. Without meaning for a
	// tool whose map entry says that it has no side effects.
	MayHaveTakenEffect bool
	Signature          string        // normalised error text, to correlate failures; optional
	Text               string        // the error as the tool gave it; for reports, hostile
	Duration           time.Duration // how long the call took; zero: not measured
	RetryAfter         time.Duration // a failure's word when to come back; zero: none
}

// Success is a call whose tool worked, however unwelcome its answer.
func Success() Outcome { return Outcome{Result: cascade.Succeeded} }

// Failure is a call whose tool, or the way to it, is broken.
func Failure(category cascade.Category, text string) Outcome {
	return Outcome{Category: category, Text: text}
}

// Ignored is a call that says nothing about its tool.
func Ignored() Outcome { return Outcome{Result: cascade.Ignored} }

// Errors of the engine. They work with errors.Is.
var (
	// ErrUnknownCall: the engine never issued the id, or has forgotten it.
	ErrUnknownCall = errors.New("unknown_call")
	// ErrAlreadyRecorded: the call was recorded before.
	ErrAlreadyRecorded = errors.New("already_recorded")
	// ErrNoSystemicFailure: ConfirmRecovery without an active incident.
	ErrNoSystemicFailure = errors.New("no_systemic_failure")
	// ErrUnknownTool: a control names a tool that the engine does not know.
	ErrUnknownTool = errors.New("unknown_tool")
	// ErrNotCalled: a refusal of ours, or of a guard, is this. The outcome of whoever
	// met it is ignored: it is not the tool's failure.
	ErrNotCalled = errors.New("not_called")
)

// Result is what Record and the other events answer.
type Result struct {
	Stale   bool   // the outcome came from an older generation: no counter, no state changed
	Batched bool   // the failure is part of an observation that was counted before; see breaker.Policy.Batch
	Opened  bool   // this event opened at least one circuit
	Closed  bool   // this event closed the tool's circuit
	Paused  Reason // Systemic, Budget or NoReason, after this event
}
