package operator

import "strings"

// runs are the ways in which other languages run a program.
var runs = []string{
	"subprocess", "os.system", "os.popen", "os.exec", "os.spawn", "posix_spawn", "pty.", "popen", "child_process", "execsync",
	"spawnsync", "execfile", "exec(", "exec ", "spawn(", "spawn ", "system(", "system ", "system\t", "qx", "%x", "open3", "shell_exec",
	"passthru", "proc_open", "deno.command", "bun.spawn", "$`", "execa", "do shell script", "do script", "keystroke", "processbuilder",
	"getruntime", "getline", "| \"", "send ", "os.environ", "putenv", "setenv", "process.env", "env[", "environ",
}

// language reads a program in another language: after -c or -e, on its input,
// or in a file of the same text. It is searched for the words, if it runs
// anything at all.
func (r *reader) language(words []string) flow {
	code := strings.Join(words[1:], "\n") + "\n" + r.stdin.text
	for _, a := range words[1:] {
		code += "\n" + r.files[clean(a)]
	}
	lower := strings.ToLower(code)
	for _, way := range runs {
		if strings.Contains(lower, way) {
			if what := search(code); what != "" {
				r.find(what)
			}
			break
		}
	}
	if name := base(words[0]); (name == "perl" || name == "ruby" || name == "php") && strings.Contains(code, "`") {
		if what := search(code); what != "" {
			r.find(what)
		}
	}
	return opaque(r, words)
}

// search looks for the words without knowing the language: expediter and, as
// the next word but for flags, one of the human's commands; or EXPEDITER_OPERATOR
// that is given a value. It takes any text and any length.
func search(text string) string {
	if setsIn(text) {
		return setsVariable
	}
	for i := 0; i+len(program) <= len(text); i++ {
		if text[i]|0x20 != program[0] || i > 0 && inWord(text[i-1]) || !strings.EqualFold(text[i:i+len(program)], program) {
			continue
		}
		if what := following(text[i+len(program):]); what != "" {
			return "it runs " + program + " " + what
		}
	}
	return ""
}

func inWord(c byte) bool {
	return c == '_' || c == '-' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// following is the human's command that follows the word expediter, within a
// line's length.
func following(text string) string {
	text = text[:min(len(text), 200)]
	text = strings.TrimPrefix(strings.TrimPrefix(text, "-cli"), ".exe")
	if text == "" || inWord(text[0]) || text[0] == '/' || text[0] == '.' {
		return ""
	}
	words := strings.FieldsFunc(text, func(c rune) bool { return strings.ContainsRune(" \t\r\n\"'`,()[]{}\\", c) })
	for i, w := range words {
		w = strings.TrimRight(w, ";|&")
		switch {
		case isHuman(w):
			return w
		case strings.HasPrefix(w, "-") || i > 0 && strings.HasPrefix(words[i-1], "-"):
		default:
			return ""
		}
	}
	return ""
}

// setsIn looks for EXPEDITER_OPERATOR that is given a value.
func setsIn(text string) bool {
	for {
		before, after, ok := strings.Cut(text, Variable)
		if !ok {
			return false
		}
		text = after
		value := strings.TrimLeft(after[:min(len(after), 16)], "'\"`] \t)}")
		if value == "" || strings.HasPrefix(value, "==") {
			continue
		}
		asked := strings.TrimRight(before[max(0, len(before)-24):], "'\"`( ")
		switch value[0] {
		case '=', ':':
			return true
		case ',':
			if !strings.HasSuffix(strings.ToLower(asked), "get") && !strings.HasSuffix(strings.ToLower(asked), "getenv") {
				return true
			}
		}
	}
}
