package operator

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// run reads one command as words, and is what it prints.
func (r *reader) run(words []string) flow {
	for len(words) > 0 && words[0] == "" {
		words = words[1:]
	}
	if len(words) == 0 || r.stop() {
		return flow{}
	}
	head, args := words[0], words[1:]
	if r.environment(words) {
		return flow{}
	}
	if body := r.functions[head]; body != nil {
		return r.function(body, args)
	}
	if text, ok := r.aliases[head]; ok {
		return r.alias(head, text, args)
	}
	if script, ok := r.files[clean(head)]; ok {
		return r.text(script)
	}
	if r.expediter(head, args) {
		return opaque(r, words)
	}
	name := base(head)
	if w, ok := wrappers[name]; ok {
		return r.wrapped(name, w, args)
	}
	return r.named(name, words)
}

// named reads a command by its name.
func (r *reader) named(name string, words []string) flow {
	args := words[1:]
	switch {
	case listed(quiet, name):
		return r.quiet(name, words)
	case listed(builtins, name):
		return r.builtin(name, words)
	case listed(shells, name):
		return r.shell(args)
	case listed(windowsShells, name):
		return r.windowsShell(args)
	case listed(languages, strings.TrimRight(name, "0123456789.")):
		return r.language(words)
	case listed(spools, name):
		return r.spool(name, args)
	case name == "go":
		return r.golang(args)
	case name == "git":
		return r.git(args)
	case name == "find":
		return r.findExec(args)
	case name == "xargs":
		return r.xargs(args)
	case name == "parallel":
		return r.parallel(args)
	}
	r.settings(name, args)
	if listed(builders, name) {
		return opaque(r, words)
	}
	if listed(typists, name) || strings.ContainsRune(words[0], unknown) {
		r.texts(args)
	}
	return r.scan(words)
}

// scan reads a command that is not known: it may run what its arguments say.
// What only prints or searches runs nothing, whoever starts it.
func (r *reader) scan(words []string) flow {
	for i, a := range words {
		if i == 0 || a == "" || strings.HasPrefix(a, "-") {
			continue
		}
		name := base(a)
		switch {
		case listed(quiet, name), listed(builders, name), name == "git":
			return opaque(r, words)
		case listed(shells, name), listed(windowsShells, name), listed(languages, strings.TrimRight(name, "0123456789.")), name == "eval":
			return r.run(words[i:])
		case r.certainty(a) > no && !isName(words, i):
			r.subcommand(words[i+1:], false)
		}
	}
	return opaque(r, words)
}

// isName reports whether a word is a folder or a session that a flag names.
func isName(words []string, i int) bool {
	flag := words[i-1]
	return listed("--prefix -C --cwd --directory --dir --chdir --project --workspace --filter --name", flag) ||
		listed("-t -s -n -c -S", flag) && listed("tmux screen", base(words[0]))
}

// texts reads the arguments that are texts: a terminal is made to type them.
func (r *reader) texts(args []string) {
	for _, a := range args {
		a = strings.NewReplacer("^M", "\n", `\n`, "\n", `\r`, "\n", "\r", "\n").Replace(a)
		if strings.ContainsAny(strings.TrimSpace(a), " \t\n") {
			r.text(a)
		}
	}
}

// opaque is the output of a command that cannot be told: it may be its input,
// and what its arguments mention.
func opaque(r *reader, words []string) flow {
	text := string(unknown)
	if slices.ContainsFunc(words, names) {
		text = string(tainted)
		if what, ok := strings.CutPrefix(search(strings.Join(words, " ")), "it runs "); ok {
			text += "\n" + what
		}
	}
	return flow{text: bounded(text + "\n" + r.stdin.text)}
}

func (r *reader) function(body *syntax.Stmt, args []string) flow {
	if !r.enter() {
		return flow{}
	}
	defer r.leave()
	defer r.with(args)()
	return r.stmt(body)
}

// with sets the positional parameters, and returns what sets them back.
func (r *reader) with(args []string) func() {
	old := r.args
	r.args = append([]string{}, args...)
	return func() { r.args = old }
}

func (r *reader) alias(name, text string, args []string) flow {
	if !r.enter() {
		return flow{}
	}
	defer r.leave()
	delete(r.aliases, name)
	defer func() { r.aliases[name] = text }()
	return r.text(text + " " + quoted(args))
}

// quoted makes words of a text again.
func quoted(words []string) string {
	var b strings.Builder
	for _, w := range words {
		b.WriteString("'" + strings.ReplaceAll(w, "'", `'\''`) + "' ")
	}
	return b.String()
}

// wrapped reads the command inside sudo, env, timeout and the like.
func (r *reader) wrapped(name string, w wrapper, args []string) flow {
	if name == "command" && len(args) > 0 && (args[0] == "-v" || args[0] == "-V") {
		return last(args)
	}
	inner, before := w.inner(args)
	for i, a := range before {
		r.setting(a)
		if text, ok := strings.CutPrefix(a, "--split-string="); ok && name == "env" {
			return r.text(text + " " + quoted(inner))
		}
		if name == "env" && strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--") && strings.Contains(a, "S") {
			_, text, _ := strings.Cut(a, "S")
			return r.text(text + " " + strings.Join(append(slices.Clone(before[i+1:]), inner...), " "))
		}
	}
	switch {
	case len(inner) == 0 && w.shell:
		return r.sink()
	case len(inner) == 0:
		return flow{}
	case name == "ssh":
		return r.text(strings.Join(inner, " "))
	}
	return r.run(inner)
}

// environment knows how PowerShell sets a variable: $env:NAME = VALUE.
func (r *reader) environment(words []string) bool {
	head := strings.ToUpper(words[0])
	if i := strings.Index(head, ":"+Variable); i >= 0 {
		rest := strings.TrimLeft(head[i+1+len(Variable):], "}")
		if strings.HasPrefix(rest, "=") || len(words) > 1 && strings.HasPrefix(words[1], "=") {
			r.find(setsVariable)
		}
		return true
	}
	return false
}

// setting reads NAME=VALUE among the arguments of a command.
func (r *reader) setting(arg string) {
	name, value, ok := strings.Cut(arg, "=")
	if !ok || value == "" {
		return
	}
	if i := strings.LastIndexAny(name, "-/:"); i >= 0 { // --env=NAME, -eNAME
		name = name[i+1:]
	}
	if name == Variable || strings.HasPrefix(value, Variable+"=") ||
		strings.HasPrefix(arg, "-") && strings.HasSuffix(name, Variable) && len(name) == len(Variable)+1 {
		r.find(setsVariable)
		return
	}
	if strings.IndexFunc(name, notInName) < 0 && name != "" {
		r.set(name, value)
	}
}

func notInName(c rune) bool {
	return c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z')
}

// settings reads the variables that a command is told to set.
func (r *reader) settings(name string, args []string) {
	sets := listed(setters, name)
	for i, a := range args {
		if strings.Contains(a, Variable+"=") && !strings.ContainsAny(a, " \t\n") {
			r.setting(a)
		}
		plain := strings.TrimPrefix(strings.ToLower(a), "env:")
		if sets && strings.EqualFold(strings.Trim(plain, `\/`), Variable) && i+1 < len(args) && args[i+1] != "" {
			r.find(setsVariable)
		}
	}
}

// last prints its last argument: which, realpath.
func last(args []string) flow {
	if len(args) == 0 {
		return flow{}
	}
	return flow{args[len(args)-1] + "\n", true}
}
