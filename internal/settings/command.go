package settings

import (
	"slices"
	"strings"
)

// Words splits a command line as a shell would: at white space, with single and
// double quotes. A backslash takes its meaning from white space, quotes and
// backslashes alone, so that C:\tools\expediter.exe is one word of these very
// characters. Operators are words like others; an open quote ends with the text.
func Words(line string) []string {
	var words []string
	var word strings.Builder
	quote, inWord := rune(0), false
	runes := []rune(line)
	for i := 0; i < len(runes); i++ {
		switch r := runes[i]; {
		case quote != 0 && r == quote:
			quote = 0
		case r == '\\' && quote != '\'' && i+1 < len(runes) && strings.ContainsRune(" \t'\"\\", runes[i+1]):
			i++
			word.WriteRune(runes[i])
			inWord = true
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, inWord = r, true
		case r == ' ' || r == '\t' || r == '\n' || r == '\r':
			if inWord {
				words = append(words, word.String())
				word.Reset()
				inWord = false
			}
		default:
			word.WriteRune(r)
			inWord = true
		}
	}
	if inWord {
		words = append(words, word.String())
	}
	return words
}

// runsHook reports whether the words run the hook of one of the agents:
// anywhere in them a program named expediter, and after it the words hook and
// the agent. `auto` is every agent's.
func runsHook(words []string, agent string) bool {
	program := slices.IndexFunc(words, isExpediter)
	if program < 0 {
		return false
	}
	args := words[program+1:]
	for i := 0; i+1 < len(args); i++ {
		if name := strings.TrimRight(args[i+1], ";"); args[i] == "hook" && (name == agent || name == "auto") {
			return true
		}
	}
	return false
}

// isExpediter reports whether a word is the program's name or a path to it.
func isExpediter(word string) bool {
	base := word[strings.LastIndexAny(word, `/\`)+1:]
	base = strings.TrimSuffix(strings.ToLower(base), ".exe")
	return base == "expediter" || base == "expediter-hook"
}

// shellText writes words as a line of sh, so that each stays one word.
func shellText(words []string) string {
	return quoted(words, func(word string) string {
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	})
}

// powershellText writes words as a line of PowerShell.
func powershellText(words []string) string {
	line := quoted(words, func(word string) string {
		return "'" + strings.ReplaceAll(word, "'", "''") + "'"
	})
	if strings.HasPrefix(line, "'") {
		return "& " + line // a quoted word alone is a text, not a program
	}
	return line
}

func quoted(words []string, quote func(string) string) string {
	list := slices.Clone(words)
	for i, word := range list {
		if word == "" || strings.ContainsFunc(word, unsafe) {
			list[i] = quote(word)
		}
	}
	return strings.Join(list, " ")
}

// unsafe reports whether a character may mean something to a shell.
func unsafe(r rune) bool {
	plain := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("_-+./:=,@", r)
	return !plain
}
