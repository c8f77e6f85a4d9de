package operator

import (
	"slices"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// Variable lets a machine's operator do without a terminal: see Require.
const Variable = "EXPEDITER_OPERATOR"

const program = "expediter"

// HumanCommands are the subcommands of expediter that only a human may run. The
// caller may change the slice.
func HumanCommands() []string { return slices.Clone(humanCommands) }

var humanCommands = []string{"confirm", "resume", "reset", "open", "install", "uninstall"}

// isHuman: beside the human's commands no agent has reason to run hook in a
// shell. A made-up prompt would begin a cycle, as resume does.
func isHuman(word string) bool { return word == "hook" || slices.Contains(humanCommands, word) }

// Bounds of reading one text. What is over them is only searched for the words.
const (
	maxText   = 64 << 10 // bytes that are parsed; longer texts are split into words
	maxRead   = 4 * maxText
	maxDepth  = 24  // of texts, functions and aliases inside each other
	maxLevel  = 400 // of statements inside each other
	maxNested = 400 // parentheses that are open at the same time
	maxSteps  = 20_000
	maxValue  = 16 << 10 // bytes of one word
	maxItems  = 64       // turns of a loop, arguments from a pipe
)

// Controls reports what a shell text would do that only a human may: run one of
// the human's commands of expediter, or set EXPEDITER_OPERATOR. Empty: nothing.
// Else it is words for a reason ("it runs expediter confirm").
//
// The text is read as Bash, then as mksh; what is neither (fish, zsh,
// PowerShell, cmd) is split into commands and words. Texts that only mention
// the words, as grep, echo and git commit do, are nothing. A subcommand that
// only the shell knows counts, for it can be any. It never panics, takes any
// text, and most texts, those without the words, cost one pass over the bytes.
func Controls(shell string) (found string) {
	if !hides(shell) {
		return ""
	}
	defer func() {
		if recover() != nil {
			found = search(shell)
		}
	}()
	text := strings.Map(func(c rune) rune {
		if c == unknown || c == tainted || c == gap {
			return '?'
		}
		return c
	}, shell)
	r := &reader{vars: map[string][]string{
		"SHELL": {"sh"}, "BASH": {"bash"},
		"CLAUDE_ENV_FILE": {"/.bashrc"}, // read by every later shell of that agent
	}}
	r.parse(text)
	if r.found == "" && r.cut {
		return search(text)
	}
	return r.found
}

// hides reports whether a text may name expediter: it has half of the word at
// least, however it is quoted. Put together from two pieces, one of them has
// the first or the last five letters: exped, diter.
func hides(text string) bool {
	var front, back uint8
	for i := 0; i < len(text); i++ {
		c := letters[text[i]]
		if c >= skipped {
			if c == skipped || i > 0 && (text[i-1] == '\\' || text[i-1] == '\r') {
				continue
			}
			c = 0
		}
		if front, back = fronts[front][c], backs[back][c]; front == 5 || back == 5 {
			return true
		}
	}
	return false
}

// What hides tells apart: quotes, ends of lines, the letters of the word, and
// all else as 0.
const (
	inE = iota + 1
	inX
	inP
	inD
	inI
	inT
	inR
	skipped
	lineEnd
)

var letters = [256]uint8{
	'e': inE, 'E': inE, 'x': inX, 'X': inX, 'p': inP, 'P': inP, 'd': inD, 'D': inD, 'i': inI, 'I': inI, 't': inT, 'T': inT, 'r': inR, 'R': inR,
	'\'': skipped, '"': skipped, '\\': skipped, '`': skipped, '^': skipped, '$': skipped, '\n': lineEnd, '\r': lineEnd,
}

// fronts and backs are how many letters of exped and diter were read, before
// and after the next one.
var (
	fronts = [5][8]uint8{{inE: 1}, {inE: 1, inX: 2}, {inE: 1, inP: 3}, {inE: 4}, {inE: 1, inX: 2, inD: 5}}
	backs  = [5][8]uint8{{inD: 1}, {inD: 1, inI: 2}, {inD: 1, inT: 3}, {inD: 1, inE: 4}, {inD: 1, inR: 5}}
)

// flow is what goes through a pipe, as far as it can be told.
type flow struct {
	text  string
	exact bool // nothing else goes through
}

func (f flow) then(g flow) flow {
	if f == (flow{}) {
		return g
	}
	if g == (flow{}) {
		return f
	}
	return flow{text: bounded(f.text + g.text), exact: f.exact && g.exact}
}

// reader follows a shell text as the shell would, running nothing.
type reader struct {
	found     string
	vars      map[string][]string // all values that the text gives them, in order
	args      []string            // $1, $2, ...
	functions map[string]*syntax.Stmt
	aliases   map[string]string
	files     map[string]string // what the text writes
	names     map[string]bool   // other names that the text gives to expediter
	dir       string            // the text's last cd
	stdin     flow
	cut       bool // a bound was hit
	depth     int
	level     int
	steps     int
	read      int // bytes of texts inside the text
}

func (r *reader) find(what string) {
	if r.found == "" {
		r.found = what
	}
}

// stop reports whether there is nothing more to read.
func (r *reader) stop() bool {
	if r.steps++; r.steps > maxSteps {
		r.cut = true
	}
	return r.found != "" || r.cut
}

// enter goes one text, function or alias deeper; leave goes back.
func (r *reader) enter() bool {
	if r.depth >= maxDepth {
		r.cut = true
		return false
	}
	r.depth++
	return true
}

func (r *reader) leave() { r.depth-- }

// text reads a text that the text runs in turn.
func (r *reader) text(text string) flow {
	if r.read += len(text); r.read > maxRead {
		r.cut = true
	}
	if r.stop() || !r.enter() {
		return flow{}
	}
	defer r.leave()
	return r.parse(strings.ReplaceAll(text, string(gap), " "))
}

func (r *reader) parse(text string) flow {
	if len(text) <= maxText && nested(text) <= maxNested && utf8.ValidString(text) {
		for _, lang := range []syntax.LangVariant{syntax.LangBash, syntax.LangMirBSDKorn} {
			if file, err := syntax.NewParser(syntax.Variant(lang)).Parse(strings.NewReader(text), ""); err == nil {
				out := r.list(file.Stmts)
				if r.found == "" && windowsPath(text) {
					r.words(text, '`')
				}
				return out
			}
		}
	}
	r.words(text, '\\')
	if strings.ContainsAny(text, "\\`") {
		r.words(text, '`')
	}
	return flow{}
}

// windowsPath reports whether expediter stands in a folder as Windows writes it,
// which Bash reads as one word with a needless escape.
func windowsPath(text string) bool {
	before, _, ok := strings.Cut(strings.ToLower(text), `\`+program)
	return ok && before != "" && (inWord(before[len(before)-1]) || strings.IndexByte(".)}", before[len(before)-1]) >= 0)
}

// nested is how deep the parentheses of a text go, about: the parser recurses.
func nested(text string) (deepest int) {
	open := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '(', '[', '{':
			open++
			deepest = max(deepest, open)
		case ')', ']', '}':
			open = max(open-1, 0)
		}
	}
	return deepest
}

// sink runs what comes in: a shell reads it from its standard input.
func (r *reader) sink() flow {
	in := r.stdin
	r.stdin = flow{}
	defer func() { r.stdin = in }()
	return r.text(in.text)
}
