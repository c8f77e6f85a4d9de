package document_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/expediter-go/expediter/capability/document"
)

type colour uint8

func (c *colour) UnmarshalText(text []byte) error {
	switch string(text) {
	case "red":
		*c = 1
	case "blue":
		*c = 2
	default:
		return fmt.Errorf("unknown colour %q; use red or blue", text)
	}
	return nil
}

type inner struct {
	Depth int `json:"depth"`
	Name  string
}

type everything struct {
	inner
	Text    string           `json:"text"`
	Flag    bool             `json:"flag"`
	Small   int8             `json:"small"`
	Big     uint64           `json:"big"`
	Share   float64          `json:"share"`
	Limit   int              `json:"limit,omitempty" zero:"-1"`
	Wait    time.Duration    `json:"wait"`
	Colour  colour           `json:"colour"`
	Pointer *int             `json:"pointer"`
	List    []string         `json:"list"`
	Structs []inner          `json:"structs"`
	Map     map[string]int   `json:"map"`
	Any     any              `json:"any"`
	Raw     *document.Node   `json:"raw"`
	Colours map[string]*bool `json:"colours"`
	Hidden  int              `json:"-"`
}

func decode(t *testing.T, name, in string) (everything, error) {
	t.Helper()
	n, err := document.Parse(name, []byte(in))
	if err != nil {
		t.Fatal(err)
	}
	var e everything
	err = n.Decode(&e)
	return e, err
}

func TestDecode(t *testing.T) {
	seven := 7
	yes := true
	ignoreRaw := cmp.Options{cmp.AllowUnexported(everything{}), cmpopts.IgnoreFields(everything{}, "Raw")}
	tests := []struct {
		name, file, in string
		want           everything
	}{
		{"YAML", "f.yaml", `
text: yes
flag: true
small: -0x10
big: 18_446_744_073_709_551_615
share: .5
limit: 0
wait: 1m30s
colour: blue
pointer: 7
list: [1.5, no, 2001-01-01, "null"]
structs:
  - {depth: 1, Name: a}
map: {a: 1}
any: {b: [1, 2.5, x, true, ~], c: 99999999999999999999}
raw: {anything: [goes]}
colours: {x: true, y: null}
depth: 3
`, everything{Text: "yes", Flag: true, Small: -16, Big: 18446744073709551615, Share: .5, Limit: -1,
			Wait: 90 * time.Second, Colour: 2, Pointer: &seven, List: []string{"1.5", "no", "2001-01-01", "null"},
			Structs: []inner{{Depth: 1, Name: "a"}}, Map: map[string]int{"a": 1},
			Any:     map[string]any{"b": []any{int64(1), 2.5, "x", true, nil}, "c": 1e20},
			Colours: map[string]*bool{"x": &yes, "y": nil}, inner: inner{Depth: 3}}},
		{"JSON", "f.json", `{"text":"\ud83d\ude00\t\"","flag":true,"small":-16,"limit":5,"share":5e-1,"wait":"2s",
			"list":[],"structs":null,"pointer":null,"any":null,"raw":1}`,
			everything{Text: "😀\t\"", Flag: true, Small: -16, Limit: 5, Share: .5, Wait: 2 * time.Second}},
		{"JSON without its name", "f", "{\"text\":\t\"a\"}", everything{Text: "a"}},
		{"flow YAML that is no JSON", "f", "{text: a}", everything{Text: "a"}},
		{"merge", "f", "map:\n  <<: [&b {a: 1, b: 2}, {b: 3, c: 4}]\n  a: 9\n", everything{Map: map[string]int{"a": 9, "b": 2, "c": 4}}},
		{"alias", "f", "list: &l [x]\nany: *l", everything{List: []string{"x"}, Any: []any{"x"}}},
		{"byte order mark", "f", "\ufefftext: a", everything{Text: "a"}},
		{"nothing", "f", "structs:\nmap:\nlist: ~", everything{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := decode(t, tt.file, tt.in)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got, ignoreRaw); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if strings.Contains(tt.in, "raw") != (got.Raw != nil) {
				t.Errorf("raw node: got %v", got.Raw)
			}
		})
	}
}

func TestDecodeReportsAllAtOnce(t *testing.T) {
	_, err := decode(t, "f.yaml", `text: [a]
flag: yes
small: 300
big: -1
share: "0.5"
wait: 30
colour: green
pointer: 1.5
list: a
structs:
  - {depth: "1", nme: x}
  - 3
  -
map: {a: b, a: 1}
txt: a
text: b
unlisted: 1
any: {q: 1, q: 2}
limit: ~
inner: {}
`)
	want := `f.yaml:1:7: want text, found a list; write it in quotes, or remove the key
f.yaml:2:7: want true or false, found the text "yes"; write true or false, without quotes
f.yaml:3:8: the number "300" is out of range; write one that fits int8
f.yaml:4:6: the number "-1" is out of range; write one that fits uint64
f.yaml:5:8: want a number, found the text "0.5"; write digits, without quotes
f.yaml:6:7: the length of time "30" has no unit; write a number with its unit, such as "30s", "1m30s" or "500ms"
f.yaml:7:9: unknown colour "green"; use red or blue
f.yaml:8:10: want a whole number, found the value "1.5"; write digits, without quotes
f.yaml:9:7: want a list, found the text "a"; write it as [ … ], or as lines that begin with a dash
f.yaml:11:13: want a whole number, found the text "1"; write digits, without quotes
f.yaml:11:18: unknown key "nme"; did you mean "Name"?
f.yaml:12:5: want a mapping, found the value "3"; write its keys below it, indented
f.yaml:13:4: want a mapping, found nothing; write its keys after the dash, or remove the dash
f.yaml:14:10: want a whole number, found the text "b"; write digits, without quotes
f.yaml:14:13: repeated key "a", already on line 14; keep one of the two
f.yaml:15:1: unknown key "txt"; did you mean "text"?
f.yaml:16:1: repeated key "text", already on line 1; keep one of the two
f.yaml:17:1: unknown key "unlisted"; use one of Name, any, big, colour, colours, depth, flag, limit, list, map, pointer, raw, share, small, structs, text, wait
f.yaml:18:13: repeated key "q", already on line 18; keep one of the two
f.yaml:19:8: want a whole number, found nothing; write digits, without quotes
f.yaml:20:1: unknown key "inner"; use one of Name, any, big, colour, colours, depth, flag, limit, list, map, pointer, raw, share, small, structs, text, wait`
	if err == nil {
		t.Fatal("got no error")
	}
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(err.Error(), "\n")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestDecodeBoundsWhatItSays(t *testing.T) {
	in := &strings.Builder{}
	for i := range 10_000 {
		fmt.Fprintf(in, "\"k\\e[31m%d%s\": 1\n", i, strings.Repeat("x", 500))
	}
	_, err := decode(t, "f", in.String())
	lines := strings.Split(err.Error(), "\n")
	if got, want := len(lines), document.MaxProblems+1; got != want {
		t.Errorf("got %d lines, want %d", got, want)
	}
	if got := lines[len(lines)-1]; !strings.Contains(got, "too many problems") {
		t.Errorf("got last line %q", got)
	}
	if strings.ContainsRune(err.Error(), '\x1b') || len(lines[0]) > 400 {
		t.Errorf("hostile key came through: %q", lines[0])
	}
}

func TestDecodeIntoNodeOfNothing(t *testing.T) {
	var n *document.Node
	e := everything{Text: "kept"}
	if err := n.Decode(&e); err != nil || e.Text != "kept" {
		t.Errorf("got %v and %q", err, e.Text)
	}
	if n.Key("a").Key("b").Text() != "" || n.Items() != nil || n.Keys() != nil || n.File() != "" {
		t.Error("a nil node holds something")
	}
}

func TestNodePlaces(t *testing.T) {
	for name, in := range map[string]string{"f.yaml": "é: [ü,  {b: c}]\n", "f.json": "{\"é\":[\"ü\",{\"b\": \"c\"}]}"} {
		n, err := document.Parse(name, []byte(in))
		if err != nil {
			t.Fatal(err)
		}
		c := n.Key("é").Items()[1].Key("b")
		want := map[string]string{"f.yaml": `f.yaml:1:13: x; y`, "f.json": `f.json:1:17: x; y`}[name]
		if got := c.Problem("x", "y").String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if got, want := c.Warning("x", "").String(), strings.Replace(strings.TrimSuffix(want, "; y"), " x", " warning: x", 1); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestLargeMappingIsIndexed(t *testing.T) {
	in := &strings.Builder{}
	for i := range 100 {
		fmt.Fprintf(in, "k%d: %d\n", i, i)
	}
	in.WriteString("k7: again\n")
	n, err := document.Parse("f", []byte(in.String()))
	if err != nil {
		t.Fatal(err)
	}
	if got := n.Key("k7").Text(); got != "7" {
		t.Errorf("got %q, want the first of a repeated key", got)
	}
	if n.Key("k100") != nil || len(n.Keys()) != 101 {
		t.Errorf("got %d keys, want 101", len(n.Keys()))
	}
}

func TestNearest(t *testing.T) {
	known := []string{"tool", "provides", "fallback", "alternatives"}
	for word, want := range map[string]string{"tol": "tool", "fallbak": "fallback", "xyz": "", "Tool": "tool", "alternative": "alternatives", "": "", strings.Repeat("t", 9999): ""} {
		if got := document.Nearest(word, known); got != want {
			t.Errorf("Nearest(%.20q): got %q, want %q", word, got, want)
		}
	}
}
