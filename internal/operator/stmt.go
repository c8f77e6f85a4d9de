package operator

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

func (r *reader) list(stmts []*syntax.Stmt) flow {
	out := flow{}
	for _, s := range stmts {
		out = out.then(r.stmt(s))
	}
	return out
}

// stmt reads a statement with its redirections, and is what it prints.
func (r *reader) stmt(s *syntax.Stmt) flow {
	if s == nil || r.stop() {
		return flow{}
	}
	if r.level++; r.level > maxLevel {
		r.cut = true
	}
	in := r.stdin
	defer func() { r.level--; r.stdin = in }()
	for _, redirect := range s.Redirs {
		r.input(redirect)
	}
	out := r.command(s.Cmd)
	for _, redirect := range s.Redirs {
		out = r.output(redirect, out)
	}
	return out
}

// input sets what the statement reads.
func (r *reader) input(redirect *syntax.Redirect) {
	switch redirect.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		if redirect.Hdoc != nil {
			r.stdin = flow{r.document(redirect.Hdoc, redirect.Word), true}
		}
	case syntax.WordHdoc:
		r.stdin = flow{strings.ReplaceAll(r.word(redirect.Word), string(gap), " ") + "\n", true}
	case syntax.RdrIn:
		r.stdin = flow{text: r.files[clean(r.word(redirect.Word))]}
	}
}

// output is what is left of out after a redirection.
func (r *reader) output(redirect *syntax.Redirect, out flow) flow {
	switch redirect.Op {
	case syntax.RdrOut, syntax.AppOut, syntax.ClbOut, syntax.RdrAll, syntax.AppAll:
	default:
		return out
	}
	if sub := substituted(redirect.Word); sub != nil {
		in := r.stdin
		r.stdin = out
		r.list(sub.Stmts)
		r.stdin = in
		return flow{}
	}
	if redirect.N != nil && redirect.N.Value != "1" { // 2>, {fd}>
		r.word(redirect.Word)
		return out
	}
	name := r.word(redirect.Word)
	if strings.HasPrefix(name, "/dev/std") || strings.HasPrefix(name, "/dev/fd/") {
		return out
	}
	r.write(name, out, redirect.Op == syntax.AppOut || redirect.Op == syntax.AppAll)
	return flow{}
}

// substituted is the >( ) that is all of a word.
func substituted(w *syntax.Word) *syntax.ProcSubst {
	if w == nil || len(w.Parts) != 1 {
		return nil
	}
	if p, ok := w.Parts[0].(*syntax.ProcSubst); ok && p.Op == syntax.CmdOut {
		return p
	}
	return nil
}

// write remembers what the text writes into a file. What a shell reads when it
// starts is run, some day.
func (r *reader) write(name string, out flow, add bool) {
	if r.files == nil {
		r.files = map[string]string{}
	}
	key := clean(name)
	if !add {
		r.files[key] = ""
	}
	r.files[key] = bounded(r.files[key] + out.text)
	if strings.Contains(startFiles, " "+path.Base(key)+" ") {
		in := r.stdin
		r.stdin = out
		r.sink()
		r.stdin = in
	}
}

const startFiles = " environment .pam_environment .bashrc .bash_profile .bash_login .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin .kshrc config.fish .envrc " +
	"profile.ps1 Microsoft.PowerShell_profile.ps1 "

// clean makes one name of ./x and x.
func clean(name string) string {
	if name == "" {
		return ""
	}
	return path.Clean(name)
}

func (r *reader) command(c syntax.Command) flow {
	switch c := c.(type) {
	case *syntax.CallExpr:
		for _, a := range c.Assigns {
			r.assign(a)
		}
		return r.run(r.fields(c.Args))
	case *syntax.BinaryCmd:
		return r.binary(c)
	case *syntax.Subshell:
		return r.list(c.Stmts)
	case *syntax.Block:
		return r.list(c.Stmts)
	case *syntax.TimeClause:
		return r.stmt(c.Stmt)
	case *syntax.CoprocClause:
		return r.stmt(c.Stmt)
	case *syntax.DeclClause:
		reference := c.Variant.Value == "nameref"
		for _, a := range c.Args {
			reference = r.declare(a, reference) || reference
		}
	case *syntax.FuncDecl:
		if r.functions == nil {
			r.functions = map[string]*syntax.Stmt{}
		}
		r.functions[c.Name.Value] = c.Body
	case *syntax.TestClause, *syntax.ArithmCmd, *syntax.LetClause:
		r.inside(c)
	default:
		return r.compound(c)
	}
	return flow{}
}

func (r *reader) binary(c *syntax.BinaryCmd) flow {
	x := r.stmt(c.X)
	if c.Op != syntax.Pipe && c.Op != syntax.PipeAll {
		return x.then(r.stmt(c.Y))
	}
	in := r.stdin
	r.stdin = x
	defer func() { r.stdin = in }()
	return r.stmt(c.Y)
}

// compound reads all branches, and the body of a loop once for each item.
func (r *reader) compound(c syntax.Command) flow {
	out := flow{}
	switch c := c.(type) {
	case *syntax.IfClause:
		for ; c != nil; c = c.Else {
			out = out.then(r.list(c.Cond)).then(r.list(c.Then))
		}
	case *syntax.WhileClause:
		out = r.list(c.Cond).then(r.list(c.Do))
	case *syntax.CaseClause:
		r.word(c.Word)
		for _, item := range c.Items {
			r.fields(item.Patterns)
			out = out.then(r.list(item.Stmts))
		}
	case *syntax.ForClause:
		loop, ok := c.Loop.(*syntax.WordIter)
		if !ok {
			r.inside(c.Loop)
			return r.list(c.Do)
		}
		items := r.fields(loop.Items)
		if !loop.InPos.IsValid() {
			items = r.args
		}
		for i, item := range items {
			if i == maxItems {
				r.cut = true
			}
			r.set(loop.Name.Value, item)
			out = out.then(r.list(c.Do))
		}
	}
	return out
}

// inside reads what arithmetic and tests substitute and set.
func (r *reader) inside(node syntax.Node) {
	levels := 0
	syntax.Walk(node, func(n syntax.Node) bool {
		if n == nil {
			levels--
			return true
		}
		if levels++; levels > maxLevel {
			r.cut = true
			levels--
			return false
		}
		switch n := n.(type) {
		case *syntax.CmdSubst:
			r.list(n.Stmts)
			levels--
			return false
		case *syntax.BinaryArithm:
			if w, ok := n.X.(*syntax.Word); ok && w.Lit() == Variable && strings.HasSuffix(n.Op.String(), "=") &&
				n.Op != syntax.Eql && n.Op != syntax.Neq {
				r.find(setsVariable)
			}
		}
		return true
	})
}

// assign reads NAME=VALUE, as a command of its own or before one.
func (r *reader) assign(a *syntax.Assign) {
	value := ""
	if a.Value != nil {
		value = r.word(a.Value)
	}
	if a.Array != nil {
		var elems []string
		for _, e := range a.Array.Elems {
			if e.Value != nil {
				elems = append(elems, r.fields([]*syntax.Word{e.Value})...)
			}
		}
		value = strings.Join(elems, string(gap))
	}
	if a.Name == nil {
		return
	}
	if a.Append {
		old, _ := r.get(a.Name.Value)
		if a.Array != nil {
			old += string(gap)
		}
		value = old + value
	}
	r.set(a.Name.Value, value)
}

// declare reads one argument of export, declare, local and the like. It
// reports whether the argument makes references of those that follow.
func (r *reader) declare(a *syntax.Assign, reference bool) bool {
	switch {
	case !a.Naked:
		r.assign(a)
		if reference && a.Value != nil && r.word(a.Value) == Variable {
			r.find(setsVariable)
		}
	case a.Value != nil:
		text := r.word(a.Value)
		if strings.HasPrefix(text, "-") {
			return strings.Contains(text, "n")
		}
		for f := range strings.SplitSeq(text, string(gap)) {
			r.setting(f)
		}
	}
	return false
}
