package mcpproxy

import (
	"fmt"
	"os"
	"strings"

	"github.com/expediter-go/expediter/capability/document"
)

// expand puts values in place of `${NAME}`, `${NAME:-default}` (Claude Code) and
// `${env:NAME}` (VS Code, Cursor, Windsurf), of `${userHome}` and of
// `${pathSeparator}`. All else, such as `$NAME`, stays as it is, and a value is
// not expanded again.
func (r *configReader) expand(n *document.Node, text string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "${")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		name, after, closed := strings.Cut(rest, "}")
		if !closed {
			r.fail(n, "a variable without its end: "+document.Quote("${"+rest), "close it with }")
			return b.String()
		}
		b.WriteString(r.variable(n, name))
		text = after
	}
}

func (r *configReader) variable(n *document.Node, text string) string {
	name, otherwise, defaulted := strings.Cut(text, ":-")
	name = strings.TrimPrefix(name, "env:")
	switch {
	case name == "userHome":
		if home := r.env("HOME"); home != "" {
			return home
		}
		name = "USERPROFILE"
	case name == "pathSeparator" || name == "/":
		return string(os.PathSeparator)
	case strings.HasPrefix(name, "input:"):
		r.fail(n, "the proxy cannot ask for "+document.Quote("${"+text+"}"), "set an environment variable, and write ${NAME}")
		return ""
	case strings.HasPrefix(name, "workspaceFolder"):
		r.fail(n, "the proxy knows no workspace for "+document.Quote("${"+text+"}"), "write the folder")
		return ""
	case !isVariable(name):
		r.fail(n, "no name of a variable: "+document.Quote("${"+text+"}"), "write ${NAME}, or ${NAME:-default}")
		return ""
	}
	if v := r.env(name); v != "" {
		return v
	}
	if !defaulted {
		r.fail(n, fmt.Sprintf("the variable %s is not set", name), fmt.Sprintf("set it where the proxy is started, or write ${%s:-default}", name))
	}
	return otherwise
}

func isVariable(name string) bool {
	for i, c := range name {
		if c != '_' && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != "" && len(name) <= 256
}
