// Package pattern has the one form in which a package keeps regular
// expressions: compiled when they are first asked for. A process that lives for
// one tool call pays for those that it uses, not for hundreds that it does not.
package pattern

import (
	"regexp"
	"sync"
	"sync/atomic"
)

// Pattern is a regular expression in RE2 syntax. It is safe for concurrent use
// and must not be copied. The zero Pattern matches every text.
type Pattern struct {
	expr string
	once sync.Once
	re   *regexp.Regexp
}

// New keeps an expression and does no more, so that a package may hold many of
// them. A faulty one panics when it is first used: give a constant, which the
// policy test compiles, or try it in a test of your own.
func New(expr string) *Pattern { return &Pattern{expr: expr} }

// RE is the compiled expression. The first call compiles it; later ones cost an
// atomic load.
func (p *Pattern) RE() *regexp.Regexp {
	p.once.Do(p.compile)
	return p.re
}

func (p *Pattern) compile() {
	compiled.Add(1)
	p.re = regexp.MustCompile(p.expr)
}

var compiled atomic.Int64

// Compiled is how many patterns this process has compiled so far, for tests that
// hold a first call to few.
func Compiled() int { return int(compiled.Load()) }

// String is the expression as it was given. It compiles nothing.
func (p *Pattern) String() string { return p.expr }
