package httptool

import (
	"io"
	"net/http"

	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/cascade/classify"
	"github.com/expediter-go/expediter/expediter/executor"
)

// lasts reports whether an answer is good so far and has a body to wait for. The
// body of a switched protocol is a connection, which must stay what it is.
func lasts(resp *http.Response) bool {
	return resp.StatusCode >= http.StatusContinue && resp.StatusCode < http.StatusBadRequest && resp.StatusCode != http.StatusSwitchingProtocols &&
		resp.Body != nil && resp.Body != http.NoBody
}

// body ends its ticket when it does. The ticket sees to it that the first end
// counts.
type body struct {
	io.ReadCloser
	ticket *executor.Ticket
}

// Read reads on. The end of the body is the end of a call that worked; any
// other error is one of the tool.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	switch {
	case err == io.EOF:
		b.ticket.End(classify.Observation{})
	case err != nil:
		b.ticket.End(broken(err))
	}
	return n, err
}

// broken is a body that cannot be read to its end. Whatever the words, the request
// was not wrong: it has been answered.
func broken(err error) classify.Observation {
	o := classify.Observation{Err: err}
	if classify.Observe(o).Outcome == cascade.Succeeded {
		o.Class = cascade.Upstream.String()
	}
	return o
}

// Close before the end says that the caller has what it wanted, as a decoder
// does that stops behind its value. It is said first: a Read that waits
// meanwhile fails because of it.
func (b *body) Close() error {
	b.ticket.End(classify.Observation{})
	return b.ReadCloser.Close()
}
