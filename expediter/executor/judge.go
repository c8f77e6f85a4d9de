package executor

import (
	"errors"
	"fmt"

	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/cascade/classify"
	"github.com/expediter-go/expediter/expediter"
)

// judge turns what a tool returned into an outcome. ctxErr is the error of the
// call's context at that time.
func judge(tool string, rules classify.Rules, err, ctxErr error) expediter.Outcome {
	if err == nil {
		return expediter.Success()
	}
	return observed(classify.Observation{Tool: tool, Err: err, ContextErr: ctxErr, Rules: rules})
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
	if _, ours := errors.AsType[*Refused](o.Err); ours {
		return expediter.Ignored()
	}
	v := classify.Observe(o)
	out = expediter.Outcome{Result: v.Outcome, Category: v.Category, Signature: v.Signature, Text: o.Result, RetryAfter: v.RetryAfter}
	if o.Err != nil {
		out.Text = o.Err.Error()
	}
	if o.ContextErr != nil {
		out.Signature = ""
	}
	return out
}

// judgePanic is a failure whatever the value; an error tells its category.
func judgePanic(tool string, rules classify.Rules, value any) expediter.Outcome {
	text := fmt.Sprintf("panic: %v", value)
	err, ok := value.(error)
	if !ok {
		err = errors.New(text)
	}
	o := judge(tool, rules, err, nil)
	if o.Result != cascade.Failed {
		o = expediter.Failure(cascade.Unknown, text)
	}
	o.Text = text
	return o
}
