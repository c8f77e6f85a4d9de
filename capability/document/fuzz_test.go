package document_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/expediter-go/expediter/capability/document"
)

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"", "a: 1", "- a\n- b", `{"a": [1, 2.5, "\ud83d\ude00", null, true]}`, "a: &x [1]\nb: *x", "a: &x\n  <<: *x",
		"? [a]\n: b", "a: !!binary x", "a: |\n  text\n", "---\na: 1\n...\n---\n", "\xff", "a: \x00", "{a: b", "[[[[", "a: \"\\e\"",
		"text: yes\nlimit: 0\nwait: 30s\nstructs: [{depth: 1}]\nmap: {a: 1}\n", "%YAML 1.1\n---\na", "a: 0o17\nb: 0x1_f\nc: .inf\nd: 010",
		"\"a\": 1\n'b': 2\n", "a:\n - b\n -c", "#\n\n", "\ufeff{}", `{"a":1,"a":2}`, "text: ~\nwait: 1\n",
	} {
		f.Add(false, []byte(seed))
		f.Add(true, []byte(seed))
	}
	f.Fuzz(func(t *testing.T, json bool, data []byte) {
		name := "f"
		if json {
			name = "f.json"
		}
		n, err := document.Parse(name, data)
		if (n == nil) == (err == nil) {
			t.Fatalf("got node %v and error %v", n, err)
		}
		if err == nil {
			var e everything
			var a any
			err = n.Decode(&e)
			if n.Decode(&a); n.Kind != document.Null && a == nil && err == nil {
				t.Errorf("got nothing from %q", data)
			}
		}
		if err == nil {
			return
		}
		for line := range strings.SplitSeq(err.Error(), "\n") {
			if !strings.HasPrefix(line, name+":") || !utf8.ValidString(line) || strings.ContainsFunc(line, func(r rune) bool { return r < ' ' }) {
				t.Errorf("bad message %q", line)
			}
		}
	})
}
