package mcpproxy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/cascade/redact"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
	"github.com/expediter-go/expediter/report"
	"github.com/expediter-go/expediter/report/freshness"
)

// The keys of `_meta` that are ours.
const (
	metaDecision = "io.github.expediter/decision" // of a result that no server gave: verdict
	metaNote     = "io.github.expediter/note"     // of a block that was added: freshness or route
)

// verdict is a decision as data, for clients that read `_meta`.
type verdict struct {
	Decision     expediter.Verb `json:"decision"`
	Reason       string         `json:"reason,omitempty"`       // why nothing was called
	Outcome      string         `json:"outcome,omitempty"`      // of a call that was made
	Tool         string         `json:"tool,omitempty"`         // SERVER/TOOL
	Server       string         `json:"server,omitempty"`       // that is not connected
	Cause        string         `json:"cause,omitempty"`        // a category, or that of an incident
	Since        string         `json:"since,omitempty"`        // RFC 3339
	Failures     int            `json:"failures,omitempty"`     // in a row, that opened it
	Route        *verdictRoute  `json:"route,omitempty"`        //
	Next         int64          `json:"next,omitempty"`         // distance to the next trial, in Unit
	Unit         string         `json:"unit,omitempty"`         //
	RetryAfterMS int64          `json:"retryAfterMs,omitempty"` // until a trial is due by time alone
	Members      []string       `json:"members,omitempty"`      // of an incident
	Consumed     int            `json:"consumed,omitempty"`     // of the failure budget
	Limit        int            `json:"limit,omitempty"`        //
}

type verdictRoute struct {
	Kind        string `json:"kind"`
	Label       string `json:"label"`
	Tool        string `json:"tool,omitempty"` // as the client calls it
	Method      string `json:"method,omitempty"`
	Degradation string `json:"degradation,omitempty"`
	Ask         string `json:"ask,omitempty"`
}

type textBlock struct {
	Type string            `json:"type"`
	Text string            `json:"text"`
	Meta map[string]string `json:"_meta,omitempty"`
}

type toolResult struct {
	Content []textBlock        `json:"content"`
	IsError bool               `json:"isError,omitempty"`
	Meta    map[string]verdict `json:"_meta,omitempty"`
}

func errorResult(text string, v verdict) json.RawMessage {
	return encode(toolResult{Content: []textBlock{{Type: "text", Text: text}}, IsError: true, Meta: map[string]verdict{metaDecision: v}})
}

// rows are the engine's rows of tools that were skipped, until something changes:
// a status is of all tools, and an agent may ask for the same one very often.
type rows struct {
	mu  sync.Mutex // no other is taken within it
	gen int64
	by  map[string]expediter.ToolStatus
}

// row is what is told of a tool at a decision.
func (c *client) row(key string, d expediter.Decision, at time.Time) report.Told {
	gen := c.changed.Load()
	c.rows.mu.Lock()
	t, ok := c.rows.by[key]
	ok = ok && c.rows.gen == gen
	c.rows.mu.Unlock()
	if !ok || d.Reason == expediter.ProbeInFlight {
		t = report.Tell(c.engine.Status(), key).Tool
		c.rows.mu.Lock()
		if c.rows.gen != gen || c.rows.by == nil {
			c.rows.gen, c.rows.by = gen, map[string]expediter.ToolStatus{}
		}
		c.rows.by[key] = t
		c.rows.mu.Unlock()
	}
	t.Next, t.Unit = d.Next, d.Unit
	if d.Unit == breaker.Time && d.Next > 0 {
		t.NextAt = at.UnixMilli() + d.Next
	}
	return report.Told{Tool: t, At: at.UnixMilli(), Names: c.name}
}

// name is what the client calls a tool.
func (c *client) name(key string) string { return redact.Text(c.p.shownAs(key), maxText) }

// skipAnswer says why a tool is not called. more is what else happened.
func (c *client) skipAnswer(t target, d expediter.Decision, more string) json.RawMessage {
	told := c.row(t.key, d, c.now())
	v := verdict{Decision: expediter.Skip, Reason: d.Reason.String(), Tool: t.key, Route: c.verdictRoute(d.Route)}
	row := told.Tool
	if row.State != breaker.Closed {
		v.Since, v.Failures = stamp(row.OpenedAt), row.Run
		v.Next, v.Unit = row.Next, row.Unit.String()
		if row.LastFailure != nil {
			v.Cause = row.LastFailure.Category.String()
		}
		if row.NextAt > told.At {
			v.RetryAfterMS = row.NextAt - told.At
		}
	}
	text := "expediter: SKIP. "
	if gone(d) {
		o := c.outageOf(t.up)
		_, since := o.words()
		v.Server, v.Since, v.Cause = t.up.name(), stamp(since.UnixMilli()), o.category()
		v.Next, v.Unit, v.RetryAfterMS = 0, "", 0
		text += c.why(t, d, told) + " " + told.Route(d.Route) +
			" It is being connected anew; the next request after that is made. Tools of other servers are not affected."
	} else {
		text += told.Skip(d)
	}
	if more != "" {
		text += " " + more
	}
	return errorResult(text, v)
}

// gone reports whether a call was skipped because its server is not connected.
func gone(d expediter.Decision) bool {
	return d.Reason == expediter.Unavailable || d.Reason == expediter.Refused
}

// why says why a tool is not called.
func (c *client) why(t target, d expediter.Decision, told report.Told) string {
	if !gone(d) {
		return told.Open()
	}
	why, since := c.outageOf(t.up).words()
	text := fmt.Sprintf("%s is unavailable: its server %s is not connected", told.Name(), t.up.shownName())
	if !since.IsZero() {
		text += " since " + report.Clock(since.UnixMilli()) + report.Ago(told.At-since.UnixMilli())
	}
	if why != "" {
		text += fmt.Sprintf(" (%q)", redact.Text(why, 200))
	}
	return text + "."
}

func (c *client) verdictRoute(r *capability.Route) *verdictRoute {
	if r == nil {
		return nil
	}
	v := &verdictRoute{Kind: r.Kind.String(), Label: r.Label.String(), Method: redact.Text(r.Method, maxText),
		Degradation: redact.Text(r.Degradation, maxText), Ask: redact.Text(r.Ask, maxText)}
	if r.Tool != "" {
		v.Tool = c.name(r.Tool)
	}
	return v
}

func stamp(ms int64) string {
	if ms <= 0 {
		return ""
	}
	return time.UnixMilli(ms).UTC().Format(time.RFC3339)
}

// pauseAnswer says why nothing is called, and what the human said of it, if one
// was asked.
func (c *client) pauseAnswer(key string, d expediter.Decision, asked string) json.RawMessage {
	st := c.engine.Status()
	v := verdict{Decision: expediter.Pause, Reason: d.Reason.String(), Tool: key, Consumed: st.Consumed, Limit: max(st.Limit, 0)}
	text := "expediter: PAUSE. " + pauseCause(st, d.Reason) + " "
	if i, ok := activeIncident(st); ok && d.Reason == expediter.Systemic {
		v.Cause, v.Members, v.Since = i.Cause, i.Members, stamp(i.At)
		text += "No tool is called until the user has confirmed that the cause is gone" + c.mirrored.hint("confirm") + "."
	} else {
		text += "No tool is called until the user begins a new cycle" + c.mirrored.hint("resume") + "."
	}
	if asked == "" {
		asked = "The user is to hear what was done, what was not, and why: expediter_report has it."
	}
	return errorResult(text+" "+asked, v)
}

// pauseCause is a sentence of why nothing is called.
func pauseCause(st expediter.Status, reason expediter.Reason) string {
	cause := report.PauseCause(st, reason)
	if _, ok := activeIncident(st); ok && reason == expediter.Systemic {
		return cause + "."
	}
	return "The failure budget of this cycle is spent: " + cause + "."
}

func activeIncident(st expediter.Status) (expediter.Incident, bool) {
	for _, i := range st.Incidents {
		if i.Active {
			return i, true
		}
	}
	return expediter.Incident{}, false
}

// failedAnswer is that of a call without an answer that a client can read.
func (c *client) failedAnswer(t target, d expediter.Decision, e ending) json.RawMessage {
	v := verdict{Decision: d.Verb, Outcome: e.outcome.Result.String(), Tool: t.key}
	if e.outcome.Result == cascade.Failed {
		v.Cause = e.outcome.Category.String()
	}
	var text string
	switch {
	case e.err == nil:
		text = fmt.Sprintf("the server %s answered the call of %s with HTTP status %d", t.up.shownName(), c.name(t.key), e.answer.Status)
		if said := redact.Text(e.answer.Error.Message, maxText); said != "" {
			text += fmt.Sprintf(": %q", said)
		}
	case errors.Is(e.err, errPanic):
		text = errPanic.Error()
	default:
		text = fmt.Sprintf("the call of %s has no result: %s", c.name(t.key), redact.Text(e.err.Error(), maxText))
	}
	return errorResult("expediter: "+text+".", v)
}

// labelled is a result with its freshness label, if its tool is one whose
// freshness the map speaks of and the result may be old.
func (c *client) labelled(t target, params json.RawMessage, e ending) json.RawMessage {
	f := c.factsOf(t.key)
	if e.outcome.Result != cascade.Succeeded || f.Freshness == capability.FreshnessUndeclared && f.SideEffects != capability.EffectsNone {
		return e.answer.Result
	}
	label := c.fresh.Observe(freshness.Result{Tool: c.name(t.key), Args: string(argumentsOf(params)), Output: e.answer.Result, Declared: f.Freshness}, e.ended)
	if label == "" || isError(e.answer.Result) {
		return e.answer.Result
	}
	return appendText(e.answer.Result, string(label), "freshness")
}

func isError(result json.RawMessage) bool {
	ms, err := members(result)
	return err == nil && string(getMember(ms, "isError")) == "true"
}

// appendText is a result with one more block of content; all else stays byte for
// byte. What is no tool result stays as it is.
func appendText(result json.RawMessage, text, kind string) json.RawMessage {
	ms, err := members(result)
	if err != nil {
		return result
	}
	block := encode(textBlock{Type: "text", Text: text, Meta: map[string]string{metaNote: kind}})
	content := getMember(ms, "content")
	if len(content) == 0 || content[0] != '[' {
		if string(getMember(ms, "resultType")) == `"input_required"` {
			return result // a question, not an answer
		}
		return encodeMembers(setMember(ms, "content", append(append([]byte{'['}, block...), ']')))
	}
	list := make([]byte, 0, len(content)+len(block)+1)
	list = append(list, bytes.TrimRight(content[:len(content)-1], " \t\r\n")...)
	if len(list) > 1 {
		list = append(list, ',')
	}
	list = append(append(list, block...), ']')
	return encodeMembers(setMember(ms, "content", list))
}
