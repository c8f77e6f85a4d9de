package classify

import (
	"slices"
	"strings"
)

const (
	noOutputRule      = "no-output"
	noOutputSignature = "no output, exit code #"
)

// talkers are programs that say why when they exit with 1, with the
// subcommands that do; none named: all of them.
var talkers = map[string][]string{
	"ls": nil, "cat": nil, "echo": nil, "printf": nil, "pwd": nil, "cd": nil, "mkdir": nil, "rmdir": nil, "rm": nil,
	"cp": nil, "mv": nil, "ln": nil, "chmod": nil, "chown": nil, "touch": nil, "head": nil, "tail": nil, "wc": nil,
	"cut": nil, "nl": nil, "tac": nil, "stat": nil, "du": nil, "df": nil, "date": nil, "whoami": nil, "id": nil,
	"uname": nil, "hostname": nil, "env": nil, "tar": nil, "unzip": nil,
	"git":   {"status", "log", "show", "add", "branch", "stash", "tag", "init", "clone", "fetch", "blame"},
	"go":    {"build", "vet", "test", "mod", "list", "get", "install", "version", "env"},
	"cargo": {"build", "check", "test", "clippy", "add", "tree"},
	"npm":   {"install", "ci", "test", "ls", "audit"},
	"pnpm":  {"install", "test", "list"}, "yarn": {"install", "test"},
	"pip": nil, "pip3": nil, "pytest": nil,
}

// isEmptyLine knows what agents print in the place of output, and the exit code.
func isEmptyLine(line string) bool {
	line = strings.ToLower(line)
	return tellsExitCode(line) || tellsNoOutput(line) || isEmptyHead(line)
}

// tellsExitCode knows "Error: Command failed with exit code 1." in all its
// spellings; each part of them may be missing.
func tellsExitCode(line string) bool {
	line = without(line, "(error: )", "(error: ", "error: )", "error: ")
	for rest := without(line, "command ", "process ", "bash "); rest != line; rest = without(line, "command ", "process ", "bash ") {
		line = rest
	}
	line = without(line, "failed with ", "exited with ", "finished with ", "completed with ")
	line = without(line, "exit code", "exit status", "exit", "code")
	line = without(strings.TrimLeft(without(line, ":"), " "), "(")
	line = without(without(line, "exit code ", "exit status ", "exit "), "1")
	return without(without(line, ")"), ".") == ""
}

// tellsNoOutput knows "(Command produced no output)" and its like.
func tellsNoOutput(line string) bool {
	line = without(line, "(", "<", "[")
	line = without(line, "bash completed with ", "the command completed with ", "command produced ", "tool ran with ")
	line, ok := strings.CutPrefix(line, "no ")
	rest := without(line, "output or errors", "output", "content", "stdout")
	return ok && rest != line && without(without(rest, "."), ")", ">", "]") == ""
}

// isEmptyHead knows what stands above an output.
func isEmptyHead(line string) bool {
	switch line = strings.TrimSuffix(line, ":"); line {
	case "stdout", "stderr", "output", "total output lines: 0", "original token count: 0":
		return true
	}
	if id, ok := strings.CutPrefix(line, "chunk id: "); ok {
		return id != "" && len(id) <= 12 && strings.Trim(id, "0123456789abcdefghijklmnopqrstuvwxyz") == ""
	}
	line, timed := strings.CutPrefix(line, "wall time: ")
	seconds, ok := strings.CutSuffix(line, " seconds")
	return timed && ok && seconds != "" && len(seconds) <= 12 && strings.Trim(seconds, "0123456789.") == ""
}

// byNoOutput finds the harness that has lost a command's output: exit code 1
// and not a word, where the program always says why, or where no program is
// known. Where this comes again and again, the place for temporary files is
// full.
func (e *evidence) byNoOutput() (class, string, bool) {
	if e.exit == nil || *e.exit != 1 || e.Err != nil || e.Server != "" || !isShellTool(e.Tool) {
		return 0, "", false
	}
	unknownCommand := len(e.Argv) == 0 && e.Shell == "" && len(e.Input) == 0
	if !unknownCommand && !e.cmd.talks() || !saysNothing(e.text) {
		return 0, "", false
	}
	return filesystem, noOutputRule, true
}

func (c command) talks() bool {
	subs, ok := talkers[c.program]
	return ok && !c.compound && !c.hushed && (subs == nil || slices.Contains(subs, c.sub))
}

// saysNothing reports whether a text holds no line of a program.
func saysNothing(text string) bool {
	if len(text) > 512 {
		return false
	}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !isEmptyLine(line) {
			return false
		}
	}
	return true
}
