// Package a2apeer guards the calls to A2A agents that are made with
// github.com/a2aproject/a2a-go/v2. It lies in integration/a2a and has a name of
// its own, since that library has a package a2a.
//
// A Peer is a call interceptor for the clients of one agent. Before each call it
// asks an executor's engine; a refused call does not reach the network, and its
// error is the *executor.Refused with the declared route, which Routed follows to
// the client of another peer. After the call it records once what came of it, as
// classify.Observe judges it:
//
//   - a failed task is a failure of the category that its message tells;
//   - a task that requires authentication is a failure of category auth;
//   - rejected, canceled and input-required say nothing about the agent's health;
//   - JSON-RPC codes, HTTP statuses, Retry-After and connection errors are judged
//     by what they mean in A2A; an answer that cannot be understood is the
//     agent's failure;
//   - a stream counts once, at the event that ends its task or asks for something,
//     at its error, or where it ends without either. A caller who leaves it before
//     says nothing about the agent.
//
// A task's end counts once, however often it is looked up. Who looks a task up and
// is answered with another one has met a failure of the agent.
//
// The breaker's tool is the peer, or peer/skill for calls whose context is that of
// WithSkill. Breakers by skill suit agents whose skills fail one by one: where
// the whole host goes down they all open, which the engine takes for an incident.
// Put what such peers share under one breaker, or declare the outage.
//
// Options has all that a client needs. Whoever wires a Peer by hand puts it last
// among the interceptors, so that it sees no call that another one answers, and
// none of them hides an answer from it.
package a2apeer
