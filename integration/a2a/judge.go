package a2apeer

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/cascade/classify"
)

// maxText bounds what is kept of a task's message, in bytes.
const maxText = 4 << 10

// codes are the protocol's numbers for the errors of the library, which does not
// export them.
var codes = []struct {
	err  error
	code int
}{
	{a2a.ErrTaskNotFound, -32001},
	{a2a.ErrTaskNotCancelable, -32002},
	{a2a.ErrPushNotificationNotSupported, -32003},
	{a2a.ErrUnsupportedOperation, -32004},
	{a2a.ErrUnsupportedContentType, -32005},
	{a2a.ErrInvalidAgentResponse, -32006},
	{a2a.ErrExtendedCardNotConfigured, -32007},
	{a2a.ErrExtensionSupportRequired, -32008},
	{a2a.ErrVersionNotSupported, -32009},
	{a2a.ErrUnauthenticated, -31401},
	{a2a.ErrUnauthorized, -31403},
	{a2a.ErrInvalidRequest, -32600},
	{a2a.ErrMethodNotFound, -32601},
	{a2a.ErrInvalidParams, -32602},
	// The client's own words for any HTTP error as well: the status says more.
	{a2a.ErrServerError, codeServer},
	{a2a.ErrInternalError, codeInternal},
	{a2a.ErrParseError, codeParse},
}

const (
	codeServer   = -32000
	codeInternal = -32603
	codeParse    = -32700
)

// codeOf is the protocol's number of an error; zero: it has none.
func codeOf(err error) int {
	for _, c := range codes {
		if errors.Is(err, c.err) {
			return c.code
		}
	}
	return 0
}

// failed is a call that came to an error.
func (c *call) failed(err error) classify.Observation {
	o := c.observed()
	o.Err, o.Header, o.RPCCode = err, c.header, codeOf(err)
	vague := o.RPCCode == 0 || o.RPCCode == codeServer || o.RPCCode == codeInternal || o.RPCCode == codeParse
	switch {
	case c.status >= http.StatusBadRequest && vague:
		o.HTTPStatus, o.RPCCode = c.status, 0
	case c.status == http.StatusOK && o.RPCCode == 0 && !classify.OfConnection(err):
		// The answer came, and the client made nothing of it. What it quotes of
		// the answer is no error text.
		o.Class = cascade.Upstream.String()
	}
	return o
}

// answered is a call that was answered, by a message, a task or anything else.
func (c *call) answered(payload any) classify.Observation {
	o := c.observed()
	task, status, told := taskOf(payload)
	if told && c.asked != "" && task != c.asked {
		o.Failed, o.Result, o.Class = true, "the agent answered with another task", cascade.Upstream.String()
		return o
	}
	if c.method == "CancelTask" {
		return o // canceled is what was asked for
	}
	switch status.State {
	case a2a.TaskStateFailed, a2a.TaskStateRejected, a2a.TaskStateAuthRequired, a2a.TaskStateInputRequired, a2a.TaskStateCanceled:
	default:
		return o
	}
	if c.peer.tasks.seen(task, status.State) && c.asked != "" {
		return o // and said so again
	}
	o.Payload, o.Result = payloadOf(status.State), textOf(status.Message)
	return o
}

// payloadOf is a task in that state, as classify reads it.
func payloadOf(state a2a.TaskState) []byte {
	var task struct {
		Status struct {
			State a2a.TaskState `json:"state"`
		} `json:"status"`
	}
	task.Status.State = state
	payload, _ := json.Marshal(task) // a text marshals
	return payload
}

// taskOf is the task that a payload or event tells of, and how it is; told is
// false if it tells of none.
func taskOf(payload any) (task a2a.TaskID, status a2a.TaskStatus, told bool) {
	switch p := payload.(type) {
	case *a2a.Task:
		if p != nil {
			return p.ID, p.Status, true
		}
	case *a2a.TaskStatusUpdateEvent:
		if p != nil {
			return p.TaskID, p.Status, true
		}
	}
	return "", a2a.TaskStatus{}, false
}

// textOf is what a message says in words, bounded.
func textOf(m *a2a.Message) string {
	var text strings.Builder
	if m == nil {
		return ""
	}
	for _, part := range m.Parts {
		if part == nil || part.Text() == "" {
			continue
		}
		if text.Len() > 0 {
			text.WriteByte('\n')
		}
		s := part.Text()
		text.WriteString(s[:min(len(s), maxText-text.Len())])
		if text.Len() >= maxText {
			break
		}
	}
	return strings.ToValidUTF8(text.String(), "")
}
