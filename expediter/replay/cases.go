package replay

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// MaxList bounds the list that ReadEvents takes, in bytes.
const MaxList = 256 << 20

// ReadEvents reads a JSON list of events as in seed 000: {"t": integer,
// "result": "success" or "failure"}; other members are ignored. The error names
// the event or the byte that is wrong.
func ReadEvents(r io.Reader) ([]Event, error) { return readEvents(r, MaxList) }

func readEvents(r io.Reader, limit int) ([]Event, error) {
	data, err := io.ReadAll(io.LimitReader(r, int64(limit)+1))
	if err != nil {
		return nil, err
	}
	if len(data) > limit {
		return nil, fmt.Errorf("the list is larger than %d MiB; split it into cases and use --jsonl", limit>>20)
	}
	c := caseReader{scanner: scanner{data: data}}
	if err := c.list(); err != nil {
		return nil, err
	}
	if err := c.end(); err != nil {
		return nil, err
	}
	return c.events, nil
}

// BreakerLines replays one case for each line of r, {"events":[…],
// "failure_threshold":…,"cooldown":…,"half_open_successes":…}, and writes one
// line for each, the Result or {"error":…}. Blank lines are skipped. bad counts
// the cases that were errors; err is one of reading or writing.
func BreakerLines(w io.Writer, r io.Reader) (bad int, err error) {
	var c caseReader
	return each(w, r, c.replay)
}

// caseReader reads and replays cases. The memory of one is used for the next.
type caseReader struct {
	scanner
	events []Event
	params Params
	has    [4]bool
	result Result
}

// The members of a case, as indices of has.
const (
	hasEvents = iota
	hasThreshold
	hasCooldown
	hasSuccesses
)

var members = [...]string{hasEvents: "events", hasThreshold: "failure_threshold",
	hasCooldown: "cooldown", hasSuccesses: "half_open_successes"}

func (c *caseReader) replay(out, line []byte) ([]byte, error) {
	c.data, c.pos = line, 0
	if err := c.read(); err != nil {
		return out, err
	}
	if err := c.result.run(c.events, c.params); err != nil {
		return out, err
	}
	return c.result.append(out), nil
}

func (c *caseReader) read() error {
	c.has = [4]bool{}
	if !c.open('{') {
		return c.fail("an object, the case")
	}
	for first := true; ; first = false {
		more, err := c.more('}', first)
		if err != nil {
			return err
		}
		if !more {
			break
		}
		key, err := c.key()
		if err != nil {
			return err
		}
		if err := c.member(key); err != nil {
			return err
		}
	}
	if err := c.end(); err != nil {
		return err
	}
	return c.missing()
}

func (c *caseReader) member(key []byte) error {
	switch string(key) {
	case "events":
		c.has[hasEvents] = true
		return c.list()
	case "failure_threshold":
		return c.param(hasThreshold, &c.params.FailureThreshold)
	case "cooldown":
		return c.param(hasCooldown, &c.params.Cooldown)
	case "half_open_successes":
		return c.param(hasSuccesses, &c.params.HalfOpenSuccesses)
	}
	return c.skip(1)
}

func (c *caseReader) param(i int, into *int64) error {
	what, err := c.whole(into)
	if what != "" {
		return fmt.Errorf("%s is %s", members[i], what)
	}
	c.has[i] = true
	return err
}

// whole consumes an integer. what says why the value is none; it is empty for
// an integer and for broken JSON.
func (c *caseReader) whole(into *int64) (what string, err error) {
	c.peek()
	begin := c.pos
	if c.at('-') || c.pos < len(c.data) && c.data[c.pos] >= '0' && c.data[c.pos] <= '9' {
		*into, err = c.integer()
	} else if err = c.skip(1); err == nil {
		err = errFloat
	}
	if err != errFloat && err != errRange {
		return "", err
	}
	c.pos = begin
	return fmt.Sprintf("%s, %v; give an integer", c.found(), err), nil
}

func (c *caseReader) missing() error {
	var errs []error
	for i, has := range c.has {
		if !has {
			errs = append(errs, fmt.Errorf("%s is missing; every case needs it", members[i]))
		}
	}
	return errors.Join(errs...)
}

// list consumes the list of events.
func (c *caseReader) list() error {
	c.events = c.events[:0]
	if !c.open('[') {
		return c.fail("a list of events")
	}
	for first := true; ; first = false {
		more, err := c.more(']', first)
		if err != nil || !more {
			return err
		}
		e, what, err := c.event()
		if what != "" {
			return &EventError{len(c.events), what}
		}
		if err != nil {
			return fmt.Errorf("event %d (counting from 0): %w", len(c.events), err)
		}
		c.events = append(c.events, e)
	}
}

// event consumes one event. what says what is wrong with it, err what is wrong
// with the JSON.
func (c *caseReader) event() (e Event, what string, err error) {
	if !c.open('{') {
		begin := c.pos
		if err := c.skip(1); err != nil {
			return e, "", err
		}
		c.pos = begin
		return e, "found " + c.found() + ` instead of an event; give {"t": integer, "result": "success" or "failure"}`, nil
	}
	var hasT, hasResult bool
	for first := true; ; first = false {
		more, err := c.more('}', first)
		if err != nil {
			return e, "", err
		}
		if !more {
			break
		}
		key, err := c.key()
		if err == nil {
			hasT, hasResult = hasT || string(key) == "t", hasResult || string(key) == "result"
			what, err = c.eventMember(key, &e)
		}
		if what != "" || err != nil {
			return e, what, err
		}
	}
	switch {
	case !hasT:
		what = "t is missing; give its time, an integer"
	case !hasResult:
		what = `result is missing; give "success" or "failure"`
	}
	return e, what, nil
}

func (c *caseReader) eventMember(key []byte, e *Event) (what string, err error) {
	switch string(key) {
	case "t":
		if what, err = c.whole(&e.T); what != "" {
			what = "t is " + what
		}
		return what, err
	case "result":
		return c.outcome(e)
	}
	return "", c.skip(1)
}

func (c *caseReader) outcome(e *Event) (what string, err error) {
	quoted := c.peek() == '"'
	begin := c.pos
	var text []byte
	if quoted {
		text, err = c.text()
	} else {
		err = c.skip(1)
	}
	switch {
	case err != nil:
		return "", err
	case quoted && string(text) == "success":
		e.Failed = false
	case quoted && string(text) == "failure":
		e.Failed = true
	default:
		c.pos = begin
		return "result is " + c.found() + `; give "success" or "failure"`, nil
	}
	return "", nil
}

// appendError writes {"error":…}.
func appendError(b []byte, err error) []byte {
	text, failed := json.Marshal(map[string]string{"error": err.Error()})
	if failed != nil {
		panic("replay: a map of strings was refused: " + failed.Error())
	}
	return append(b, text...)
}
