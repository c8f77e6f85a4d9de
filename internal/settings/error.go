package settings

import (
	"errors"
	"fmt"
)

// Errors that callers branch on; those of this package wrap one of them, or
// are an *Error, or come from the system.
var (
	ErrAgent   = errors.New("unknown agent")               // or one that cannot have what is wanted
	ErrCommand = errors.New("the hook command")            // what the agent is to run cannot be said
	ErrForeign = errors.New("a file of somebody else")     // in the place of one that would be ours
	ErrChanged = errors.New("changed since it was read")   // between the plan and its application
	ErrPlace   = errors.New("no place for settings there") // the user's home is not known
)

// Error is what is wrong with a settings file.
type Error struct {
	File   string
	Line   int // from 1; 0: the file as a whole
	Column int // from 1, in characters
	What   string
	Do     string
}

// Error is `FILE:LINE:COLUMN: what; what to do`.
func (e *Error) Error() string {
	place := e.File
	if e.Line > 0 {
		place += fmt.Sprintf(":%d:%d", e.Line, e.Column)
	}
	return place + ": " + e.What + "; " + e.Do
}
