package a2apeer

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"

	"github.com/expediter-go/expediter/cascade/classify"
	"github.com/expediter-go/expediter/expediter/executor"
)

// call is one call of a client, from Before to its end. The client, its HTTP
// transport and the body of its stream use it one after the other.
type call struct {
	peer    *Peer
	ticket  *executor.Ticket // nil: it was refused
	skill   string
	method  string
	streams bool
	asked   a2a.TaskID    // the task that it looks up; empty: none
	first   time.Duration // of a stream: when its first event came
	status  int           // of the HTTP answer; zero: none was seen
	header  http.Header
}

// streams reports whether an answer comes as a stream: the client sends a single
// request to an agent whose card says that it has none.
func streams(req *a2aclient.Request) bool {
	switch req.Method {
	case "SubscribeToTask":
		return true
	case "SendStreamingMessage":
		return req.Card == nil || req.Card.Capabilities.Streaming
	}
	return false
}

// asked is the task that a call looks up; empty: it looks up none.
func asked(req *a2aclient.Request) a2a.TaskID {
	switch r := req.Payload.(type) {
	case *a2a.GetTaskRequest:
		return r.ID
	case *a2a.CancelTaskRequest:
		return r.ID
	case *a2a.SubscribeToTaskRequest:
		return r.ID
	}
	return ""
}

// observed is the call as classify knows it, with nothing that came of it.
func (c *call) observed() classify.Observation {
	return classify.Observation{Protocol: classify.A2A, Server: c.peer.cfg.Name, Tool: c.skill, Duration: c.first}
}

// heard takes in an answer, an error, or one event of a stream.
func (c *call) heard(resp *a2aclient.Response) {
	if c.streams && c.first == 0 {
		c.first = max(c.ticket.Elapsed(), 1)
	}
	switch {
	case resp.Err != nil:
		c.ticket.End(c.failed(resp.Err))
	case !c.streams || settles(resp.Payload):
		c.ticket.End(c.answered(resp.Payload))
	}
}

// settles reports whether a stream's event is the last word on its task, or one
// after which the agent waits for somebody.
func settles(event any) bool {
	if _, ok := event.(*a2a.Message); ok {
		return true
	}
	_, status, _ := taskOf(event)
	return status.State.Terminal() || status.State == a2a.TaskStateInputRequired || status.State == a2a.TaskStateAuthRequired
}

// closed is told that a stream's body is. ended: it was read to its end. It is
// no news to a call that was settled before.
func (c *call) closed(ended bool) {
	o := c.observed()
	if ended {
		o.Err = errEnded
	} else {
		o.Failed, o.ContextErr = true, context.Canceled // the caller's, who stopped listening
	}
	c.ticket.End(o)
}

// errEnded is what a stream came to that just ended.
var errEnded = fmt.Errorf("the stream ended before its task did: %w", io.ErrUnexpectedEOF)
