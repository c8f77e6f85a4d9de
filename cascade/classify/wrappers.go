package classify

import (
	"slices"
	"strings"
)

// wrapper runs the command that follows it.
type wrapper struct {
	own    int      // how many plain arguments of its own come first
	values []string // its flags that take the next word
}

var wrappers = map[string]wrapper{
	"sudo": {values: []string{"-u", "-g", "-h", "-p", "-C", "-r", "-t", "-T", "-D", "-R", "-U", "--user", "--group"}},
	"doas": {values: []string{"-u", "-C"}}, "env": {values: []string{"-u", "-C", "--unset", "--chdir"}},
	"time": {values: []string{"-f", "-o"}}, "gtime": {values: []string{"-f", "-o"}}, "nohup": {}, "setsid": {},
	"nice": {values: []string{"-n", "--adjustment"}}, "ionice": {values: []string{"-c", "-n", "-p"}},
	"command": {}, "builtin": {}, "exec": {values: []string{"-a"}}, "chronic": {}, "unbuffer": {},
	"stdbuf": {values: []string{"-i", "-o", "-e"}}, "caffeinate": {values: []string{"-t", "-w"}},
	"timeout": timeoutWrapper, "gtimeout": timeoutWrapper, "flock": {own: 1, values: []string{"-w", "-E"}},
	"xargs": {values: []string{"-n", "-I", "-P", "-L", "-d", "-a", "-s", "-E", "--max-args", "--max-procs"}},
	"npx":   fetcher, "bunx": fetcher, "pnpx": fetcher, "uvx": fetcher,
	"pnpm dlx": fetcher, "yarn dlx": fetcher, "npm exec": fetcher, "bun x": fetcher, "pipx run": fetcher,
}

var (
	timeoutWrapper = wrapper{own: 1, values: []string{"-k", "-s", "--kill-after", "--signal"}}
	fetcher        = wrapper{values: []string{"-p", "--package", "--from", "--with", "--python", "--spec"}}
)

// unwrap is the command inside assignments and wrappers: its program comes
// first. Without one it is the last wrapper, if any.
func unwrap(words []string) []string {
	words = withoutAssignments(words)
	for len(words) > 0 {
		name := programName(words[0])
		w, ok := wrappers[name]
		rest := words[1:]
		if !ok && len(rest) > 0 {
			w, ok = wrappers[name+" "+rest[0]]
			rest = rest[1:]
		}
		if !ok || name == "command" && isLookup(words) {
			return words
		}
		if rest = w.inner(rest); len(rest) == 0 {
			return words
		}
		words = rest
	}
	return words
}

// inner skips the wrapper's own arguments.
func (w wrapper) inner(args []string) []string {
	own := w.own
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case a == "" || isAssignment(a):
		case strings.HasPrefix(a, "-"):
			if slices.Contains(w.values, a) {
				i++
			}
		case own > 0:
			own--
		default:
			return args[i:]
		}
	}
	return nil
}

func withoutAssignments(words []string) []string {
	for len(words) > 0 && (words[0] == "" || isAssignment(words[0])) {
		words = words[1:]
	}
	return words
}

// isLookup knows "command -v x", which runs nothing.
func isLookup(words []string) bool {
	return len(words) > 1 && (words[1] == "-v" || words[1] == "-V")
}

// shells run the text that follows a flag.
var shells = map[string]bool{"bash": true, "sh": true, "zsh": true, "dash": true, "ksh": true, "ash": true, "fish": true}

func isPowerShell(name string) bool { return name == "powershell" || name == "pwsh" }

// shellScript is the text that a shell was given to run.
func shellScript(args []string) (string, bool) {
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case !strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "+"):
			return "", false
		case strings.HasSuffix(a, "o") || strings.HasSuffix(a, "O"): // -euo pipefail
			i++
		case !strings.HasPrefix(a, "--") && strings.HasSuffix(a, "c") && i+1 < len(args):
			return args[i+1], true
		}
	}
	return "", false
}

// windowsScript is the same for PowerShell and cmd.
func windowsScript(args []string) (string, bool) {
	for i, a := range args {
		switch strings.ToLower(a) {
		case "-command", "-c", "/c", "/k":
			return strings.Join(args[i+1:], " "), i+1 < len(args)
		}
	}
	return "", false
}
