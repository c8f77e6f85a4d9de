// Package executor acts on the engine's decisions: it runs a Go func as a
// tool's call, if the engine lets it, and records what came of it, whichever
// way the func ends. It never retries, and hands on the tool's own value, error
// and panic untouched.
//
// It is an outermost layer: it reads the clock and starts the goroutine that
// the tool runs in, so that a tool that hangs does not hang its caller.
package executor
