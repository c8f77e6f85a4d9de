package executor

import (
	"errors"
	"fmt"

	"github.com/expediter-go/expediter/cascade"
)

// Guard is another breaker in front of a tool, such as one that a program has
// already. It is asked after the engine has said CALL or PROBE and the bulkhead
// had a place, and its refusal never counts against the tool.
//
// done is called once with what became of the call, from whichever goroutine
// ends it: nil if the tool worked, which includes an answer that its caller does
// not like; else the tool's own error, or that of a call whose caller has gone,
// or one that tells a panic. What the engine ignores, such as a cancellation, is
// given as its error too; a guard that knows exclusions should exclude it.
type Guard interface {
	Allow() (done func(error), err error)
}

// told is the error that a guard hears of an ending.
func (end *ending) told() error {
	switch {
	case end.outcome.Result == cascade.Succeeded:
		return nil
	case end.way == panicked:
		if err, ok := end.value.(error); ok {
			return fmt.Errorf("panic: %w", err)
		}
		return errors.New(end.outcome.Text)
	case end.way == exited:
		return errors.New(end.outcome.Text)
	}
	return end.err
}
