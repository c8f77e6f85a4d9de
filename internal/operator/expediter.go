package operator

import (
	"path"
	"strings"
)

// certainty is how sure it is that a word is expediter.
type certainty uint8

const (
	no     certainty = iota
	likely           // a pattern, or text from elsewhere
	sure
)

// String is the certainty's name.
func (c certainty) String() string {
	switch c {
	case no:
		return "no"
	case likely:
		return "likely"
	case sure:
		return "sure"
	}
	return "certainty(?)"
}

// certainty tells whether a command's first word runs expediter.
func (r *reader) certainty(word string) certainty {
	name := base(word)
	switch {
	case name == program, name == program+"-cli", name == program+"-hook", r.names[name]:
		return sure
	case strings.HasPrefix(name, program) && released(name):
		return likely
	case strings.ContainsRune(word, tainted):
		return sure
	case !strings.ContainsAny(name, "*?[\x1c"):
		return no
	}
	pattern := strings.ReplaceAll(name, string(unknown), "*")
	if letters := strings.Trim(strings.Map(letter, pattern), " "); len(letters) < 4 {
		return no
	}
	if ok, err := path.Match(pattern, program); ok && err == nil {
		return likely
	}
	return no
}

// released reports whether a file is named after a system, as releases are.
func released(name string) bool {
	return strings.Contains(name, "linux") || strings.Contains(name, "darwin") || strings.Contains(name, "windows")
}

// letter drops all else.
func letter(c rune) rune {
	if c < 'a' || c > 'z' {
		return -1
	}
	return c
}

// expediter reads a command whose first word may be expediter.
func (r *reader) expediter(head string, args []string) bool {
	c := r.certainty(head)
	if c > no {
		r.subcommand(args, c == sure)
	}
	return c == sure && !strings.ContainsRune(head, tainted)
}

// valued are the flags of expediter before the subcommand that take a value.
const valued = "--store --map"

// subcommand reads the arguments of expediter up to its subcommand. Of an
// unknown flag the next word may be its value, or not. In a command that is
// expediter for sure, a subcommand that only the shell knows counts.
func (r *reader) subcommand(args []string, sure bool) {
	perhaps := false // the next word may be a flag's value
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case isHelp(args, i):
			return
		case a == "" || a == "--" || a == ":::" || a == "Space" || strings.HasPrefix(a, "-") && strings.Contains(a, "="):
			continue
		case listed(valued, a):
			i++
			continue
		case strings.HasPrefix(a, "-"):
			perhaps = true
			continue
		}
		if what := human(a, sure); what != "" {
			if !helps(args[i+1:]) {
				r.find("it runs " + program + " " + what)
			}
			return
		}
		if !perhaps {
			return
		}
		perhaps = false
	}
}

// human is the human's command that a word is, or what to say of a word that
// may be any.
func human(word string, sure bool) string {
	word = strings.Trim(word, "\"'`(){};,\r\n")
	word, _, _ = strings.Cut(word, ",")
	word = strings.Trim(word, "\"'")
	if isHuman(word) {
		return word
	}
	if !sure {
		return ""
	}
	if strings.ContainsAny(word, "\x1c\x1d$") || word == "{}" {
		return "with a subcommand that only the shell knows"
	}
	if strings.ContainsAny(word, "*?[") {
		for _, command := range humanCommands {
			if ok, err := path.Match(word, command); ok && err == nil {
				return command
			}
		}
	}
	return ""
}

// isHelp knows --help, unless it is the value of the flag before it.
func isHelp(args []string, i int) bool {
	return (args[i] == "--help" || args[i] == "-h") && (i == 0 || !strings.HasPrefix(args[i-1], "-") || strings.Contains(args[i-1], "="))
}

func helps(args []string) bool {
	for i, a := range args {
		if a == "--" {
			return false
		}
		if isHelp(args, i) {
			return true
		}
	}
	return false
}

// goFlags are the flags of go run and go build that take the next word.
const goFlags = "-o -C -p -asmflags -buildmode -compiler -gccgoflags -gcflags -installsuffix -ldflags -mod -modfile -overlay -pkgdir " +
	"-tags -toolexec -exec -pgo -covermode -coverpkg"

// golang reads the go command: it runs expediter from its source, and builds
// it under another name.
func (r *reader) golang(args []string) flow {
	_, args = wrapper{values: "-C"}.cut(args)
	if len(args) == 0 {
		return flow{}
	}
	flags, rest := wrapper{values: goFlags}.cut(args[1:])
	switch {
	case len(rest) == 0:
	case args[0] == "run":
		pkg := rest[0]
		for len(rest) > 1 && strings.HasSuffix(rest[0], ".go") && strings.HasSuffix(rest[1], ".go") {
			rest = rest[1:]
		}
		if r.isPackage(pkg) {
			r.subcommand(rest[1:], true)
		} else {
			r.scan(rest)
		}
	case args[0] == "tool":
		r.run(rest)
	case args[0] == "build" && r.isPackage(rest[0]):
		for i, f := range flags {
			if f == "-o" && i+1 < len(flags) {
				r.rename(flags[i+1])
			} else if name, ok := strings.CutPrefix(f, "-o="); ok {
				r.rename(name)
			}
		}
	}
	return flow{}
}

// cut divides arguments before the first that is no flag.
func (w wrapper) cut(args []string) (flags, rest []string) {
	rest, flags = w.inner(args)
	return flags, rest
}

// isPackage knows the folder and the import path of the command's package.
func (r *reader) isPackage(pkg string) bool {
	pkg, _, _ = strings.Cut(pkg, "@")
	if strings.HasSuffix(pkg, ".go") {
		pkg = path.Dir(pkg)
	}
	name := base(path.Join(r.dir, pkg))
	return name == program || name == program+"-hook" || strings.ContainsRune(pkg, tainted)
}

func (r *reader) rename(name string) {
	if r.names == nil {
		r.names = map[string]bool{}
	}
	r.names[base(name)] = true
}
