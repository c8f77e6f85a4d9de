// Package control is how a human's commands reach a running proxy: JSON over HTTP
// on a Unix socket in the store's folder "run", one for each proxy. That folder,
// like the socket, is the user's alone, and where the system tells who calls,
// nobody else is heard. Whether the user is a human is for the command to ask
// (package operator), as it is for sessions that no proxy holds.
package control

import (
	"errors"
	"fmt"
	"slices"
)

// Folder is the folder of the sockets within a store.
const Folder = "run"

// Op is what is done to a session.
type Op uint8

// The controls. The zero Op is none, and refused.
const (
	None    Op = iota
	Confirm    // the recovery of an incident
	Resume     // begins a new cycle
	Reset      // closes a tool's circuit
	Open       // opens a tool's circuit
)

var opNames = [...]string{None: "none", Confirm: "confirm", Resume: "resume", Reset: "reset", Open: "open"}

// String is the name of the command.
func (o Op) String() string {
	if int(o) < len(opNames) {
		return opNames[o]
	}
	return opNames[None]
}

// MarshalText writes the name of the command.
func (o Op) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText reads a name; one that is unknown is an error.
func (o *Op) UnmarshalText(text []byte) error {
	i := slices.Index(opNames[:], string(text))
	if i <= 0 {
		return fmt.Errorf("unknown control %.40q; use confirm, resume, reset or open", text)
	}
	*o = Op(i)
	return nil
}

// Request is one control of one session.
type Request struct {
	Op      Op     `json:"op"`
	Session string `json:"session"`        // its id, whole
	Tool    string `json:"tool,omitempty"` // SERVER/TOOL; of reset and open
	Why     string `json:"why,omitempty"`  // words for the journal
}

// What the error of a request is about.
var (
	// ErrGone: no proxy hears at the socket any more.
	ErrGone = errors.New("the proxy has ended")
	// ErrNoSession: the proxy has no such session, or it has ended.
	ErrNoSession = errors.New("the proxy has no such session any more")
	// ErrNoTool: the proxy knows no tool of that name.
	ErrNoTool = errors.New("no such tool")
	// ErrNothing: there is nothing for the control to do.
	ErrNothing = errors.New("nothing was changed")
)

// kinds are the names of the errors on the wire.
var kinds = map[string]error{"no_session": ErrNoSession, "no_tool": ErrNoTool, "nothing": ErrNothing}

func kindOf(err error) string {
	for kind, is := range kinds {
		if errors.Is(err, is) {
			return kind
		}
	}
	return ""
}

// reply is the answer to each request.
type reply struct {
	Tool  string `json:"tool,omitempty"`
	Error string `json:"error,omitempty"`
	Kind  string `json:"kind,omitempty"` // of the error; see kinds
}

// failure is an error that came over the wire.
type failure struct {
	text string
	is   error // nil: none of ours
}

func (f *failure) Error() string { return f.text }
func (f *failure) Unwrap() error { return f.is }

// The paths of the requests.
const (
	pathWrite = "/v1/write" // what is known into the store
	pathTool  = "/v1/tool"  // a Request whose Tool is as it was typed
	pathDo    = "/v1/do"    // a Request
)
