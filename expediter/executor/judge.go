package executor

import (
	"errors"
	"fmt"
	"strings"

	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/cascade/classify"
	"github.com/expediter-go/expediter/expediter"
)

// maxText is how much of a tool's text an outcome keeps, in bytes. The engine
// keeps less.
const maxText = 64 << 10

// judge turns what a tool returned into an outcome. ctxErr is the error of the
// call's context at that time.
func (e *Executor) judge(tool string, err, ctxErr error) expediter.Outcome {
	if err == nil {
		return expediter.Success()
	}
	return observed(classify.Observation{Tool: tool, Err: err, ContextErr: ctxErr, Rules: e.entry(tool).rules})
}

// observed is an observation's outcome. The text of an error after the end of
// the context is that of the context, which every tool says, so it correlates
// nothing.
func observed(o classify.Observation) (out expediter.Outcome) {
	defer func() {
		if p := recover(); p != nil { // methods of o.Err, such as Error on a nil pointer
			out = expediter.Failure(cascade.Unknown, fmt.Sprintf("the tool's error of type %T cannot be read", o.Err))
		}
		out.Duration = o.Duration
	}()
	if errors.Is(o.Err, expediter.ErrNotCalled) {
		return expediter.Ignored()
	}
	v := classify.Observe(o)
	out = expediter.Outcome{Result: v.Outcome, Category: v.Category, Signature: v.Signature, Text: o.Result, RetryAfter: v.RetryAfter}
	if o.Err != nil {
		out.Text = o.Err.Error()
	}
	out.Text = bounded(out.Text)
	if o.ContextErr != nil {
		out.Signature = ""
	}
	return out
}

// judgePanic is a failure whatever the value; an error tells its category.
func (e *Executor) judgePanic(tool string, value any) expediter.Outcome {
	err, isError := value.(error)
	text, isText := value.(string)
	if !isText {
		text = fmt.Sprint(value)
	}
	text = "panic: " + bounded(text)
	if !isError {
		err = errors.New(text)
	}
	o := e.judge(tool, err, nil)
	if o.Result != cascade.Failed {
		o = expediter.Failure(cascade.Unknown, text)
	}
	o.Text = text
	return o
}

// mayHaveTakenEffect reports whether a call of a tool with side effects ended so
// that nobody knows whether it had them: it hung, broke off, was cut off by the
// end of its context, or its connection was lost.
func (e *Executor) mayHaveTakenEffect(tool string, end *ending) bool {
	switch {
	case !e.entry(tool).effects:
		return false
	case end.way != returned:
		return true
	case end.outcome.Result == cascade.Failed:
		return classify.InDoubt(end.outcome.Category, end.err)
	case end.outcome.Result == cascade.Ignored:
		return end.cut && !classify.NeverSent(end.err)
	}
	return false
}

// bounded is a copy of the beginning, so that an outcome holds no more.
func bounded(text string) string {
	if len(text) <= maxText {
		return text
	}
	return strings.Clone(text[:maxText])
}

// text is an error's, whatever its methods do.
func text(err error) (s string) {
	defer func() {
		if recover() != nil {
			s = fmt.Sprintf("an error of type %T that cannot be read", err)
		}
	}()
	return bounded(err.Error())
}
