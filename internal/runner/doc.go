// Package runner works a task off as an agent would (docs/task.md): checks
// before the calls, one decision before every call, a pass over the queue as
// one step, declared routes where a circuit is open, and an honest account of
// every sub-task. It runs commands and reads the clock; what it may call is
// the engine's decision alone.
package runner
