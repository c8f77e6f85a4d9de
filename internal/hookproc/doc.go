// Package hookproc is one hook call as a process: what `expediter hook` and the
// lean expediter-hook do between their start and their end. An agent waits for
// that process at every tool call, so little is linked into it: no logger, no
// command-line library.
package hookproc
