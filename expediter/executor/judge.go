package executor

import (
	"errors"
	"fmt"

	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/cascade/classify"
	"github.com/expediter-go/expediter/expediter"
)

// judge turns what a tool returned into an outcome. ctxErr is the error of the
// call's context at that time. The text of an error after the end of the
// context is that of the context, which every tool says, so it correlates
// nothing.
func judge(tool string, rules classify.Rules, err, ctxErr error) (o expediter.Outcome) {
	if err == nil {
		return expediter.Success()
	}
	defer func() {
		if p := recover(); p != nil { // err's own methods, such as Error on a nil pointer
			o = expediter.Failure(cascade.Unknown, fmt.Sprintf("the tool's error of type %T cannot be read", err))
		}
	}()
	v := classify.Observe(classify.Observation{Tool: tool, Err: err, ContextErr: ctxErr, Rules: rules})
	o = expediter.Outcome{Result: v.Outcome, Category: v.Category, Signature: v.Signature, Text: err.Error(), RetryAfter: v.RetryAfter}
	if ctxErr != nil {
		o.Signature = ""
	}
	return o
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
