package operator

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Marks inside the text of a word.
const (
	unknown = '\x1c' // what only the shell knows
	tainted = '\x1d' // the same, and it may name expediter
	gap     = '\x1e' // here the shell splits the word
)

const setsVariable = "it sets " + Variable

func bounded(text string) string {
	if len(text) > maxValue {
		return text[:maxValue]
	}
	return text
}

// fields are the words that the shell makes of some.
func (r *reader) fields(words []*syntax.Word) []string {
	var out []string
	for _, w := range words {
		text := r.word(w)
		if lit := w.Lit(); strings.Contains(lit, "{") && strings.Contains(lit, ",") {
			out = append(out, braces(text)...)
			continue
		}
		if !strings.ContainsRune(text, gap) {
			out = append(out, text)
			continue
		}
		for f := range strings.SplitSeq(text, string(gap)) {
			if f != "" {
				out = append(out, f)
			}
		}
	}
	return out
}

// braces expands the first x{a,b}y of a word.
func braces(word string) []string {
	from := strings.IndexByte(word, '{')
	to := strings.IndexByte(word, '}')
	if from < 0 || to < from || !strings.Contains(word[from:to], ",") {
		return []string{word}
	}
	var out []string
	for alternative := range strings.SplitSeq(word[from+1:to], ",") {
		if len(out) < maxItems {
			out = append(out, word[:from]+alternative+word[to+1:])
		}
	}
	return out
}

// word is the text of a word. It reads the commands inside.
func (r *reader) word(w *syntax.Word) string {
	if w == nil {
		return ""
	}
	if len(w.Parts) == 1 {
		if lit, ok := w.Parts[0].(*syntax.Lit); ok {
			return unescape(lit.Value, "")
		}
	}
	var b strings.Builder
	r.parts(&b, w.Parts, false)
	if b.Len() > maxValue {
		r.cut = true
	}
	return bounded(b.String())
}

// document is the body of a here-document, whose delimiter may be quoted.
func (r *reader) document(body, delimiter *syntax.Word) string {
	var b strings.Builder
	quoted := delimiter != nil && delimiter.Lit() == ""
	for _, part := range body.Parts {
		if lit, ok := part.(*syntax.Lit); ok && quoted {
			b.WriteString(lit.Value)
		} else {
			r.parts(&b, []syntax.WordPart{part}, true)
		}
	}
	return b.String()
}

func (r *reader) parts(b *strings.Builder, parts []syntax.WordPart, quoted bool) {
	for _, part := range parts {
		switch p := part.(type) {
		case *syntax.Lit:
			only := ""
			if quoted {
				only = "$`\"\\\n"
			}
			b.WriteString(unescape(p.Value, only))
		case *syntax.SglQuoted:
			if p.Dollar {
				b.WriteString(ansi(p.Value))
			} else {
				b.WriteString(p.Value)
			}
		case *syntax.DblQuoted:
			r.parts(b, p.Parts, true)
		case *syntax.ParamExp:
			b.WriteString(divided(r.param(p), quoted))
		case *syntax.CmdSubst:
			b.WriteString(divided(r.substitute(p), quoted))
		case *syntax.ProcSubst:
			b.WriteString(r.process(p))
		case *syntax.ExtGlob:
			b.WriteByte('*')
		case *syntax.ArithmExp:
			r.inside(p)
			b.WriteByte(unknown)
		default:
			b.WriteByte(unknown)
		}
	}
}

// divided marks where the shell splits a value that is not quoted.
func divided(value string, quoted bool) string {
	if quoted || !strings.ContainsAny(value, " \t\n") {
		return value
	}
	return string(gap) + strings.Join(strings.Fields(value), string(gap)) + string(gap)
}

// substitute is what $( ) gives.
func (r *reader) substitute(p *syntax.CmdSubst) string {
	out := r.list(p.Stmts)
	if out == (flow{}) {
		return string(unknown)
	}
	return strings.TrimRight(out.text, "\n")
}

// process is the name of a file that stands for <( ).
func (r *reader) process(p *syntax.ProcSubst) string {
	if p.Op == syntax.CmdOut { // tee >(sh)
		r.list(p.Stmts)
		return string(unknown)
	}
	out := r.list(p.Stmts)
	name := "/proc/pipe/" + strconv.Itoa(len(r.files))
	r.write(name, out, false)
	return name
}

// unescape takes the backslashes off a literal: before any character, or
// before one of those that only names.
func unescape(s, only string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && (only == "" || i+1 < len(s) && strings.IndexByte(only, s[i+1]) >= 0) {
			if i++; i == len(s) || s[i] == '\n' {
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// ansi is what $'...' stands for.
func ansi(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		digits, base, at := 0, 16, i+1
		switch c := s[i]; c {
		case 'n', 'r':
			b.WriteByte('\n')
		case 't':
			b.WriteByte(' ')
		case 'x':
			digits = 2
		case 'u':
			digits = 4
		case 'U':
			digits = 8
		case '0', '1', '2', '3', '4', '5', '6', '7':
			digits, base, at = 3, 8, i
		default:
			b.WriteByte(c)
		}
		for n := digits; n > 0; n-- {
			if v, err := strconv.ParseUint(s[at:min(at+n, len(s))], base, 32); err == nil {
				b.WriteRune(rune(v))
				i = min(at+n, len(s)) - 1
				break
			}
		}
	}
	return b.String()
}
