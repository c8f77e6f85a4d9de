package policy

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	longestFunc = 80
	longestFile = 600
)

// file is one parsed Go file.
type file struct {
	path string // from the root of the module, with slashes
	set  *token.FileSet
	ast  *ast.File
}

// parse reads a file, or src if it is not nil.
func parse(path string, src any) (*file, error) {
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, path, src, parser.ParseComments|parser.SkipObjectResolution)
	return &file{path: path, set: set, ast: tree}, err
}

func (f *file) test() bool { return strings.HasSuffix(f.path, "_test.go") }

// at is the place of a node.
func (f *file) at(n ast.Node) string {
	return fmt.Sprintf("%s:%d", f.path, f.set.Position(n.Pos()).Line)
}

// lines counts the lines from one node's start to its end.
func (f *file) lines(n ast.Node) int {
	return f.set.Position(n.End()).Line - f.set.Position(n.Pos()).Line + 1
}

func TestFiles(t *testing.T) {
	for _, files := range packages(t) {
		for _, f := range files {
			for _, fault := range f.faults() {
				t.Error(fault)
			}
		}
	}
}

// faults is everything that a reader of the one file can find.
func (f *file) faults() []string {
	found := append(f.long(), f.todos()...)
	if !f.test() {
		found = append(found, f.undocumented()...)
	}
	return found
}

// long finds functions and files over their limit that give no reason.
func (f *file) long() []string {
	var found []string
	if n := f.set.File(f.ast.FileStart).LineCount(); n > longestFile && !f.reason(f.ast.FileStart, f.ast.FileEnd) {
		found = append(found, fmt.Sprintf("%s: %d lines; split it at %d, or say why with '// long: reason'", f.path, n, longestFile))
	}
	for _, d := range f.ast.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || f.lines(fn) <= longestFunc {
			continue
		}
		from := fn.Pos()
		if fn.Doc != nil {
			from = fn.Doc.Pos()
		}
		if !f.reason(from, fn.End()) {
			found = append(found, fmt.Sprintf("%s: %s has %d lines; split it at %d, or say why with '// long: reason'",
				f.at(fn), fn.Name.Name, f.lines(fn), longestFunc))
		}
	}
	return found
}

// reason reports whether a '// long: reason' stands between two places.
func (f *file) reason(from, to token.Pos) bool {
	for _, group := range f.ast.Comments {
		for _, c := range group.List {
			why, ok := strings.CutPrefix(c.Text, "// long:")
			if ok && c.Pos() >= from && c.Pos() < to && strings.TrimSpace(why) != "" {
				return true
			}
		}
	}
	return false
}

var (
	todo      = regexp.MustCompile(`(?m)^\W*(TODO|FIXME|XXX)\b`)
	todoIssue = regexp.MustCompile(`(?m)^\W*(TODO|FIXME|XXX)\(#\d+\)`)
)

// todos finds those that name no issue.
func (f *file) todos() []string {
	var found []string
	for _, group := range f.ast.Comments {
		for _, c := range group.List {
			if todo.MatchString(c.Text) && !todoIssue.MatchString(c.Text) {
				found = append(found, f.at(c)+": a TODO without an issue; write TODO(#12), or do it now")
			}
		}
	}
	return found
}

// undocumented finds exported names without a comment.
func (f *file) undocumented() []string {
	var found []string
	missing := func(name *ast.Ident) {
		if name.IsExported() {
			found = append(found, fmt.Sprintf("%s: %s is exported and has no comment; say what its signature cannot", f.at(name), name.Name))
		}
	}
	for _, d := range f.ast.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Doc == nil && reachable(d) {
				missing(d.Name)
			}
		case *ast.GenDecl:
			for _, name := range bare(d) {
				missing(name)
			}
		}
	}
	return found
}

// reachable reports whether a function is one, or a method of an exported type.
func reachable(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	of := d.Recv.List[0].Type
	for {
		switch x := of.(type) {
		case *ast.StarExpr:
			of = x.X
		case *ast.IndexExpr:
			of = x.X
		case *ast.IndexListExpr:
			of = x.X
		case *ast.Ident:
			return x.IsExported()
		default:
			return true
		}
	}
}

// bare lists the names of a declaration that no comment covers. The comment of
// a group covers its members, and that of a type the constants of the type.
func bare(d *ast.GenDecl) []*ast.Ident {
	if d.Doc != nil {
		return nil
	}
	var names []*ast.Ident
	enum := false
	for i, spec := range d.Specs {
		switch s := spec.(type) {
		case *ast.TypeSpec:
			if s.Doc == nil {
				names = append(names, s.Name)
			}
		case *ast.ValueSpec:
			if i == 0 && d.Tok == token.CONST && d.Lparen.IsValid() {
				_, enum = s.Type.(*ast.Ident)
			}
			if s.Doc == nil && s.Comment == nil && !enum {
				names = append(names, s.Names...)
			}
		}
	}
	return names
}

func TestOnePackageComment(t *testing.T) {
	for dir, files := range packages(t) {
		var docs []string
		for _, f := range files {
			if f.ast.Doc == nil || f.test() && dir != "." {
				continue
			}
			docs = append(docs, f.path)
			name := f.ast.Name.Name
			if text := f.ast.Doc.Text(); !strings.HasPrefix(text, "Package "+name+" ") && name != "main" {
				t.Errorf("%s: the package comment begins %.40q, want %q", f.path, text, "Package "+name+" …")
			}
		}
		if len(docs) != 1 {
			t.Errorf("%s: package comments in %q, want exactly one (in doc.go, or in the main file of a small package)", dir, docs)
		}
	}
}

func TestFaultsAreFound(t *testing.T) {
	long := strings.Repeat("\tx++\n", longestFunc)
	tests := []struct {
		name, src string
		want      []string
	}{
		{"clean", "// F does.\nfunc F() {}", nil},
		{"long function", "func f(x int) {\n" + long + "}", []string{
			"f.go:3: f has 82 lines; split it at 80, or say why with '// long: reason'"}},
		{"long function with its reason", "// long: a table reads best in one piece\nfunc f(x int) {\n" + long + "}", nil},
		{"long function with an empty reason", "// long:\nfunc f(x int) {\n" + long + "}", []string{
			"f.go:4: f has 82 lines; split it at 80, or say why with '// long: reason'"}},
		{"long file", strings.Repeat("\n", longestFile), []string{
			"f.go: 603 lines; split it at 600, or say why with '// long: reason'"}},
		{"bare TODO", "// TODO: later", []string{"f.go:3: a TODO without an issue; write TODO(#12), or do it now"}},
		{"TODO of an issue", "// TODO(#7): later", nil},
		{"the word in a sentence", "// finds TODO comments", nil},
		{"function", "func F() {}", []string{"f.go:3: F is exported and has no comment; say what its signature cannot"}},
		{"method", "func (*T) M() {}", []string{"f.go:3: M is exported and has no comment; say what its signature cannot"}},
		{"method of an unexported type", "func (*t) M() {}", nil},
		{"type", "type T int", []string{"f.go:3: T is exported and has no comment; say what its signature cannot"}},
		{"variable", "var V int", []string{"f.go:3: V is exported and has no comment; say what its signature cannot"}},
		{"variable with a remark", "var V int // of something", nil},
		{"constants of a type", "const (\n\tA T = iota\n\tB\n)", nil},
		{"constants of no type", "const (\n\tA = iota // first\n\tB\n)", []string{
			"f.go:5: B is exported and has no comment; say what its signature cannot"}},
		{"group with a comment", "// These are errors.\nvar (\n\tA = 1\n\tB = 2\n)", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := parse("f.go", "package f\n\n"+tt.src+"\n")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, f.faults()); diff != "" {
				t.Errorf("faults (-want +got):\n%s", diff)
			}
		})
	}
}
