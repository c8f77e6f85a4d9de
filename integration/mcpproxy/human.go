package mcpproxy

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/expediter-go/expediter/expediter"
)

// humanWait is how long a call waits for its human's answer to a pause, and
// askAgain after how long one who gave none is asked once more.
const (
	humanWait = 2 * time.Minute
	askAgain  = 5 * time.Minute
)

// human is whom a client can ask. A nil elicit: nobody.
type human struct {
	elicit func(ctx context.Context, message string, schema json.RawMessage) (action string, content json.RawMessage, err error)
	// open has the human shown an address, and opened says that there is nothing
	// to be done with it any more; nil: the client shows none.
	open   func(ctx context.Context, id, message, address string) error
	opened func(ctx context.Context, id string)
	modern bool   // the client speaks 2026-07-28: it is asked by input_required
	client string // what the client calls itself, hostile
}

// The human's choices. Stop is also what declining and closing the question mean.
const (
	choiceCycle   = "new cycle"
	choiceConfirm = "recovery confirmed"
	choiceStop    = "stop"
)

// pauseKey names our question among the input requests of a result.
const pauseKey = "io.github.expediter/pause"

// maxQuestions bounds the questions of one client that wait for their answer.
const maxQuestions = 64

// inquiry is what a client's human was asked: once for each pause.
type inquiry struct {
	mu     sync.Mutex // no other is taken within it
	pause  string     // the latest pause that was asked about
	at     time.Time
	ended  chan struct{} // closed when the question has its end; nil: asked by input_required
	enough chan struct{} // closed when the human has spoken by a command; nil: nobody waits
	note   string        // what came of it, as a fact for the agent; empty: nothing yet
	open   map[string]question
}

// question is one that was given to a client as input_required, and what a server
// had asked for in the same call.
type question struct {
	pause            string
	responses, state json.RawMessage // the call's own, for a server; nil: none
}

// ask lets the human speak about a pause. It returns a result that is the
// question, for clients that are asked by input_required; or whether to decide
// again; or else what is known of the human's word.
func (c *client) ask(ctx context.Context, params json.RawMessage) (result json.RawMessage, note string, again bool) {
	st := c.engine.Status()
	if st.Paused == expediter.NoReason {
		return nil, "", true // it has ended meanwhile
	}
	if !c.canAsk(params) {
		return nil, "", false
	}
	id, now := pauseID(st), c.now()
	a := &c.asked
	a.mu.Lock()
	settled := a.note != "" && a.note != noAnswer || a.note == "" && a.ended != nil
	if a.pause == id && (settled || now.Sub(a.at) < askAgain) {
		ended, note := a.ended, a.note
		a.mu.Unlock()
		if ended == nil || note != "" {
			return nil, note, false
		}
		return c.await(ctx, ended, id)
	}
	a.pause, a.at, a.note, a.ended = id, now, "", nil
	if c.human.modern {
		a.mu.Unlock()
		return c.inputRequired(st, id, params), "", false
	}
	ended, enough := make(chan struct{}), make(chan struct{})
	a.ended, a.enough = ended, enough
	a.mu.Unlock()
	defer close(ended)
	action, content := c.elicit(ctx, st, enough)
	note = c.heard(id, action, content)
	return nil, note, note == ""
}

// noAnswer is what an agent is told of a human who did not answer in time.
const noAnswer = "The user was asked and has not answered."

// await waits for the end of a question that another call has asked.
func (c *client) await(ctx context.Context, ended chan struct{}, id string) (json.RawMessage, string, bool) {
	select {
	case <-ended:
	case <-ctx.Done():
		return nil, "", false
	}
	c.asked.mu.Lock()
	defer c.asked.mu.Unlock()
	return nil, c.asked.note, c.asked.note == "" || c.asked.pause != id
}

// pauseID tells one pause from the next.
func pauseID(st expediter.Status) string {
	if i, ok := activeIncident(st); ok && st.Paused == expediter.Systemic {
		return fmt.Sprintf("systemic %d %s", i.At, i.Cause)
	}
	return fmt.Sprintf("budget %d", st.Cycle)
}

// canAsk reports whether the client says that it can ask its human.
func (c *client) canAsk(params json.RawMessage) bool {
	if !c.human.modern {
		return c.human.elicit != nil
	}
	var p struct {
		Meta struct {
			Caps struct {
				Elicitation json.RawMessage `json:"elicitation"`
			} `json:"io.modelcontextprotocol/clientCapabilities"`
		} `json:"_meta"`
	}
	if json.Unmarshal(params, &p) != nil {
		return false
	}
	var forms map[string]json.RawMessage // empty: forms, as ever
	if e := p.Meta.Caps.Elicitation; len(e) == 0 || json.Unmarshal(e, &forms) != nil || forms == nil {
		return false
	}
	return len(forms) == 0 || forms["form"] != nil
}

// elicit asks the human and waits, at most humanWait, or until enough is closed.
// What cannot be asked is a question without an answer.
func (c *client) elicit(ctx context.Context, st expediter.Status, enough <-chan struct{}) (action string, content json.RawMessage) {
	ctx, cancel := context.WithTimeout(ctx, humanWait)
	defer cancel()
	type reply struct {
		action  string
		content json.RawMessage
		err     error
	}
	got := make(chan reply, 1)
	go func() {
		r := reply{err: errPanic}
		defer func() {
			_ = recover()
			got <- r
		}()
		action, content, err := c.human.elicit(ctx, questionText(st), questionSchema(st))
		r = reply{action, content, err}
	}()
	select {
	case r := <-got:
		if r.err != nil {
			c.log().Info("the human could not be asked", zap.Error(r.err))
			return "", nil
		}
		return r.action, r.content
	case <-enough:
		return "", nil
	case <-ctx.Done():
		return "", nil
	}
}

// heard acts on the human's word about a pause, and returns what the agent is
// told of it: nothing if the pause has ended.
func (c *client) heard(id, action string, content json.RawMessage) (note string) {
	defer func() {
		c.asked.mu.Lock()
		defer c.asked.mu.Unlock()
		if c.asked.pause == id {
			c.asked.note = note
		}
	}()
	st := c.engine.Status()
	if st.Paused == expediter.NoReason || pauseID(st) != id {
		return "" // it has ended otherwise
	}
	var chosen struct{ Choice string }
	if action == "accept" {
		_ = json.Unmarshal(content, &chosen)
	}
	now := c.now()
	switch {
	case action == "":
		return noAnswer
	case chosen.Choice == choiceCycle && st.Paused == expediter.Budget:
		c.engine.BeginCycle(expediter.NoStep, now)
	case chosen.Choice == choiceConfirm && st.Paused == expediter.Systemic:
		if _, err := c.engine.ConfirmRecovery("the user, asked through the client", expediter.NoStep, now); err != nil {
			c.log().Info("a recovery was confirmed that another had confirmed", zap.Error(err))
		}
	default:
		return "The user was asked, and chose to stop."
	}
	c.changed.Add(1)
	return ""
}

func questionText(st expediter.Status) string {
	text := "expediter has paused the agent's tools. " + pauseCause(st, st.Paused)
	if st.Paused == expediter.Systemic {
		return text + " Is the cause gone, so that they may be tried again?"
	}
	return text + " Begin a new cycle, with a full budget?"
}

func questionSchema(st expediter.Status) json.RawMessage {
	choices := []string{choiceCycle, choiceStop}
	if st.Paused == expediter.Systemic {
		choices[0] = choiceConfirm
	}
	return encode(map[string]any{
		"type":       "object",
		"properties": map[string]any{"choice": map[string]any{"type": "string", "title": "How to go on", "enum": choices}},
		"required":   []string{"choice"},
	})
}

// inputRequired is the question as a result. The call comes again with the answer.
func (c *client) inputRequired(st expediter.Status, id string, params json.RawMessage) json.RawMessage {
	q := question{pause: id}
	if ms, err := members(params); err == nil {
		q.responses, q.state = getMember(ms, "inputResponses"), getMember(ms, "requestState")
	}
	nonce := "expediter-" + rand.Text()
	a := &c.asked
	a.mu.Lock()
	if a.open == nil || len(a.open) >= maxQuestions {
		a.open = map[string]question{}
	}
	a.open[nonce] = q
	a.mu.Unlock()
	return encode(map[string]any{
		"resultType":   "input_required",
		"requestState": nonce,
		"inputRequests": map[string]any{pauseKey: map[string]any{
			"method": "elicitation/create",
			"params": map[string]any{"mode": "form", "message": questionText(st), "requestedSchema": questionSchema(st)},
		}},
	})
}

// takeAnswer takes the answer to a question of ours out of a call, and acts on
// it. What a server had asked for comes back in its place. A question has one
// answer: its state is good for one call, and nobody can guess it.
func (c *client) takeAnswer(params json.RawMessage) json.RawMessage {
	if !c.human.modern {
		return params
	}
	ms, err := members(params)
	if err != nil {
		return params
	}
	nonce, ok := getString(ms, "requestState")
	if !ok {
		return params
	}
	a := &c.asked
	a.mu.Lock()
	q, ok := a.open[nonce]
	delete(a.open, nonce)
	a.mu.Unlock()
	if !ok {
		return params // a server's own
	}
	var answers map[string]struct {
		Action  string
		Content json.RawMessage
	}
	_ = json.Unmarshal(getMember(ms, "inputResponses"), &answers)
	c.heard(q.pause, answers[pauseKey].Action, answers[pauseKey].Content)
	return encodeMembers(putBack(putBack(ms, "inputResponses", q.responses), "requestState", q.state))
}

func putBack(ms []member, key string, value json.RawMessage) []member {
	if value == nil {
		ms, _ = dropMember(ms, key)
		return ms
	}
	return setMember(ms, key, value)
}
