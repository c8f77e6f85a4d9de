// Package operator keeps what only a human may do from agents: it knows a shell
// text that would run the human's commands, and whether a human is at the
// terminal.
package operator

import _ "mvdan.cc/sh/v3/syntax"
