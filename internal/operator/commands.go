package operator

import (
	"path"
	"strings"
)

// quiet reads the commands that run nothing: some print what is known.
func (r *reader) quiet(name string, words []string) flow {
	args := words[1:]
	switch name {
	case "echo", "print", "write-host", "write-output", "write", "yes":
		return echo(args)
	case "printf":
		return r.printf(args)
	case "cat", "type", "get-content", "gc", "tee":
		return r.cat(name, args)
	case "which", "realpath", "readlink", "basename", "get-command", "gcm":
		return last(args)
	case "cd", "pushd", "set-location":
		if dirs := plain(args); len(dirs) > 0 {
			r.dir = path.Join(r.dir, dirs[0])
		}
		return flow{}
	case "cp", "mv", "ln", "install":
		if files := plain(args); len(files) > 1 && r.certainty(files[0]) == sure {
			r.rename(files[len(files)-1])
		}
		return flow{}
	}
	return opaque(r, words)
}

// echo prints its arguments. Some shells replace \n without -e, too: then both
// readings count.
func echo(args []string) flow {
	escapes := false
	for len(args) > 0 && len(args[0]) > 1 && strings.Trim(args[0], "neE") == "-" {
		escapes = escapes || strings.Contains(args[0], "e")
		args = args[1:]
	}
	text := strings.Join(args, " ") + "\n"
	replaced := strings.NewReplacer(`\n`, "\n", `\t`, "\t").Replace(text)
	exact := !strings.ContainsAny(text, "\x1c\x1d")
	switch {
	case escapes || replaced == text:
		return flow{replaced, exact}
	case strings.Contains(text, "'") || strings.Contains(text, `"`): // the replacement is within a string
		return flow{text, exact}
	}
	return flow{text + replaced, false}
}

func (r *reader) printf(args []string) flow {
	if len(args) > 2 && args[0] == "-v" {
		r.set(args[1], r.printf(args[2:]).text)
		return flow{}
	}
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		return flow{}
	}
	format := strings.NewReplacer(`\n`, "\n", `\t`, "\t", "%b", "%s", "%q", "%s").Replace(ansi(args[0]))
	var b strings.Builder
	for args = args[1:]; ; {
		rest := format
		for {
			before, after, ok := strings.Cut(rest, "%s")
			b.WriteString(before)
			if rest = after; !ok {
				break
			}
			if len(args) > 0 {
				b.WriteString(args[0])
				args = args[1:]
			}
		}
		if len(args) == 0 || !strings.Contains(format, "%s") || b.Len() > maxValue {
			break
		}
	}
	return flow{bounded(b.String()), !strings.ContainsAny(b.String(), "%\x1c\x1d")}
}

// cat prints its input, and the files that the text has written.
func (r *reader) cat(name string, args []string) flow {
	files := plain(args)
	if name == "tee" {
		for _, f := range files {
			r.write(f, r.stdin, strings.HasPrefix(args[0], "-a"))
		}
		return r.stdin
	}
	if len(files) == 0 {
		return r.stdin
	}
	out := flow{}
	for _, f := range files {
		text, ok := r.files[clean(f)]
		if !ok {
			out = out.then(opaque(r, files))
			continue
		}
		out = out.then(flow{text, true})
	}
	return out
}

// builtin reads the shell's own commands that run or set what they are given.
func (r *reader) builtin(name string, words []string) flow {
	args := words[1:]
	switch name {
	case "eval", "invoke-expression", "iex":
		if len(args) == 0 {
			return r.sink()
		}
		return r.text(strings.Join(args, " "))
	case "source", ".":
		return r.shell(args)
	case "trap":
		if len(args) > 1 {
			r.text(args[0])
		}
	case "alias":
		for _, a := range args {
			if k, v, ok := strings.Cut(a, "="); ok {
				args = []string{k, v}
			}
			if len(args) > 1 { // fish: alias NAME TEXT
				r.setAlias(args[0], strings.Join(args[1:], " "))
			}
		}
	case "set":
		r.setCommand(args)
	case "read":
		for _, v := range plain(args) {
			if v == Variable {
				r.find(setsVariable)
			}
			r.set(v, strings.TrimRight(r.stdin.text, "\n"))
		}
	default:
		for _, a := range args {
			r.setting(a)
		}
	}
	return flow{}
}

func (r *reader) setAlias(alias, text string) {
	if r.aliases == nil {
		r.aliases = map[string]string{}
	}
	r.aliases[alias] = text
}

// setCommand is the shell's set, that of fish, and that of cmd.
func (r *reader) setCommand(args []string) {
	for i, a := range args {
		switch {
		case a == "--":
			r.args = append([]string{}, args[i+1:]...)
			return
		case strings.HasPrefix(a, "-"):
			if strings.Contains(a, "e") && !strings.HasPrefix(a, "--") { // set -e NAME: fish forgets it
				return
			}
			continue
		}
		if strings.Contains(a, "=") {
			r.setting(a)
		} else if i+1 < len(args) {
			r.set(a, strings.Join(args[i+1:], " "))
		}
		return
	}
}

// shell reads what a shell runs: the text after -c, a file, or its input.
func (r *reader) shell(args []string) flow {
	command := false
	for i := 0; i < len(args); i++ {
		a := args[i]
		if script, ok := r.files[clean(a)]; ok {
			r.text(script)
		}
		switch {
		case a == "-" || a == "-s" || strings.HasPrefix(a, "/dev/stdin") || strings.HasSuffix(a, "/fd/0"):
			if !command {
				return r.sink()
			}
		case strings.HasPrefix(a, "--command=") || strings.HasPrefix(a, "--init-command="):
			_, text, _ := strings.Cut(a, "=")
			r.text(text)
		case a == "--command" || a == "--commands" || a == "-C" || a == "--init-command":
			command = true
		case strings.HasPrefix(a, "--"), strings.HasPrefix(a, "+"):
		case strings.HasPrefix(a, "-"):
			command = command || strings.Contains(a, "c")
			if strings.HasSuffix(a, "o") || strings.HasSuffix(a, "O") {
				i++
			}
		case listed(shells, base(a)): // busybox sh
			return r.shell(args[i+1:])
		case command:
			rest := args[i+1:]
			if len(rest) > 0 {
				r.set("0", rest[0])
				rest = rest[1:]
			}
			defer r.with(rest)()
			return r.text(a)
		default:
			return opaque(r, args)
		}
	}
	if command {
		return flow{}
	}
	return r.sink()
}

// windowsShell reads what PowerShell and cmd run.
func (r *reader) windowsShell(args []string) flow {
	for i, a := range args {
		switch strings.ToLower(a) {
		case "-command", "-c", "/c", "/k", "-noexit":
			return r.text(strings.Join(args[i+1:], " "))
		case "-", "-file", "-f":
			return r.shell(args[i+1:])
		}
		if !strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "/") && strings.Contains(a, " ") {
			return r.text(a)
		}
	}
	if len(plain(args)) == 0 {
		return r.sink()
	}
	return r.scan(append([]string{"pwsh"}, args...))
}

// spool reads what at, crontab and su run.
func (r *reader) spool(name string, args []string) flow {
	for _, a := range args {
		if script, ok := r.files[clean(a)]; ok {
			r.cron(script)
		}
	}
	switch {
	case name == "crontab":
		r.cron(r.stdin.text)
	case name == "su" || name == "runuser":
		r.texts(args)
		r.scan(append([]string{name}, args...))
		return r.sink()
	default:
		return r.sink()
	}
	return flow{}
}

// cron reads a table of times and commands.
func (r *reader) cron(table string) {
	if what := search(table); what != "" {
		r.find(what)
	}
}
