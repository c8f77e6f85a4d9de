// Package executor acts on the engine's decisions: it runs a Go func as a
// tool's call, if the engine lets it, and records what came of it, whichever
// way the func ends. It never retries, and hands on the tool's own value, error
// and panic untouched. Where a Fallback is declared, and only there, another
// value may stand in for a tool's, and the Receipt says so.
//
// Between the engine's word and the call stand the tool's bulkhead (Limit) and
// another breaker in front of it (Guard). What they refuse is a SKIP of the
// engine's, with its route, and never counts against the tool.
//
// It is an outermost layer: it reads the clock and, for a call with a deadline or
// a context that can end, starts the goroutine that the tool runs in, so that a
// tool that hangs does not hang its caller.
package executor
