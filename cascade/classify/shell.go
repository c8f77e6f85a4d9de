package classify

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Bounds of reading a shell text.
const (
	maxShell   = 64 << 10 // bytes that are parsed; of a longer text, maxCommand bytes are looked at
	maxCommand = 4 << 10
	maxDepth   = 16     // of texts and functions inside each other
	maxSteps   = 20_000 // statements
	maxParsed  = 4 * maxShell
	maxNested  = 400 // parentheses that are open at the same time
)

// exits says whose exit code a piece of shell text ends with.
type exits uint8

const (
	nobody  exits = iota // only preparations, which say so when they fail
	one                  // one program's
	several              // it cannot be told
)

// then is the exit code of a, and b after it.
func (a exits) then(b exits) exits {
	if a == nobody {
		return b
	}
	return several
}

// reader finds the first real program of a shell text.
type reader struct {
	first     command // once found
	found     bool    // also of a program without a plain name
	setup     command // the last command that only prepares
	hushed    bool
	waits     bool
	functions map[string]*syntax.Stmt
	depth     int
	steps     int
	parsed    int // bytes
}

// result is what was found; of a text that only prepares, its last command.
func (r *reader) result(e exits) command {
	c := r.first
	if !r.found {
		c = r.setup
	}
	c.compound, c.hushed, c.waits = e == several, r.hushed, r.waits
	return c
}

// prepares are the commands that only get things ready for the next one, and
// the exit code they leave.
var prepares = map[string]exits{
	"cd": nobody, "pushd": nobody, "popd": nobody, "export": nobody, "set": nobody, "unset": nobody, "shopt": nobody, "setopt": nobody,
	"umask": nobody, "ulimit": nobody, "alias": nobody, "trap": nobody, "true": nobody, "echo": nobody, "printf": nobody,
	"mkdir": nobody, "clear": nobody, "sleep": nobody, "yes": nobody, "exec": nobody, "shift": nobody,
	"mktemp": nobody, "basename": nobody, "dirname": nobody, "realpath": nobody, "readlink": nobody, "date": nobody, "pwd": nobody,
	"Set-Location": nobody, "Write-Host": nobody, "Write-Output": nobody, "Start-Sleep": nobody,
	"test": one, "false": one, "nvm": one, "source": one, "which": one,
	"read": one, "exit": one, "return": one, "break": one, "continue": one, "wait": one, "let": one, "getopts": one,
}

// text reads a whole shell text. What cannot be parsed is split into words.
func (r *reader) text(text string) exits {
	if r.parsed += min(len(text), maxShell); r.depth >= maxDepth || r.parsed > maxParsed {
		return several
	}
	r.depth++
	defer func() { r.depth-- }()
	if len(text) > maxShell || nested(text) > maxNested {
		return r.words(head(text, maxCommand), false)
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		return r.words(head(text, maxCommand), false)
	}
	return r.list(file.Stmts)
}

// nested is how deep the parentheses of a text go, about: the parser recurses.
func nested(text string) (deepest int) {
	open := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '(', '[':
			open++
			deepest = max(deepest, open)
		case ')', ']':
			open = max(open-1, 0)
		}
	}
	return deepest
}

func (r *reader) list(stmts []*syntax.Stmt) exits {
	e := nobody
	for _, s := range stmts {
		e = e.then(r.stmt(s))
	}
	return e
}

func (r *reader) stmt(s *syntax.Stmt) exits {
	if r.steps++; s == nil || r.steps > maxSteps {
		return several
	}
	r.hushed = r.hushed || slices.ContainsFunc(s.Redirs, hushes)
	e := r.command(s.Cmd)
	if s.Negated || s.Background || s.Coprocess {
		return several
	}
	return e
}

// hushes reports whether output goes elsewhere; 2>&1 alone only joins it.
func hushes(r *syntax.Redirect) bool {
	switch r.Op {
	case syntax.RdrOut, syntax.AppOut, syntax.ClbOut, syntax.RdrAll, syntax.AppAll:
		return true
	}
	return false
}

func (r *reader) command(c syntax.Command) exits {
	switch c := c.(type) {
	case nil:
		return nobody
	case *syntax.CallExpr:
		return r.call(c)
	case *syntax.BinaryCmd:
		return r.binary(c)
	case *syntax.Subshell:
		return r.list(c.Stmts)
	case *syntax.Block:
		return r.list(c.Stmts)
	case *syntax.TimeClause:
		return r.stmt(c.Stmt)
	case *syntax.DeclClause:
		r.prepare("export")
		if r.assignments(c.Args) != nobody {
			return several
		}
		return nobody
	case *syntax.TestClause, *syntax.ArithmCmd, *syntax.LetClause:
		r.prepare("test")
		return one
	case *syntax.FuncDecl:
		if r.functions == nil {
			r.functions = map[string]*syntax.Stmt{}
		}
		r.functions[c.Name.Value] = c.Body
		return nobody
	}
	r.compound(c)
	return several
}

func (r *reader) binary(c *syntax.BinaryCmd) exits {
	if c.Op == syntax.Pipe && isHereDocument(c.X) {
		return r.stmt(c.Y)
	}
	x, y := r.stmt(c.X), r.stmt(c.Y)
	switch {
	case c.Op == syntax.AndStmt:
		return x.then(y)
	case c.Op != syntax.OrStmt && x == nobody: // echo x | program
		return y
	}
	return several
}

// isHereDocument knows "cat <<EOF", which only feeds the pipe.
func isHereDocument(s *syntax.Stmt) bool {
	call, ok := s.Cmd.(*syntax.CallExpr)
	return ok && len(call.Args) == 1 && call.Args[0].Lit() == "cat" && len(s.Redirs) == 1 &&
		(s.Redirs[0].Op == syntax.Hdoc || s.Redirs[0].Op == syntax.DashHdoc)
}

// compound reads what has bodies.
func (r *reader) compound(c syntax.Command) {
	switch c := c.(type) {
	case *syntax.IfClause:
		for ; c != nil; c = c.Else {
			r.list(c.Cond)
			r.list(c.Then)
		}
	case *syntax.WhileClause:
		r.list(c.Cond)
		r.list(c.Do)
	case *syntax.ForClause:
		r.list(c.Do)
		if items, ok := c.Loop.(*syntax.WordIter); ok && !r.found {
			r.substitutions(items.Items...)
		}
	case *syntax.CaseClause:
		for _, item := range c.Items {
			r.list(item.Stmts)
		}
	case *syntax.CoprocClause:
		r.stmt(c.Stmt)
	}
}
