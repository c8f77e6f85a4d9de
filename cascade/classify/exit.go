package classify

import (
	"errors"
	"os/exec"
	"strconv"
	"strings"

	"github.com/expediter-go/expediter/internal/pattern"
)

// exitRule is one row of the table of exit codes. Program "" is any. A weak
// code lets the text decide first.
type exitRule struct {
	program string
	code    int
	class   class
	weak    bool
}

func (r exitRule) name() string {
	if r.program == "" {
		return "exit:" + strconv.Itoa(r.code)
	}
	return "exit:" + r.program + ":" + strconv.Itoa(r.code)
}

// exitRules is asked in this order: a program's own codes, then the shell's.
var exitRules = []exitRule{
	{"curl", 1, invalidInput, true}, // unsupported protocol
	{"curl", 3, invalidInput, false},
	{"curl", 5, network, false},
	{"curl", 6, network, false},
	{"curl", 7, network, false},
	{"curl", 22, invalidInput, true}, // an HTTP error with -f: the text has the status
	{"curl", 28, timeout, false},
	{"curl", 35, network, false},
	{"curl", 52, network, false},
	{"curl", 55, network, false},
	{"curl", 56, network, true}, // also a proxy's refusal
	{"curl", 60, network, false},
	{"wget", 4, network, true}, // also a timeout
	{"wget", 5, network, false},
	{"wget", 6, auth, false},
	{"wget", 8, invalidInput, true}, // an HTTP error: the text has the status
	{"ssh", 255, network, true},
	{"scp", 255, network, true},
	{"rsync", 255, network, true},
	{"psql", 2, network, true},
	{"git", 128, invalidInput, true},
	{"git grep", 1, worked, false},
	{"git diff", 1, worked, false},
	{"grep", 1, worked, false},
	{"egrep", 1, worked, false},
	{"fgrep", 1, worked, false},
	{"rg", 1, worked, false},
	{"diff", 1, worked, false},
	{"cmp", 1, worked, false},
	{"test", 1, worked, false},
	{"", 124, timeout, false}, // timeout(1)
	{"", 126, permission, true},
	{"", 127, toolMissing, false},
	{"", 130, cancelled, false},
	{"", 134, resource, true},
	{"", 137, resource, true}, // out of memory, or somebody's timeout
	{"", 139, resource, false},
	{"", 143, cancelled, false},
}

// exitRule is the row for the exit code. A code means what the table says only
// if it is that of one known program, or of a shell's last command that nobody
// described: in a pipeline or list it may be another's.
func (e *evidence) exitRule() (exitRule, bool) {
	if e.exit == nil || e.cmd.compound {
		return exitRule{}, false
	}
	program := e.cmd.program
	if program == "" {
		program = lastElement(e.Tool)
	}
	for _, r := range exitRules {
		if r.code != *e.exit {
			continue
		}
		if r.program == "" || r.program == program || r.program == program+" "+e.cmd.sub {
			return r, true
		}
	}
	return exitRule{}, false
}

func (e *evidence) byExitCode() (class, string, bool) {
	r, ok := e.exitRule()
	if !ok || r.weak {
		return 0, "", false
	}
	if c, rule, ok := match(e.folded, []class{userDenied}); ok {
		return c, rule, true
	}
	return r.class, r.name(), true
}

// exitTail is an exit code in brackets at the end of a line.
var exitTail = pattern.New(`(?m)\(exit (?:code |status )?(\d{1,3})\)\s*$`)

// exitCode is the exit code that an error or a text tells, nil for none.
func exitCode(err error, folded string) *int {
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		if code := exit.ExitCode(); code > 0 {
			return &code
		}
		return nil // a signal: the text names it
	}
	digits := exitHead(folded)
	if digits == "" && strings.Contains(folded, "(exit ") {
		if m := exitTail.RE().FindStringSubmatch(folded); m != nil {
			digits = m[1]
		}
	}
	code, err := strconv.Atoi(digits)
	if err != nil || code == 0 {
		return nil
	}
	return &code
}

// exitHead is the exit code that a folded text begins with, of at most three
// digits; empty: none.
func exitHead(folded string) string {
	line := without(strings.TrimLeft(folded, space), "error: ")
	rest := without(line, "exit code: ", "exit code ", "process exited with code ", "process exited with exit code ")
	if rest == line {
		return ""
	}
	n := 0
	for n < len(rest) && isDigit(rest[n]) {
		n++
	}
	if n > 3 || n < len(rest) && isWord(rest[n]) {
		return ""
	}
	return rest[:n]
}
