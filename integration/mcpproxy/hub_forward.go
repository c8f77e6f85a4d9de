package mcpproxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/expediter-go/expediter/cascade/redact"
)

// flight is one call of a client that is under way at a server.
type flight struct {
	r        *request
	ctx      context.Context               // of the call
	refused  atomic.Pointer[jsonrpc.Error] // what the client said to the last question that it could not or would not answer
	declined atomic.Bool                   // its human said no to a question
}

type flightKey struct{}

// bare is the context of a flight without the values of the client's request:
// the SDK keeps the client's revision and the request's id in them, and would
// take them for the server's.
type bare struct {
	context.Context
	f *flight
}

// Value knows the flight alone; a nil one: this is done for no client.
func (b bare) Value(key any) any {
	if key == (flightKey{}) {
		return b.f
	}
	return nil
}

// AfterFunc has the package context watch the end without a goroutine.
func (b bare) AfterFunc(f func()) func() bool { return context.AfterFunc(b.Context, f) }

func (p *Proxy) takeOff(u *upstream, f *flight) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.flights[u] == nil {
		p.flights[u] = map[*flight]struct{}{}
	}
	p.flights[u][f] = struct{}{}
	if s := f.r.s; s.called == nil {
		s.called = map[*upstream]bool{u: true}
	} else {
		s.called[u] = true
	}
}

func (p *Proxy) landed(u *upstream, f *flight) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.flights[u], f)
}

// callTool answers a tools/call. What is decided on is the name in the bytes
// that are sent on, not what the SDK read.
func (r *request) callTool(ctx context.Context) (json.RawMessage, error) {
	name, ok := getString(r.params, "name")
	if !ok {
		return nil, badParams(errors.New("a tools/call names no tool"))
	}
	t, ok := r.own(name)
	if !ok {
		if t, ok = r.p.find(name); !ok {
			r.p.ready(ctx)
			t, ok = r.p.find(name)
		}
	}
	if !ok {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("Unknown tool: %.128s", name)}
	}
	raw, rpc := r.s.client.callTool(ctx, t, r.raw, r.forward)
	if rpc != nil {
		return nil, rpc
	}
	return raw, nil
}

// own finds one of the expediter's own tools.
func (r *request) own(name string) (target, bool) {
	if !isOwn(name) {
		return target{}, false
	}
	for _, t := range r.s.client.ownTools() {
		if t.Name == name {
			return target{tool: t}, true
		}
	}
	return target{}, false
}

// forward makes the call of a tool on its server.
func (r *request) forward(ctx context.Context, t target, params json.RawMessage) (answer, error) {
	return r.rounds(ctx, t.up, "tools/call", params, member{"name", encode(t.tool.Name)})
}

// maxRounds bounds how often a server may ask a legacy client before it answers.
const maxRounds = 10

// rounds asks a server, with the members of with put into params. A server of
// 2026-07-28 that needs input from a legacy client gets it: the client is asked
// and the call made again with the answers, as that revision wants it.
func (r *request) rounds(ctx context.Context, u *upstream, method string, params json.RawMessage, with ...member) (answer, error) {
	if r.modern && tooLate(u, params) {
		return answer{}, errLateState
	}
	f := &flight{r: r, ctx: ctx}
	r.p.takeOff(u, f)
	defer r.p.landed(u, f)
	f.heardAll(field(params, "inputResponses"))
	for round := 1; ; round++ {
		hopped, err := r.hop(u, params, with)
		if err != nil {
			return answer{}, err
		}
		a, err := u.call(bare{ctx, f}, method, hopped, r.progress)
		if err == nil {
			r.p.tasks.note(a.Result, u, r.s)
		}
		if err == nil && a.Status < http.StatusBadRequest && f.excuses(a) { // what the client lacks is not the server's doing
			if a.Error != nil {
				return answer{}, a.Error
			}
			a.Excused = true
		}
		if err != nil || r.modern || a.Error != nil || round == maxRounds {
			return a, err
		}
		asked, state := inputRequired(a.Result)
		if len(asked) == 0 {
			return a, nil
		}
		answers, rpc := r.askAll(ctx, asked)
		if rpc != nil {
			return answer{}, rpc // not the server's doing
		}
		f.heardAll(answers)
		with = setMember(setMember(slices.Clone(with), "inputResponses", answers), "requestState", state)
		if state == nil {
			with, _ = dropMember(with, "requestState")
		}
	}
}

// inputRequired returns what a result asks for, nothing if it is complete or
// only asks to come back later.
func inputRequired(raw json.RawMessage) (asked []member, state json.RawMessage) {
	if len(raw) > 1<<20 {
		return nil, nil
	}
	ms, err := members(raw)
	if err != nil {
		return nil, nil
	}
	if kind, _ := getString(ms, "resultType"); kind != "input_required" {
		return nil, nil
	}
	asked, _ = members(getMember(ms, "inputRequests"))
	return asked, getMember(ms, "requestState")
}

// askAll asks a legacy client all that a server wants to know, one after
// another.
func (r *request) askAll(ctx context.Context, asked []member) (json.RawMessage, *jsonrpc.Error) {
	var out []member
	for _, q := range asked {
		ms, err := members(q.value)
		method, _ := getString(ms, "method")
		if err != nil || needs[method] == "" {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: fmt.Sprintf("the server asks for input by %.64q, which no client answers", method)}
		}
		raw, rpc := r.p.askClient(ctx, r.ss, method, getMember(ms, "params"))
		if rpc != nil {
			return nil, rpc
		}
		out = append(out, member{q.key, raw})
	}
	return encodeMembers(out), nil
}

// hopKeys are the members of `_meta` that are about one hop only.
var hopKeys = []string{metaVersion, metaClient, metaCapabilities, metaLogLevel}

// hop makes of a client's params those for a server: with's members set, and in
// `_meta` what the revision of the server wants to know of the caller. Params
// that need no change stay the bytes they are.
func (r *request) hop(u *upstream, params json.RawMessage, with []member) (json.RawMessage, error) {
	var ms []member
	var err error
	if len(params) > 0 {
		if ms, err = members(params); err != nil {
			return nil, badParams(err)
		}
	}
	changed := false
	for _, w := range with {
		if string(getMember(ms, w.key)) != string(w.value) {
			ms, changed = setMember(ms, w.key, w.value), true
		}
	}
	meta, metaChanged := r.hopMeta(u, ms)
	switch {
	case metaChanged && len(meta) == 0:
		ms, _ = dropMember(ms, "_meta")
	case metaChanged:
		ms = setMember(ms, "_meta", encodeMembers(meta))
	case !changed:
		return params, nil
	}
	return encodeMembers(ms), nil
}

func (r *request) hopMeta(u *upstream, ms []member) (meta []member, changed bool) {
	meta, err := members(getMember(ms, "_meta"))
	if err != nil {
		meta = nil
	}
	if v := u.version(); v < newest {
		for _, key := range hopKeys {
			var was bool
			meta, was = dropMember(meta, key)
			changed = changed || was
		}
		return meta, changed
	}
	if r.modern {
		v := encode(u.version())
		if changed = string(getMember(meta, metaVersion)) != string(v); changed {
			meta = setMember(meta, metaVersion, v)
		}
		return meta, changed
	}
	r.p.mu.Lock()
	caps, level := r.s.caps, r.s.level
	r.p.mu.Unlock()
	if caps == nil {
		caps = json.RawMessage("{}")
	}
	meta = setMember(meta, metaVersion, encode(u.version()))
	meta = setMember(meta, metaCapabilities, caps)
	if level != "" {
		meta = setMember(meta, metaLogLevel, encode(level))
	}
	return meta, true
}

// progress passes a server's progress on to who asked.
func (r *request) progress(params json.RawMessage) {
	at := r.at()
	if at != r { // it has a token of its own
		token := getMember(at.meta, "progressToken")
		if token == nil {
			return
		}
		params = with(params, "progressToken", token)
	}
	at.out.send(func(ctx context.Context) { r.p.notifyRaw(ctx, at.ss, "notifications/progress", params) })
}

// pass asks a server and makes its answer, or the lack of one, that of a
// request which nothing decides on.
func (r *request) pass(ctx context.Context, u *upstream, method string, with ...member) (json.RawMessage, error) {
	a, err := r.rounds(ctx, u, method, r.raw, with...)
	var rpc *jsonrpc.Error
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.As(err, &rpc):
		return nil, rpc
	case err != nil:
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError,
			Message: fmt.Sprintf("server %s: %s", u.name(), redact.Text(err.Error(), maxText))}
	case a.Error != nil:
		return nil, a.Error
	case a.Result == nil:
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: fmt.Sprintf("server %s answered with HTTP status %d", u.name(), a.Status)}
	}
	return a.Result, nil
}
