package operator

import (
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// set gives a variable one more value.
func (r *reader) set(name, value string) {
	if name == Variable && value != "" {
		r.find(setsVariable)
	}
	if values := r.vars[name]; len(values) < maxItems {
		r.vars[name] = append(values, bounded(value))
	} else {
		r.cut = true
	}
}

// get is the value of a variable. Of several, for the branches of a text all
// count, it is the one that gives most away.
func (r *reader) get(name string) (string, bool) {
	values := r.vars[name]
	if len(values) == 0 {
		return string(unknown), false
	}
	for _, tells := range []func(string) bool{startsProgram, isHuman, names} {
		for _, v := range slices.Backward(values) {
			if tells(v) {
				return v, true
			}
		}
	}
	return values[len(values)-1], true
}

// startsProgram reports whether a value's first word is expediter.
func startsProgram(value string) bool {
	first, _, _ := strings.Cut(strings.TrimLeft(value, " \t\n\x1e"), " ")
	first, _, _ = strings.Cut(first, string(gap))
	return base(first) == program
}

// names reports whether a value names expediter, or may.
func names(value string) bool {
	return strings.ContainsRune(value, tainted) || strings.Contains(strings.ToLower(value), program)
}

// param is the value of $x.
func (r *reader) param(p *syntax.ParamExp) string {
	name := p.Param.Value
	if p.Excl {
		name, _ = r.get(name)
	}
	value, known := r.variable(name)
	switch {
	case p.Slice != nil && strings.EqualFold(name, "env"): // PowerShell
		if w, ok := p.Slice.Offset.(*syntax.Word); ok {
			return "env:" + w.Lit()
		}
	case p.Length, p.Width:
		return string(unknown)
	case p.Index != nil:
		value = element(value, p.Index)
	}
	if p.Exp != nil {
		return r.expansion(p, name, value, known)
	}
	if p.Repl != nil {
		value += r.word(p.Repl.Orig) + r.word(p.Repl.With)
	}
	if p.Slice != nil || p.Repl != nil || p.Names != 0 {
		return blurred(value)
	}
	return value
}

// variable is the value of a variable or a positional parameter.
func (r *reader) variable(name string) (string, bool) {
	if name == "@" || name == "*" {
		if r.args == nil {
			return string(unknown), false
		}
		return strings.Join(r.args, string(gap)), true
	}
	if n, err := strconv.Atoi(name); err == nil && n != 0 {
		if n < 1 || n > len(r.args) {
			return string(unknown), false
		}
		return r.args[n-1], true
	}
	return r.get(name)
}

// element is one of an array, or all of them.
func element(value string, index syntax.ArithmExpr) string {
	w, ok := index.(*syntax.Word)
	if !ok {
		return value
	}
	elems := strings.Split(value, string(gap))
	if n, err := strconv.Atoi(w.Lit()); err == nil && n >= 0 && n < len(elems) {
		return elems[n]
	}
	return value
}

// expansion is the value of ${x:-y} and its kin.
func (r *reader) expansion(p *syntax.ParamExp, name, value string, known bool) string {
	word := r.word(p.Exp.Word)
	switch p.Exp.Op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
		if strings.HasSuffix(p.Exp.Op.String(), "=") {
			r.set(name, word)
		}
		if known && value != "" && !names(word) {
			return value
		}
		return word
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
		return word
	case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		return value
	}
	return blurred(value + word)
}

// blurred is what is left of a value after it was cut or changed.
func blurred(value string) string {
	if names(value) {
		return string(tainted)
	}
	return string(unknown)
}
