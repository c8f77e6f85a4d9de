package classify

import (
	"context"
	"errors"
	"strings"
)

// evidence is an observation made ready for the tables.
type evidence struct {
	Observation
	cmd      command
	text     string   // both ends of the text, clean
	folded   string   // the same, as the text table wants it
	exit     *int     // the exit code, given or told by the text
	told     class    // what a field of the payload settles
	toldBy   string   // empty: none does
	fallback class    // what the payload means if nothing else is known; zero: nothing
	spoken   bool     // the text is the harness's own, no program has printed it
	own      *ownRule // the user's rule that decided; nil: none did
}

func newEvidence(o Observation, cmd command) *evidence {
	o.Err, o.ContextErr = readable(o.Err), readable(o.ContextErr)
	e := &evidence{Observation: o, cmd: cmd}
	e.readPayload()
	if e.toldBy != "" && !e.Observation.failed() {
		e.Result = strings.TrimPrefix(e.toldBy, payloadPrefix) // the text is that of a success
	}
	if e.Unmarked && !e.failed() {
		e.readUnmarked()
	}
	e.exit = e.ExitCode
	if e.exit == nil && e.Class == "nonzero" {
		e.exit = new(1)
	}
	if e.failed() {
		e.readText()
	}
	return e
}

// readUnmarked takes a result that nothing marks for an error if it is in the
// form of a report, or if the client of a remote service ends with one.
func (e *evidence) readUnmarked() {
	if isReport(e.Result) && !e.cmd.printed(e.Result) {
		e.Failed = true
	} else if line := e.cmd.complaint(e.Result); line != "" {
		e.Failed, e.Result = true, line
	}
}

// readText makes the text of a failure ready, and the exit code that it tells.
func (e *evidence) readText() {
	raw := ends(e.Result)
	if e.Err != nil {
		raw = join(ends(errorText(e.Err)), raw)
	}
	e.text = clean(raw)
	e.folded = fold(e.messages())
	if e.exit == nil {
		e.exit = exitCode(e.Err, e.folded)
	}
}

func (o Observation) failed() bool {
	return o.Failed || o.Class != "" || o.Err != nil || o.DeadlineHit || o.HTTPStatus >= 400 || o.RPCCode != 0 || o.GRPCCode != 0 ||
		o.ExitCode != nil && *o.ExitCode != 0
}

func (e *evidence) failed() bool { return e.toldBy != "" || e.Observation.failed() }

// plain: a success that nothing has to be read for.
func (o Observation) plain() bool {
	return !o.failed() && len(o.Payload) == 0 && !o.Unmarked && !o.toldInText()
}

// questions are the tables in the order in which they are asked; the first
// that knows decides.
var questions = [...]func(*evidence) (class, string, bool){
	(*evidence).byContext, (*evidence).byOwnRule, (*evidence).byPayload, (*evidence).byNoOutput, (*evidence).byGivenClass,
	(*evidence).byError, (*evidence).byExitCode, (*evidence).byStatus, (*evidence).byText, (*evidence).byWeakCode,
}

func (e *evidence) judge() (class, string) {
	if !e.failed() {
		return worked, "ok"
	}
	for _, ask := range questions {
		if c, rule, ok := ask(e); ok {
			if c == timeout && e.shellLimit() {
				return none, "shell-limit"
			}
			return c, rule
		}
	}
	return e.otherwise()
}

// byContext: the caller's context or deadline ended the call; what the tool
// says then (signal: killed, a custom cause) is only the echo.
func (e *evidence) byContext() (class, string, bool) {
	var late interface{ Timeout() bool }
	switch {
	case e.DeadlineHit, errors.Is(e.ContextErr, context.DeadlineExceeded):
		return timeout, "context:deadline", true
	case errors.As(e.ContextErr, &late) && late.Timeout():
		return timeout, "context:deadline", true
	case e.ContextErr != nil:
		return cancelled, "context:cancelled", true
	}
	return 0, "", false
}

// otherwise is the answer when no rule knows. A program that ran to its end
// has answered; an error that came in an answer's place has not, nor has a peer
// whose task failed. A text alone says nothing: most errors are the tool telling
// the agent that it is wrong, and a breaker that counts those hurts.
func (e *evidence) otherwise() (class, string) {
	switch {
	case e.fallback != unknown:
		return e.fallback, "default:payload"
	case e.exit != nil && *e.exit > 0:
		return invalidInput, "default:exit"
	case e.Err != nil || e.RPCCode != 0 || e.HTTPStatus >= 400:
		return unknown, "default:error"
	case e.Protocol == Agent && e.cmd.program != "" && e.text != "":
		return invalidInput, "default:exit" // a command that failed and says why
	case e.text == "":
		return none, "default:empty"
	case e.Protocol == A2A:
		return unknown, "default:task"
	default:
		return none, "default:text"
	}
}
