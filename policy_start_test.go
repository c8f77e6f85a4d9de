package policy

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"testing"
)

// A hook is a process for each tool call: what a package makes ready at the
// start is paid for every time, wanted or not.

// slow are the functions that no package calls while it starts, by package.
var slow = map[string][]string{
	"regexp":        {"Compile", "CompilePOSIX", "MustCompile", "MustCompilePOSIX"},
	"html/template": {"Must", "New"},
	"text/template": {"Must", "New"},
}

func TestNothingSlowAtTheStart(t *testing.T) {
	for _, files := range packages(t) {
		for _, f := range files {
			if f.test() {
				continue
			}
			for _, call := range f.slowStart() {
				t.Errorf("%s: %s at the start of every process; use internal/pattern for an expression, sync.OnceValue for the rest",
					f.at(call), call.Sel.Name)
			}
		}
	}
}

// TestPatterns compiles what would otherwise panic at its first use.
func TestPatterns(t *testing.T) {
	found := 0
	for _, files := range packages(t) {
		for _, f := range files {
			if f.test() {
				continue
			}
			patterns, faults := f.patterns()
			found += len(patterns)
			for _, fault := range faults {
				t.Error(fault)
			}
		}
	}
	if found == 0 {
		t.Error("no pattern is found; does internal/pattern still have New?")
	}
}

// slowStart finds the uses of slow functions that the package evaluates when it
// starts.
func (f *file) slowStart() []*ast.SelectorExpr {
	var found []*ast.SelectorExpr
	for pkg, names := range slow {
		for _, use := range f.uses(pkg, names...) {
			if slices.ContainsFunc(f.startup(), func(n ast.Node) bool { return n == use }) {
				found = append(found, use)
			}
		}
	}
	return found
}

// startup lists the nodes that are evaluated when the package starts: those of
// its variables and of its init functions, but not the bodies of functions that
// are only kept.
func (f *file) startup() []ast.Node {
	var nodes []ast.Node
	called := map[ast.Node]bool{}
	visit := func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			called[call.Fun] = true
		}
		if _, kept := n.(*ast.FuncLit); kept && !called[n] {
			return false
		}
		nodes = append(nodes, n)
		return true
	}
	for _, d := range f.ast.Decls {
		switch d := d.(type) {
		case *ast.GenDecl:
			ast.Inspect(d, visit)
		case *ast.FuncDecl:
			if d.Name.Name == "init" && d.Recv == nil {
				ast.Inspect(d.Body, visit)
			}
		}
	}
	return nodes
}

// patterns lists the expressions that the file gives to pattern.New, and what
// is wrong with them. One that is put together while the program runs is for
// the tests of its package.
func (f *file) patterns() (found, faults []string) {
	news := f.uses(module+"/internal/pattern", "New")
	start := f.startup()
	for n := range ast.Preorder(f.ast) {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) != 1 || !slices.ContainsFunc(news, func(use *ast.SelectorExpr) bool { return use == call.Fun }) {
			continue
		}
		expr, constant := text(call.Args[0])
		if !constant {
			if slices.Contains(start, ast.Node(call)) {
				faults = append(faults, f.at(call)+": a pattern that is no literal; write it out, so that this test compiles it")
			}
			continue
		}
		found = append(found, expr)
		if _, err := regexp.Compile(expr); err != nil {
			faults = append(faults, f.at(call)+": "+err.Error())
		}
	}
	return found, faults
}

// text is a string of literals.
func text(e ast.Expr) (s string, constant bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		s, err := strconv.Unquote(e.Value)
		return s, err == nil && e.Kind == token.STRING
	case *ast.ParenExpr:
		return text(e.X)
	case *ast.BinaryExpr:
		x, first := text(e.X)
		y, second := text(e.Y)
		return x + y, first && second && e.Op == token.ADD
	}
	return "", false
}

func TestSlowStartsAreFound(t *testing.T) {
	tests := []struct {
		name, src string
		want      int
	}{
		{"a variable", "var x = regexp.MustCompile(`a`)", 1},
		{"a group", "var (\n\ta = 1\n\tx = re{regexp.MustCompile(`a`), regexp.MustCompile(`b`)}\n)", 2},
		{"a function that is called", "var x = func() *regexp.Regexp { return regexp.MustCompile(`a`) }()", 1},
		{"a function that is kept", "var x = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`a`) })", 0},
		{"a function", "func f() { regexp.MustCompile(`a`) }", 0},
		{"init", "func init() { x = regexp.MustCompile(`a`) }", 1},
		{"a method called init", "func (t t) init() { x = regexp.MustCompile(`a`) }", 0},
		{"another function of the package", "var x = regexp.QuoteMeta(`a`)", 0},
		{"a template", "var x = template.Must(template.New(`a`).Parse(s))", 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := parse("f.go", "package f\n\nimport (\n\t\"html/template\"\n\t\"regexp\"\n)\n\n"+tt.src)
			if err != nil {
				t.Fatal(err)
			}
			if got := len(f.slowStart()); got != tt.want {
				t.Errorf("found %d, want %d", got, tt.want)
			}
		})
	}
}

func TestBadPatternsAreFound(t *testing.T) {
	tests := []struct {
		name, src        string
		patterns, faults int
	}{
		{"a good one", "var x = pattern.New(`a` + (`b`))", 1, 0},
		{"a bad one", "var x = pattern.New(`(`)", 1, 1},
		{"a bad one in a table", "var x = []row{{1, pattern.New(`(`)}}", 1, 1},
		{"no literal", "var x = pattern.New(y)", 0, 1},
		{"no literal, in a function", "func f() { pattern.New(y) }", 0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := parse("f.go", "package f\n\nimport \""+module+"/internal/pattern\"\n\n"+tt.src)
			if err != nil {
				t.Fatal(err)
			}
			if patterns, faults := f.patterns(); len(patterns) != tt.patterns || len(faults) != tt.faults {
				t.Errorf("found %q and %q, want %d and %d", patterns, faults, tt.patterns, tt.faults)
			}
		})
	}
}
