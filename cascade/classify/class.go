package classify

import (
	"fmt"

	"github.com/expediter-go/expediter/cascade"
)

// class is what a rule finds: one of the categories of a failure, or one of
// the classes below, which are none. The zero class is an unknown failure.
type class uint8

const (
	unknown     = class(cascade.Unknown)
	network     = class(cascade.Network)
	timeout     = class(cascade.Timeout)
	rateLimit   = class(cascade.RateLimit)
	auth        = class(cascade.Auth)
	permission  = class(cascade.Permission)
	filesystem  = class(cascade.Filesystem)
	resource    = class(cascade.Resource)
	upstream    = class(cascade.Upstream)
	toolMissing = class(cascade.ToolMissing)
)

const (
	worked       class = iota + 100 // a result that is no error at all
	invalidInput                    // the tool answered: the call was wrong
	cancelled                       // by the caller or the user
	userDenied                      // refused by the user or a guard
	config                          // set up wrongly; time does not cure it
	none                            // says nothing about the tool
)

var otherClasses = map[class]string{
	worked:       "ok",
	invalidInput: "invalid_input",
	cancelled:    "cancelled",
	userDenied:   "user_denied",
	config:       "config",
	none:         "none",
}

// String is the word that Verdict.Class carries.
func (c class) String() string {
	if name, ok := otherClasses[c]; ok {
		return name
	}
	if c <= toolMissing {
		return cascade.Category(c).String()
	}
	return fmt.Sprintf("class(%d)", uint8(c))
}

// outcome is what the class says about the tool.
func (c class) outcome() cascade.Outcome {
	switch c {
	case worked, invalidInput:
		return cascade.Succeeded
	case cancelled, userDenied, config, none:
		return cascade.Ignored
	default:
		return cascade.Failed
	}
}

// category is that of a failure, Unknown otherwise.
func (c class) category() cascade.Category {
	if c.outcome() != cascade.Failed {
		return cascade.Unknown
	}
	return cascade.Category(c)
}
