package classify

import (
	"encoding/json"
	"path"
	"strings"
	"unicode/utf8"
)

// Bounds of what is read of a command and kept in a key, in bytes.
const (
	maxCommand = 4 << 10
	maxTool    = 200
	maxProgram = 64
)

// command is what is known of the program that a call ran.
type command struct {
	program  string // base name of the first real program; empty: unknown
	sub      string // its first argument that is no flag
	compound bool   // a pipeline, a list or more than this can read
}

// shellTools are the names under which agents offer a shell.
var shellTools = map[string]bool{
	"bash": true, "sh": true, "zsh": true, "shell": true, "powershell": true, "local_shell": true,
	"run_shell_command": true, "run_terminal_cmd": true, "run_terminal_command": true, "execute_bash": true,
	"execute_command": true, "exec_command": true, "terminal": true, "runcommand": true, "run_command": true,
}

func isShellTool(tool string) bool { return shellTools[strings.ToLower(tool)] }

// key is the tool, with the program for a call of a shell.
func key(tool string, c command) string {
	tool = strings.TrimSpace(head(clean(head(tool, maxTool)), maxTool))
	tool = strings.NewReplacer("\n", " ", "\t", " ").Replace(tool)
	switch {
	case c.program == "" || tool != "" && !isShellTool(tool):
		return tool
	case tool == "":
		return c.program
	default:
		return tool + "/" + c.program
	}
}

func lastElement(tool string) string { return tool[strings.LastIndexByte(tool, '/')+1:] }

// command reads the program from Argv, Shell or a shell tool's Input.
func (o Observation) command() command {
	switch {
	case len(o.Argv) > 0:
		return fromArgv(o.Argv)
	case o.Shell != "":
		return fromShell(o.Shell)
	case isShellTool(o.Tool) && len(o.Input) > 0 && len(o.Input) <= 1<<20:
		return fromInput(o.Input)
	}
	return command{}
}

// fromInput knows the fields in which agents put a command, as a text or as
// an argv.
func fromInput(input json.RawMessage) command {
	var in struct {
		Command, Cmd, Script, Input json.RawMessage
	}
	if json.Unmarshal(input, &in) != nil {
		return command{}
	}
	for _, raw := range []json.RawMessage{in.Command, in.Cmd, in.Script, in.Input} {
		var text string
		var argv []string
		switch {
		case len(raw) == 0:
		case json.Unmarshal(raw, &text) == nil && text != "":
			return fromShell(text)
		case json.Unmarshal(raw, &argv) == nil && len(argv) > 0:
			return fromArgv(argv)
		}
	}
	return command{}
}

func fromArgv(argv []string) command {
	if len(argv) >= 3 && isShellTool(path.Base(argv[0])) && strings.HasPrefix(argv[1], "-") && strings.HasSuffix(argv[1], "c") {
		return fromShell(argv[2])
	}
	return firstProgram(argv)
}

// fromShell reads simple shell text; what it cannot read is compound.
func fromShell(text string) command {
	segments, whole := split(head(text, maxCommand))
	whole = whole && len(text) <= maxCommand
	for i, words := range segments {
		c := firstProgram(words)
		if c.program == "" || setup[c.program] && i < len(segments)-1 {
			continue
		}
		c.compound = !whole || len(segments) > 1
		return c
	}
	return command{compound: !whole || len(segments) > 1}
}

// setup are commands that only prepare the next one.
var setup = map[string]bool{"cd": true, "export": true, "set": true, "source": true, ".": true, "pushd": true, "mkdir": true, "true": true, "unset": true}

// wrappers run the command that follows them, after their own flags; the
// number is how many plain arguments of their own come first.
var wrappers = map[string]int{"sudo": 0, "env": 0, "time": 0, "nohup": 0, "nice": 0, "command": 0, "exec": 0, "stdbuf": 0, "setsid": 0, "timeout": 1, "npx": 0, "uvx": 0, "bunx": 0}

// valueFlags are the flags of wrappers that take the next word.
var valueFlags = map[string]bool{"-n": true, "-u": true, "-g": true, "-k": true, "-s": true, "-C": true, "-p": true, "--package": true}

func firstProgram(words []string) command {
	own := 0
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case isAssignment(w) || w == "":
		case strings.HasPrefix(w, "-"):
			if valueFlags[w] {
				i++
			}
		case own > 0:
			own--
		default:
			name := programName(w)
			if n, ok := wrappers[name]; ok && i < len(words)-1 {
				own = n
				continue
			}
			return command{program: name, sub: subcommand(words[i+1:])}
		}
	}
	return command{}
}

// programName is the base name of a program, or nothing if it is not plain.
func programName(word string) string {
	name := word[strings.LastIndexAny(word, `/\`)+1:]
	name = strings.TrimSuffix(name, ".exe")
	if name == "" || len(name) > maxProgram || !utf8.ValidString(name) || strings.ContainsFunc(name, notPlain) {
		return ""
	}
	return name
}

func notPlain(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._+-@[", r))
}

func subcommand(args []string) string {
	for _, a := range args {
		if !strings.HasPrefix(a, "-") {
			return head(a, maxProgram)
		}
	}
	return ""
}

func isAssignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	return ok && name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return r != '_' && !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9')
	})
}

// split cuts shell text into its commands and their words. whole is false
// where it holds anything that this simple reader does not follow:
// substitutions, groups, here-documents, an open quote.
func split(text string) (segments [][]string, whole bool) {
	var words []string
	var word []byte
	inWord := false
	whole = true
	endWord := func() {
		if inWord {
			words = append(words, string(word))
		}
		word, inWord = word[:0], false
	}
	endSegment := func() {
		endWord()
		if len(words) > 0 {
			segments = append(segments, words)
		}
		words = nil
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case ' ', '\t', '\r':
			endWord()
		case '\'', '"':
			end := strings.IndexByte(text[i+1:], c)
			if end < 0 {
				return append(segments, words), false
			}
			quoted := text[i+1 : i+1+end]
			whole = whole && (c == '\'' || !strings.ContainsAny(quoted, "$`\\"))
			word, inWord = append(word, quoted...), true
			i += end + 1
		case '\\':
			if i++; i < len(text) && text[i] != '\n' {
				word, inWord = append(word, text[i]), true
			}
		case '>', '<':
			if strings.HasPrefix(text[i:], "<<") || strings.HasPrefix(text[i:], "<(") || strings.HasPrefix(text[i:], ">(") {
				whole = false
			}
			i = skipRedirection(text, i)
			if n := len(word); n > 0 && strings.Trim(string(word), "0123456789&") == "" {
				word, inWord = word[:0], false
			}
			endWord()
		case '|', ';', '&', '\n':
			endSegment()
		case '`', '(', ')', '{', '}':
			whole = false
			endWord()
		case '$':
			whole = whole && !strings.HasPrefix(text[i:], "$(")
			word, inWord = append(word, c), true
		default:
			word, inWord = append(word, c), true
		}
	}
	endSegment()
	return segments, whole
}

// skipRedirection returns the index of the last byte of the redirection that
// starts at i, its target included.
func skipRedirection(text string, i int) int {
	for i < len(text) && strings.IndexByte("<>&|", text[i]) >= 0 {
		i++
	}
	for i < len(text) && text[i] == ' ' {
		i++
	}
	for i < len(text) && strings.IndexByte(" \t\r\n|;&<>()", text[i]) < 0 {
		i++
	}
	return i - 1
}
