// Package session is one session of a coding agent: an engine that lives on
// between processes, the calls that are in flight, the batch that is a step, and
// the agent's to-do list. Hooks and commands are thin around it.
//
// A session exists within one transaction of its store: Update loads it, lets
// one event happen and saves it with what the engine told its journal, all of it
// or nothing. Two processes never hold one session at once, so it has no lock. Time
// is a parameter.
//
// A Mirror is the exception: the session of an engine that lives in one process,
// a client of a proxy, is only written, in the same form.
package session
