package mcpproxy

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// Bounds of the calls whose clients were asked something and are not back yet.
const (
	parkFor     = 10 * time.Minute // then the call is given up
	maxParked   = 4096
	maxParkedOf = 64 // of one session
)

// parkedPrefix begins the request states of parked calls.
const parkedPrefix = "expediter-parked-"

// mayAsk are the requests whose results may ask for input.
var mayAsk = map[string]bool{"tools/call": true, "prompts/get": true, "resources/read": true}

// parked is a request of a 2026-07-28 client whose server may ask the client in
// the old way, by a request of its own, while the call is under way. The client
// is given the question as an input_required result and the call goes on without
// it; it comes back with the answer, as a new request, and waits for the same
// call. To the engine it is one call, which ends once.
//
// The call ends early when its client cancels the request that waits for it, is
// lost, or does not come back within parkFor, and when the proxy closes; not when
// a request that was answered by a question ends.
type parked struct {
	p      *Proxy
	first  *request
	ctx    context.Context // of the call
	cancel context.CancelCauseFunc
	asked  chan struct{} // takes one: there is a question to give to the client
	done   chan struct{} // closed when raw and err are set
	raw    json.RawMessage
	err    error

	mu   sync.Mutex      // parks.mu may be taken within it
	on   *request        // that waits, or waited last
	away *time.Timer     // nil: the client waits
	open []*inputRequest // without an answer
	last int             // the number of the last question
}

// inputRequest is a question of a server to the client of a call.
type inputRequest struct {
	key    string
	raw    json.RawMessage      // as an input request
	answer chan json.RawMessage // takes one; nil: the client will not be asked
}

var (
	errNotBack   = errors.New("the client was asked and has not come back")
	errTooMany   = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "too many calls wait for their clients' answers"}
	errNoAnswer  = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the client has not answered"}
	errLateState = &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "this answer belongs to no call that waits for one: it came too late, or twice; make the call anew"}
)

type handler func(*request, context.Context) (json.RawMessage, error)

// serve answers a request, or takes up the call that its client has come back to.
func (r *request) serve(ctx context.Context, h handler) (json.RawMessage, error) {
	if !r.modern || !mayAsk[r.method] {
		return r.answer(ctx, h)
	}
	k, err := r.comeBack()
	if err != nil {
		return nil, err
	}
	if k == nil && r.canBeAsked() {
		k = r.setOut(h)
	}
	if k == nil {
		return r.answer(ctx, h)
	}
	return k.wait(ctx)
}

// setOut begins a call that outlives the request; nil: the proxy closes.
func (r *request) setOut(h handler) *parked {
	k := &parked{p: r.p, first: r, on: r, asked: make(chan struct{}, 1), done: make(chan struct{})}
	if !r.p.stay(r.s) {
		return nil
	}
	k.ctx, k.cancel = context.WithCancelCause(r.p.life(r.ss))
	r.parked = k
	go k.run(h)
	return k
}

// stay keeps a session, and the proxy, until gone is called.
func (p *Proxy) stay(s *session) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.work.Err() != nil {
		return false
	}
	s.busy++
	p.parks.running.Add(1)
	return true
}

func (p *Proxy) gone(s *session) {
	p.leave(s)
	p.parks.running.Done()
}

func (k *parked) run(h handler) {
	defer k.p.gone(k.first.s)
	defer close(k.done)
	defer func() {
		if k.ctx.Err() != nil {
			k.p.parks.drop(k)
			k.forgetAway()
		}
		k.cancel(nil) // what the server asks now, nobody answers
	}()
	k.err = errPanic
	k.raw, k.err = k.first.answer(k.ctx, h)
}

// wait is the end of the call, or the questions that its client must answer
// before. While it waits, the end of ctx is that of the call.
func (k *parked) wait(ctx context.Context) (json.RawMessage, error) {
	stop := context.AfterFunc(ctx, func() { k.cancel(context.Cause(ctx)) })
	defer stop()
	for {
		select {
		case <-k.done:
			return k.raw, k.err
		case <-k.asked:
			if questions := k.park(); questions != nil {
				return questions, nil
			}
		}
	}
}

// park lets the client go with all questions that are open; nil: there are none,
// or there is no room for one more that is away.
func (k *parked) park() json.RawMessage {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.open) == 0 || k.ctx.Err() != nil {
		return nil
	}
	state := parkedPrefix + rand.Text()
	if !k.p.parks.put(state, k) {
		for _, q := range k.open {
			close(q.answer)
		}
		k.open = nil
		return nil
	}
	k.away = time.AfterFunc(parkFor, func() {
		if k.p.parks.take(state, nil) != nil {
			k.cancel(errNotBack)
		}
	})
	var questions []member
	for _, q := range k.open {
		questions = append(questions, member{q.key, q.raw})
	}
	return encodeMembers([]member{{"resultType", encode("input_required")},
		{"inputRequests", encodeMembers(questions)}, {"requestState", encode(state)}})
}

// comeBack finds the call that a request belongs to, and gives it the answers
// that the request brings. What the client leaves out, it is asked again.
func (r *request) comeBack() (*parked, error) {
	state, ok := getString(r.params, "requestState")
	if !ok || !strings.HasPrefix(state, parkedPrefix) {
		return nil, nil
	}
	var answers []member
	if raw := getMember(r.params, "inputResponses"); raw != nil {
		var err error
		if answers, err = members(raw); err != nil {
			return nil, badParams(fmt.Errorf("inputResponses: %w", err))
		}
	}
	k := r.p.parks.take(state, r)
	if k == nil {
		return nil, nil // a server's own; see tooLate
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.away.Stop()
	k.away, k.on = nil, r
	var open []*inputRequest
	for _, q := range k.open {
		if a := getMember(answers, q.key); a != nil {
			q.answer <- a
			continue
		}
		open = append(open, q)
	}
	if k.open = open; len(open) > 0 {
		signal(k.asked)
	}
	return k, nil
}

// tooLate reports params that answer the question of a call which no longer
// waits. A server that asks in the old way has given no state to anybody, and
// must not be called a second time for it; a newer one may be a proxy too.
func tooLate(u *upstream, params json.RawMessage) bool {
	if u.version() >= newest || !bytes.Contains(params, []byte(parkedPrefix)) {
		return false
	}
	ms, err := members(params)
	state, _ := getString(ms, "requestState")
	return err == nil && strings.HasPrefix(state, parkedPrefix)
}

// ask gives a server's question to the client and waits for its answer.
func (k *parked) ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, *jsonrpc.Error) {
	if len(params) == 0 {
		params = json.RawMessage("{}")
	}
	q := k.pose(encodeMembers([]member{{"method", encode(method)}, {"params", params}}))
	defer k.withdraw(q)
	select {
	case raw, ok := <-q.answer:
		if !ok {
			return nil, errTooMany
		}
		return raw, nil
	case <-ctx.Done():
	case <-k.ctx.Done():
	}
	return nil, errNoAnswer
}

func (k *parked) pose(raw json.RawMessage) *inputRequest {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.last++
	q := &inputRequest{key: fmt.Sprint("question-", k.last), raw: raw, answer: make(chan json.RawMessage, 1)}
	k.open = append(k.open, q)
	signal(k.asked)
	return q
}

func (k *parked) withdraw(q *inputRequest) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for i := range k.open {
		if k.open[i] == q {
			k.open = append(k.open[:i], k.open[i+1:]...)
			return
		}
	}
}

// forgetAway ends the wait for a client that need not come back.
func (k *parked) forgetAway() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.away != nil {
		k.away.Stop()
	}
}

// isAway reports whether no request waits for the call.
func (k *parked) isAway() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.away != nil
}

// at is the request that the client now waits with, or waited with last.
func (r *request) at() *request {
	if r.parked == nil {
		return r
	}
	r.parked.mu.Lock()
	defer r.parked.mu.Unlock()
	return r.parked.on
}
