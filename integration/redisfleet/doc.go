// Package redisfleet lets engines of several processes share one view of their
// tools through Redis or Valkey (6.2 or later).
//
// It is local first: Decide never waits for the network. Each process has its
// engine; what an engine comes to (a circuit opened, a trial failed, an incident,
// an operator's control) is offered to the fleet, which accepts or refuses it, and
// every engine adopts what was accepted, in the order of one log. That order
// decides, never the clock of a host. One trial of a tool is made in the whole
// fleet: it needs a lease, which has a token and a time to live. While Redis is
// away every engine goes on alone with its last view.
//
// Of consecutive failures each engine counts its own, and the first whose count is
// full opens the tool for all: successes elsewhere need not be told, so a healthy
// fleet sends nothing at all.
//
// What is in Redis is written by others. It is bounded and validated, and what is
// not understood is skipped and said.
package redisfleet
