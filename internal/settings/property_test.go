package settings

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tailscale/hujson"
	"pgregory.net/rapid"
)

// tester is what *testing.T and *rapid.T have in common.
type tester interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

// checkInsertion holds what must hold for every file without entries of ours:
// insertions leave every other byte alone, come once, mean nothing but our
// entries, and are taken out again to the last byte.
func checkInsertion(t tester, a *agent, c command, before string) string {
	t.Helper()
	after, err := insert("f.json", []byte(before), a, c)
	if err != nil {
		t.Fatalf("insert into %q: %v", before, err)
	}
	if !subsequence(before, string(after)) {
		t.Fatalf("bytes are lost:\nbefore %q\nafter  %q", before, after)
	}
	again, err := insert("f.json", after, a, c)
	if err != nil || !bytes.Equal(again, after) {
		t.Fatalf("the second insertion changes something (%v):\nfirst  %q\nsecond %q", err, after, again)
	}
	if diff := cmp.Diff(meaning(t, a, before, before), meaning(t, a, before, string(after))); diff != "" {
		t.Fatalf("the rest means something else in %q (-before +after):\n%s", after, diff)
	}
	if got := stripped(t, a, before, string(after)); got != before {
		t.Fatalf("not restored:\nbefore %q\ngot    %q\nafter  %q", before, got, after)
	}
	return string(after)
}

// stripped takes our entries out of text, which was original once.
func stripped(t tester, a *agent, original, text string) string {
	t.Helper()
	was, err := parse("f.json", []byte(original))
	if err != nil {
		t.Fatal(err)
	}
	d, err := parse("f.json", []byte(text))
	if err != nil {
		t.Fatalf("%v in %q", err, text)
	}
	body, _, _ := strip(d, a, origin{known: true, root: was.root}, all)
	return string(body)
}

func subsequence(short, long string) bool {
	for i := 0; i < len(long) && short != ""; i++ {
		if long[i] == short[0] {
			short = short[1:]
		}
	}
	return short == ""
}

// meaning is a file as encoding/json reads it, without our entries, and without
// the containers that the original does not have and that are empty then.
func meaning(t tester, a *agent, original, text string) any {
	t.Helper()
	var was, v map[string]any
	for into, from := range map[*map[string]any]string{&was: original, &v: text} {
		standard, err := hujson.Standardize([]byte(from + "\n"))
		if err != nil {
			t.Fatalf("%v in %q", err, from)
		}
		if err := json.Unmarshal(standard, into); err != nil {
			t.Fatalf("%v in %q", err, from)
		}
	}
	if _, ok := was["version"]; !ok && a.version {
		delete(v, "version")
	}
	wasHooks, hadHooks := was["hooks"].(map[string]any)
	hooks, _ := v["hooks"].(map[string]any)
	for event, list := range hooks {
		kept := []any{}
		for _, e := range list.([]any) {
			if !strings.Contains(fmt.Sprint(e), "expediter hook "+a.name) {
				kept = append(kept, e)
			}
		}
		hooks[event] = kept
		if _, had := wasHooks[event]; !had && len(kept) == 0 {
			delete(hooks, event)
		}
	}
	if !hadHooks && len(hooks) == 0 {
		delete(v, "hooks")
	}
	return v
}

// settingsText draws settings as people lay them out, and as nobody would.
type settingsText struct {
	t     *rapid.T
	agent *agent
	extra *rapid.Generator[string]
	depth int
}

func (g *settingsText) gap() string { return g.extra.Draw(g.t, "gap") }

func (g *settingsText) list(open, end string, n int, kid func(i int) string) string {
	var b strings.Builder
	b.WriteString(open)
	for i := range n {
		b.WriteString(g.gap() + kid(i) + g.gap())
		if i < n-1 || rapid.Bool().Draw(g.t, "trailing comma") {
			b.WriteString(",")
		}
	}
	return b.String() + g.gap() + end
}

func (g *settingsText) object(n int, member func(i int) (key, value string)) string {
	return g.list("{", "}", n, func(i int) string {
		key, value := member(i)
		return key + g.gap() + ":" + g.gap() + value
	})
}

func (g *settingsText) value() string {
	g.depth++
	defer func() { g.depth-- }()
	kind := rapid.IntRange(0, 7).Draw(g.t, "kind")
	if g.depth > 3 {
		kind %= 5
	}
	n := rapid.IntRange(0, 3).Draw(g.t, "n")
	switch kind {
	case 0:
		return "null"
	case 1:
		return "-1.5e3"
	case 2:
		return `"// no \"comment\" {[é\u00e9"`
	case 3:
		return `"command"`
	case 4:
		return "true"
	case 5:
		return g.list("[", "]", n, func(int) string { return g.value() })
	}
	return g.object(n, func(int) (string, string) {
		return rapid.SampledFrom([]string{`"a"`, `"hooks"`, `""`, `"command"`, `"matcher"`}).Draw(g.t, "key"), g.value()
	})
}

// hooks are those of others, in lists of events that may be ours.
func (g *settingsText) hooks() string {
	return g.object(rapid.IntRange(0, 3).Draw(g.t, "events"), func(int) (string, string) {
		event := rapid.SampledFrom(g.agent.events).Draw(g.t, "event").name
		return `"` + event + `"`, g.list("[", "]", rapid.IntRange(0, 2).Draw(g.t, "groups"), func(int) string {
			if rapid.Bool().Draw(g.t, "any") {
				return g.value()
			}
			return g.object(2, func(i int) (string, string) {
				return []string{`"matcher"`, `"hooks"`}[i], []string{`"Bash"`, `[{"type": "command", "command": "lint"}]`}[i]
			})
		})
	})
}

func (g *settingsText) file() string {
	keys := rapid.SliceOfN(rapid.SampledFrom([]string{`"a"`, `"hooks"`, `"h\u006foks"`, `"version"`, `"permissions"`}), 0, 4).Draw(g.t, "keys")
	return g.gap() + g.object(len(keys), func(i int) (string, string) {
		if strings.HasSuffix(keys[i], `ks"`) {
			return keys[i], g.hooks()
		}
		return keys[i], g.value()
	}) + g.gap() + rapid.SampledFrom([]string{"", "\n", "\r\n", "// end"}).Draw(g.t, "end")
}

// drawSettings draws a file for one of the agents that have settings.
func drawSettings(t *rapid.T) (*agent, string) {
	a := rapid.SampledFrom(agents).Filter(func(a *agent) bool { return !a.scripts }).Draw(t, "agent")
	layouts := [][]string{
		{"", " "},
		{"", " ", "\n", "\n  ", "\n\t"},
		{"\r\n", "\r\n    ", " // x\r\n", "/* y */"},
		{"", " ", "\t", "\n", "\n    ", " // x\n", "/* y */", " /* y\n */ ", "\n  // z  \n  "},
	}
	gaps := rapid.SampledFrom(layouts).Draw(t, "layout")
	g := &settingsText{t: t, agent: a, extra: rapid.SampledFrom(gaps)}
	return a, g.file()
}

func commandFor(a *agent) command {
	return command{words: []string{"expediter", "hook", a.name}}
}

func TestInsertionOnAnySettings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, before := drawSettings(t)
		checkInsertion(t, a, commandFor(a), before)
	})
}

// What others write into the file meanwhile stays, and nothing else.
func TestStripAfterEditsByOthers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, before := drawSettings(t)
		after := checkInsertion(t, a, commandFor(a), before)
		d, err := parse("f.json", []byte(before))
		if err != nil {
			t.Fatal(err)
		}
		var gaps []int // before a value, which is in no empty container
		d.root.Range(func(v *hujson.Value) bool {
			gaps = append(gaps, v.StartOffset)
			return true
		})
		at := rapid.SampledFrom(gaps).Draw(t, "gap")
		edits, err := completion(d, a, commandFor(a))
		if err != nil {
			t.Fatal(err)
		}
		moved := at
		for _, e := range edits {
			if e.start < at {
				moved += len(e.text)
			}
		}
		const note = "/* others */"
		want := before[:at] + note + before[at:]
		edited := after[:moved] + note + after[moved:]
		if got := stripped(t, a, before, edited); got != want {
			t.Fatalf("got  %q\nwant %q\nof   %q", got, want, edited)
		}
	})
}

func FuzzInsert(f *testing.F) {
	for _, seed := range []string{
		"{}", "{\"a\":1}\n", "{\n\t\"hooks\": {\n\t\t\"PreToolUse\": [{\n\t\t\t\"matcher\": \"Bash\",\n\t\t\t\"hooks\": []\n\t\t}],\n\t},\n}",
		"{// x\n\"hooks\":{},/* y */\"hooks\":{\"Stop\":[1,],},} // z", "{\r\n  \"hooks\": {}\r\n}\r\n",
		`{"version":1,"hooks":{"preToolUse":[{"command":"expediter hook cursor"}],"stop":[]}}`,
		`{"hooks":{"Stop":[{"hooks":[{"command":"expediter","args":["hook","claude-code"]},{}]}]}}`,
		`{"hooks":[]}`, "[", "\xef\xbb\xbf{}", `{"\ud800":"\xff"}`, "{\"a\" /* b */ : 1 /* c */ , /* d */ }",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, a := range agents {
			if a.scripts {
				continue
			}
			d, err := parse("f.json", []byte(text))
			if err != nil {
				return
			}
			without, found, _ := strip(d, a, origin{}, all)
			if found > 0 {
				text = string(without) // see checkInsertion
			}
			if _, err := insert("f.json", []byte(text), a, commandFor(a)); err != nil {
				continue
			}
			if valid(text) {
				checkInsertion(t, a, commandFor(a), text)
			}
		}
	})
}

// valid reports whether encoding/json reads the text as it is: the meaning of
// others, such as lists of events that are none, cannot be compared.
func valid(text string) bool {
	standard, err := hujson.Standardize([]byte(text + "\n"))
	if err != nil {
		return false
	}
	var v struct{ Hooks map[string][]any }
	return json.Unmarshal(standard, &v) == nil && !bytes.ContainsRune(standard, '�')
}
