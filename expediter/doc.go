// Package expediter decides, before every tool call of an LLM agent, whether
// to CALL, SKIP, PROBE or PAUSE, and learns from what came of it (SPEC
// sections 4 to 8). It never runs, retries, alters or hides a call.
//
// An Engine is safe for concurrent use. It reads no clock and starts no
// goroutine: step and time are parameters.
package expediter
