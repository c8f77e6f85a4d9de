package classify

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// call reads a simple command. What its arguments substitute counts only when
// the command itself is no real program.
func (r *reader) call(c *syntax.CallExpr) exits {
	if len(c.Args) == 0 {
		return r.assignments(c.Assigns)
	}
	words := make([]string, len(c.Args))
	for i, w := range c.Args {
		words[i] = wordText(w)
	}
	e := r.argv(words)
	if !r.found && (r.substitutions(c.Args...) || r.assignments(c.Assigns) != nobody) {
		return several
	}
	return e
}

// assignments read what variables are set to: X=$(program) ends with the
// program's exit code.
func (r *reader) assignments(assigns []*syntax.Assign) exits {
	e := nobody
	for _, a := range assigns {
		if a.Value != nil {
			if s, ok := onlySubstitution(a.Value); ok {
				e = e.then(r.list(s.Stmts))
			} else if r.substitutions(a.Value) {
				e = several
			}
		}
	}
	return e
}

// onlySubstitution is the $( ) that is all of a word, quoted or not.
func onlySubstitution(w *syntax.Word) (*syntax.CmdSubst, bool) {
	parts := w.Parts
	if len(parts) == 1 {
		if q, ok := parts[0].(*syntax.DblQuoted); ok {
			parts = q.Parts
		}
	}
	if len(parts) != 1 {
		return nil, false
	}
	s, ok := parts[0].(*syntax.CmdSubst)
	return s, ok
}

// substitutions read the commands inside words and report whether there are
// any.
func (r *reader) substitutions(words ...*syntax.Word) bool {
	any := false
	for _, w := range words {
		syntax.Walk(w, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.CmdSubst:
				any = true
				r.list(n.Stmts)
				return false
			case *syntax.ProcSubst:
				any = true
				r.list(n.Stmts)
				return false
			}
			return true
		})
	}
	return any
}

// argv reads one command as words. Words that only the shell knows are "$".
func (r *reader) argv(words []string) exits {
	words = unwrap(words)
	if len(words) == 0 {
		return nobody
	}
	name, args := programName(words[0]), words[1:]
	if words[0] == "." {
		name = "source"
	}
	r.waits = r.waits || name == "sleep" || name == "Start-Sleep" || name == "wait" || slices.ContainsFunc(args, isWaiting)
	if body := r.functions[words[0]]; body != nil {
		return r.function(body)
	}
	if script, read := scriptOf(name, args); read != nil {
		return read(r, script)
	}
	if name == "command" || name == "type" || name == "hash" {
		r.setup = command{} // a look-up by the shell itself
		return one
	}
	if e, ok := prepares[name]; ok || words[0] == ":" {
		r.prepare(name)
		return e
	}
	if !r.found {
		r.found = true
		if name != "" {
			r.first = command{program: name, sub: subcommand(name, args)}
		}
		r.hushed = r.hushed || slices.ContainsFunc(args, isQuiet)
	}
	return one
}

func (r *reader) function(body *syntax.Stmt) exits {
	if r.depth < maxDepth {
		r.depth++
		defer func() { r.depth-- }()
		r.stmt(body)
	}
	return several
}

func (r *reader) prepare(name string) { r.setup = command{program: name} }

// scriptOf is the text that a command runs in turn, and how to read it; nil
// if it runs none.
func scriptOf(name string, args []string) (string, func(*reader, string) exits) {
	asShell := func(r *reader, s string) exits { return r.text(s) }
	asWords := func(r *reader, s string) exits { return r.words(s, true) }
	switch lower := strings.ToLower(name); {
	case name == "eval" && len(args) == 1 && args[0] == "$": // what a substitution prints
		return "", func(*reader, string) exits { return several }
	case name == "eval" && len(args) > 0:
		return strings.Join(args, " "), asShell
	case shells[lower]:
		if script, ok := shellScript(args); ok {
			return script, asShell
		}
	case isPowerShell(lower), lower == "cmd":
		if script, ok := windowsScript(args); ok {
			return script, asWords
		}
	}
	return "", nil
}

// wordText is the text of a word, with "$" for what only the shell knows.
func wordText(w *syntax.Word) string {
	if len(w.Parts) == 1 {
		switch p := w.Parts[0].(type) {
		case *syntax.Lit:
			return unescape(p.Value, "")
		case *syntax.SglQuoted:
			return p.Value
		}
	}
	var b strings.Builder
	writeParts(&b, w.Parts, "")
	return b.String()
}

func writeParts(b *strings.Builder, parts []syntax.WordPart, only string) {
	for _, part := range parts {
		switch p := part.(type) {
		case *syntax.Lit:
			b.WriteString(unescape(p.Value, only))
		case *syntax.SglQuoted:
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			writeParts(b, p.Parts, "$`\"\\\n")
		default:
			b.WriteByte('$')
		}
	}
}

// unescape takes the backslashes off a literal: before any character, or
// before one of those that only names.
func unescape(s, only string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && (only == "" || i+1 < len(s) && strings.IndexByte(only, s[i+1]) >= 0) {
			if i++; i == len(s) || s[i] == '\n' {
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
