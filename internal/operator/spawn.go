package operator

import "strings"

// git runs commands in few of its subcommands, and in aliases.
func (r *reader) git(args []string) flow {
	for _, a := range args {
		if _, command, ok := strings.Cut(a, "!"); ok && (strings.HasPrefix(a, "alias.") || strings.HasPrefix(a, "!")) {
			r.text(command)
		}
	}
	if rest := plain(args); len(rest) > 0 && listed("bisect rebase submodule filter-branch difftool", rest[0]) {
		r.texts(args)
		return r.scan(append([]string{"git"}, args[1:]...))
	}
	return opaque(r, append([]string{"git"}, args...))
}

// findExec reads the commands that find runs.
func (r *reader) findExec(args []string) flow {
	for i, a := range args {
		if !listed("-exec -execdir -ok -okdir", a) {
			continue
		}
		var inner []string
		for _, w := range args[i+1:] {
			if w == ";" || w == "+" {
				break
			}
			inner = append(inner, strings.ReplaceAll(w, "{}", string(unknown)))
		}
		r.run(inner)
	}
	return opaque(r, args)
}

// xargs runs a command with arguments from its input.
func (r *reader) xargs(args []string) flow {
	w := wrapper{values: "-n -I -P -L -d -a -s -E --max-args --max-procs --delimiter --arg-file --replace"}
	inner, flags := w.inner(args)
	mark := ""
	for i, f := range flags {
		if f == "-I" && i+1 < len(flags) {
			mark = flags[i+1]
		} else if rest, ok := strings.CutPrefix(f, "-I"); ok && rest != "" {
			mark = rest
		} else if f == "-i" || f == "--replace" {
			mark = "{}"
		}
	}
	if len(inner) == 0 {
		inner = []string{"echo"}
	}
	return r.each(inner, mark, r.items())
}

// items are the words of the input, if they can be told.
func (r *reader) items() []string {
	if !r.stdin.exact {
		return []string{string(unknown)}
	}
	items := strings.Fields(r.stdin.text)
	if len(items) > maxItems {
		items, r.cut = items[:maxItems], true
	}
	return append(items, strings.TrimSpace(r.stdin.text))
}

// each runs a command for each item, and once for all of them.
func (r *reader) each(inner []string, mark string, items []string) flow {
	in := r.stdin
	r.stdin = flow{}
	defer func() { r.stdin = in }()
	out := flow{}
	turn := func(items ...string) {
		if mark == "" {
			out = out.then(r.run(append(append([]string{}, inner...), items...)))
			return
		}
		words := make([]string, len(inner))
		for i, w := range inner {
			words[i] = strings.ReplaceAll(w, mark, strings.Join(items, " "))
		}
		out = out.then(r.run(words))
	}
	turn(items...)
	for _, item := range items {
		turn(item)
	}
	return out
}

// parallel runs a command, or each line of its input, for each argument.
func (r *reader) parallel(args []string) flow {
	inner, items := args, r.items()
	for i, a := range args {
		if strings.HasPrefix(a, ":::") {
			inner, items = args[:i], args[i+1:]
			break
		}
	}
	inner, _ = wrapper{values: "-j -n -N -I --jobs -a --delay --timeout --retries --joblog --results -S --colsep"}.inner(inner)
	if len(inner) == 0 {
		if len(items) > 0 && len(args) > 0 {
			r.texts(items)
		}
		return r.sink()
	}
	for _, item := range items {
		text := strings.Join(inner, " ")
		if strings.Contains(text, "{}") {
			text = strings.ReplaceAll(text, "{}", item)
		} else {
			text += " " + item
		}
		r.text(text)
	}
	return flow{}
}
