// Package session is one session of a coding agent: an engine that lives on
// between processes, the calls that are in flight, the batch that is a step, and
// the agent's to-do list. Hooks and commands are thin around it.
package session
