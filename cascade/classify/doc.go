// Package classify turns what a tool returned into what the expediter
// records: Observe alone maps a protocol's or agent's result, a Go error, an
// exit code or an error text to (key, outcome, category, signature), and InDoubt
// knows the failures after which a call may have been carried out all the same.
// Executor, hooks, proxy and analysis hold no such rules of their own.
//
// The rules are data: ordered tables of Go errors, error numbers, exit codes,
// status codes, words of agents and texts; the tests give each row what it is
// there for, and it decides. What the agent did wrong (bad arguments, no match, failing tests) is a success of
// the tool: it answered. Texts are hostile input: only the first and last 2 kB
// of a failed result are read, and nothing of it reaches a Verdict but the
// bounded, normalised signature and the name of the program in the key.
//
// A success may hide a failure: a page that was fetched with status 503, a
// command moved away at its time limit. That is looked for in fixed fields of
// structured results alone (shapes*.go, a function for each agent), never in
// ordinary output; of the output of a program that prints what it was asked for
// only its own messages count. A result that nothing marks as an error counts
// as one only in the form of an error report (unmarked.go), or where the client of
// a remote service ends with a message of its own.
//
// Everything here is pure and safe for concurrent use.
package classify
