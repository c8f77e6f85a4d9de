package classify

import (
	"encoding/json"
	"path"
	"slices"
	"strings"
)

// command is what is known of the program that a call ran.
type command struct {
	program  string // base name of the first real program; empty: unknown
	sub      string // its first argument that is no flag
	compound bool   // the exit code may be that of another program
	hushed   bool   // what it prints goes elsewhere, or it was told to be quiet
	waits    bool   // it was told to wait, for a time or for an event
}

// shellTools are the names under which agents offer a shell, in lower case.
var shellTools = map[string]bool{
	"bash": true, "sh": true, "zsh": true, "shell": true, "powershell": true, "pwsh": true, "cmd": true, "local_shell": true,
	"run_shell_command": true, "run_terminal_cmd": true, "run_terminal_command": true, "run_in_terminal": true,
	"execute_bash": true, "execute_command": true, "execute_shell": true, "exec_command": true, "shell_command": true,
	"run_commands": true, "terminal": true, "runcommand": true, "run_command": true, "run_shell": true, "run_bash": true, "exec": true,
	"container.exec": true, "developer__shell": true, "bash_tool": true, "execute": true,
}

func isShellTool(tool string) bool { return names(shellTools, tool) }

// names reports whether a set of names in lower case has the tool. It does not
// allocate.
func names(set map[string]bool, tool string) bool {
	var lower [24]byte
	if len(tool) > len(lower) {
		return false
	}
	for i := range len(tool) {
		lower[i] = tool[i]
		if 'A' <= tool[i] && tool[i] <= 'Z' {
			lower[i] |= 0x20
		}
	}
	return set[string(lower[:len(tool)])]
}

// command reads the program from Argv, Shell or a shell tool's Input.
func (o Observation) command() command {
	text, argv := o.Shell, o.Argv
	if text == "" && len(argv) == 0 {
		if len(o.Input) == 0 || o.Server != "" || !isShellTool(o.Tool) {
			return command{}
		}
		text, argv = o.commandInput()
	}
	var r reader
	switch {
	case len(argv) > 0:
		return r.result(r.argv(argv))
	case text == "":
		return command{compound: true}
	case isPowerShell(strings.ToLower(o.Tool)):
		return r.result(r.words(text, true))
	}
	return r.result(r.text(text))
}

// commandInput finds the command in a shell's arguments, as a text or as an
// argv.
func (o Observation) commandInput() (text string, argv []string) {
	in := object(o.Input)
	for _, name := range [...]string{"command", "cmd", "script", "command_line", "CommandLine", "commandLine", "input"} {
		raw := in[name]
		if len(raw) == 0 {
			continue
		}
		if json.Unmarshal(raw, &text) == nil && text != "" {
			return text, nil
		}
		if json.Unmarshal(raw, &argv) == nil && len(argv) > 0 {
			return "", argv
		}
	}
	return strings.Join(commandList(in["commands"]), "\n"), nil
}

// commandList is the commands of a list: texts, or {"command":…,"args":[…]}; one of
// them may stand for the list.
func commandList(raw json.RawMessage) (commands []string) {
	list := array(raw)
	if list == nil {
		list = []json.RawMessage{raw}
	}
	for _, item := range list {
		text := str(item)
		if f := object(item); f != nil {
			text = f.text("command")
			for _, arg := range array(f["args"]) {
				text += " " + quoted(str(arg))
			}
		}
		if text != "" {
			commands = append(commands, text)
		}
	}
	return commands
}

// quoted is a word as a shell reads it.
func quoted(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

// valueFlags are the flags of programs with subcommands that take the next
// word.
var valueFlags = map[string][]string{
	"git": {"-C", "-c", "--git-dir", "--work-tree", "--namespace"}, "docker": {"-H", "--host", "--context"},
	"kubectl": {"-n", "--namespace", "--context", "--kubeconfig"}, "make": {"-C", "-f"}, "go": {"-C"},
	"npm": {"--prefix", "-w", "--workspace"}, "pnpm": {"-C", "--dir", "-F", "--filter"}, "yarn": {"--cwd"},
	"gh": {"-R", "--repo"}, "uv": {"--directory", "--project"}, "mvn": {"-f", "-pl"}, "gradle": {"-p"}, "cargo": {"-C"},
}

// subcommand is the first argument that is no flag, assignment or toolchain;
// of an interpreter's -m also the module.
func subcommand(program string, args []string) string {
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "-m" && strings.HasPrefix(program, "python") && i+1 < len(args):
			return "-m " + head(args[i+1], maxProgram)
		case a == "-c" && strings.HasPrefix(program, "python"):
			return ""
		case slices.Contains(valueFlags[program], a):
			i++
		case !strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "+") && !isAssignment(a):
			return head(a, maxProgram)
		}
	}
	return ""
}

// isQuiet knows arguments that keep a program from saying what went wrong.
func isQuiet(arg string) bool {
	switch arg {
	case "--quiet", "--silent", "--exit-code", "--no-messages":
		return true
	}
	return len(arg) > 1 && arg[0] == '-' && arg[1] != '-' && strings.ContainsAny(arg, "qs")
}

// isWaiting knows arguments that make a program wait for an event.
func isWaiting(arg string) bool {
	return arg == "watch" || arg == "--watch" || arg == "--follow" || arg == "--wait"
}

// programName is the base name of a program, or nothing if that is not plain.
func programName(word string) string {
	if word == "[" {
		return "test"
	}
	name := strings.TrimLeft(word, "!")
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	if i := strings.IndexByte(name, '@'); i > 0 { // npx tool@version
		name = name[:i]
	}
	if ext := path.Ext(name); strings.EqualFold(ext, ".exe") {
		name = name[:len(name)-len(ext)]
	}
	if !isPlain(name) {
		return ""
	}
	return name
}

// keywords are words of the shell that no program has for a name.
var keywords = map[string]bool{
	"if": true, "then": true, "elif": true, "else": true, "fi": true, "for": true, "foreach": true, "select": true,
	"while": true, "until": true, "do": true, "done": true, "case": true, "esac": true, "in": true, "function": true,
	"try": true, "catch": true, "finally": true, "coproc": true, "param": true,
}

// isPlain knows names that may stand in a key: letters, digits and . _ + -,
// with a letter, and no sign in front.
func isPlain(name string) bool {
	letters := 0
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			letters++
		case isDigit(c) || c == '_' || c == '.':
		case (c == '+' || c == '-') && i > 0:
		default:
			return false
		}
	}
	return letters > 0 && len(name) <= maxProgram && !keywords[name]
}

func isAssignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	name = strings.TrimSuffix(name, "+")
	return ok && name != "" && !isDigit(name[0]) && !strings.ContainsFunc(name, func(r rune) bool {
		return r != '_' && !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9')
	})
}
