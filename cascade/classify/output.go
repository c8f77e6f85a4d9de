package classify

import (
	"slices"
	"strings"
)

// printers are programs whose output is what they were asked for: only their
// own messages, which begin with their name, say how they fared. With
// subcommands only those are meant.
var printers = map[string][]string{
	"cat": nil, "head": nil, "tail": nil, "less": nil, "nl": nil, "sed": nil, "awk": nil, "cut": nil, "sort": nil,
	"uniq": nil, "tr": nil, "comm": nil, "diff": nil, "wc": nil, "strings": nil, "xxd": nil, "column": nil,
	"grep": nil, "egrep": nil, "fgrep": nil, "rg": nil, "ag": nil, "ack": nil, "find": nil, "fd": nil, "ls": nil,
	"tree": nil, "stat": nil, "file": nil, "jq": nil, "yq": nil, "echo": nil, "printf": nil,
	"git": {"log", "show", "diff", "grep", "blame", "status"},
}

// speakers start the messages of a shell, of git and of a harness, whatever
// program ran.
var speakers = [...]string{
	"bash: ", "sh: ", "zsh:", "(eval):", "fatal: ", "error: ", "exit code ",
	"command not found", "command timed out", "command did not",
}

// Of a local program's long output only so many lines are looked at: errors
// stand at its beginning or its end.
const (
	firstLines = 4
	lastLines  = 8
)

// printed reports whether the form of an error report at the start of an
// unmarked result is that of what was printed: a file, or the matches of a
// search. Only the program itself, its shell and its harness report there.
func (c command) printed(text string) bool {
	if !c.isPrinter() {
		return false
	}
	first, _, _ := strings.Cut(strings.TrimLeft(clean(head(text, window)), " \t\n"), "\n")
	folded := strings.ToLower(first)
	return c.prints(first) || strings.HasPrefix(folded, "error: ") || c.program != "git" && strings.HasPrefix(folded, "fatal: ")
}

func (c command) isPrinter() bool {
	subs, ok := printers[c.program]
	return ok && !c.compound && (subs == nil || slices.Contains(subs, c.sub))
}

// messages is the part of a failed shell command's clean output in which the
// command may speak of itself. The output of a client of a remote service, of
// an unknown program and of another tool is all of it.
func (e *evidence) messages() string {
	c := e.cmd
	if !isShellTool(e.Tool) || c.program == "" || c.remote() || e.spoken {
		return e.text
	}
	lines := strings.Split(e.text, "\n")
	if c.isPrinter() {
		return strings.Join(slices.DeleteFunc(lines, c.prints), "\n")
	}
	if len(lines) <= firstLines+lastLines {
		return e.text
	}
	return strings.Join(slices.Concat(lines[:firstLines], lines[len(lines)-lastLines:]), "\n")
}

// prints reports whether a line is output, not a message of the program.
func (c command) prints(line string) bool {
	line = strings.ToLower(strings.TrimSpace(line))
	if speaker, _, ok := strings.Cut(line, ": "); ok {
		if name := lastElement(speaker); name == strings.ToLower(c.program) || shells[name] {
			return false
		}
	}
	return !slices.ContainsFunc(speakers[:], func(s string) bool { return strings.HasPrefix(line, s) })
}
