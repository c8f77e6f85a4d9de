package mcpproxy

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// pair is one way through the proxy.
type pair struct {
	upTransport, upVersion, downTransport, downVersion string
}

func (p pair) String() string {
	return p.upTransport + " " + p.upVersion + " for " + p.downTransport + " " + p.downVersion
}

func pairs() []pair {
	var all []pair
	for _, up := range []string{"stdio", "http"} {
		for _, down := range []string{"stdio", "http"} {
			for _, uv := range []string{"2025-06-18", "2025-11-25", newest} {
				for _, dv := range []string{"2024-11-05", "2025-11-25", newest} {
					all = append(all, pair{up, uv, down, dv})
				}
			}
		}
	}
	return all
}

// through is a script behind a proxy and a client before it.
func through(t *testing.T, pr pair) rawClient {
	s := &script{version: pr.upVersion}
	server := s.stdio("s")
	if pr.upTransport == "http" {
		server = s.http(t, "s")
	}
	return clientOf(t, newProxy(t, server), pr.downTransport, pr.downVersion)
}

// params are a call's, with what a client of a revision has to say.
func params(pr pair, fields, meta string) string {
	if pr.downVersion >= newest {
		if meta != "" {
			meta += ","
		}
		meta += modernMeta
	}
	return `{` + fields + `,"_meta":{` + meta + `}}`
}

func TestBytesOfResults(t *testing.T) {
	for _, pr := range pairs() {
		t.Run(pr.String(), func(t *testing.T) {
			t.Parallel()
			c := through(t, pr)
			for name, want := range results {
				got, e := c.call(t, "tools/call", params(pr, `"name":"`+name+`","arguments":{}`, ""))
				if e != "" || got != want {
					t.Errorf("%s:\n got %s %s\nwant %s", name, got, e, want)
				}
			}
			for name, want := range rpcErrors {
				got, e := c.call(t, "tools/call", params(pr, `"name":"`+name+`","arguments":{}`, ""))
				if got != "" || e != want {
					t.Errorf("%s:\n got %s %s\nwant %s", name, got, e, want)
				}
			}
		})
	}
}

func TestBytesOfParams(t *testing.T) {
	const arguments = `{"z":9007199254740993,"a":{"<b>":"& \u2028 \/","n":[1.0,null,-0]},"":{}}`
	const fields = `"x-unknown":[9007199254740993],"name":"echo","arguments":` + arguments + `,"requestState":"s"`
	const meta = `"vendor.example/k":{"z":9007199254740993,"a":1.0},"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"`
	for _, pr := range pairs() {
		t.Run(pr.String(), func(t *testing.T) {
			t.Parallel()
			c := through(t, pr)
			raw, e := c.call(t, "tools/call", params(pr, fields, meta))
			if e != "" {
				t.Fatal(e)
			}
			ms, err := members(json.RawMessage(raw))
			if err != nil {
				t.Fatal(err)
			}
			got := getMember(ms, "got")
			want := `{` + fields + `,"_meta":{` + meta
			if !strings.HasPrefix(string(got), want) {
				t.Errorf("the server got\n     %s\nwant %s...", got, want)
			}
			if pr.upVersion < newest && string(got) != want+`}}` {
				t.Errorf("the server got\n     %s\nwant %s}}", got, want)
			}
			modern := pr.upVersion >= newest
			if has := strings.Contains(string(got), `"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}`); has != modern {
				t.Errorf("the server got the client's capabilities: %v, want %v: %s", has, modern, got)
			}
		})
	}
}

func TestBytesOfLists(t *testing.T) {
	for _, pr := range pairs() {
		t.Run(pr.String(), func(t *testing.T) {
			t.Parallel()
			c := through(t, pr)
			for _, l := range []struct{ method, member, id, want string }{
				{"tools/list", "tools", "name", (&script{}).toolList()},
				{"resources/list", "resources", "uri", `{"odd":9007199254740993,"uri":"mem://","name":"m"}`},
				{"resources/templates/list", "resourceTemplates", "uriTemplate", `{"uriTemplate":"doc://{id}/page","name":"d","odd":9007199254740993}`},
				{"prompts/list", "prompts", "name", `{"odd":9007199254740993,"name":"p"}`},
			} {
				raw, e := c.call(t, l.method, params(pr, `"x":1`, ""))
				if e != "" {
					t.Fatal(l.method, e)
				}
				ms, err := members(json.RawMessage(raw))
				if err != nil {
					t.Fatal(err)
				}
				list, ok := elements(getMember(ms, l.member))
				if !ok {
					t.Fatalf("%s: no list: %s", l.method, raw)
				}
				var got []string
				for _, it := range itemsOf(list, l.id) {
					if !isOwn(it.id) {
						got = append(got, string(it.raw))
					}
				}
				if d := cmp.Diff(l.want, strings.Join(got, ",")); d != "" {
					t.Errorf("%s (-want +got):\n%s", l.method, d)
				}
				if pr.downVersion >= newest {
					checkModernList(t, l.method, ms)
				}
			}
		})
	}
}

func checkModernList(t *testing.T, method string, ms []member) {
	t.Helper()
	meta, err := members(getMember(ms, "_meta"))
	if err != nil || getMember(meta, "io.modelcontextprotocol/serverInfo") == nil {
		t.Errorf("%s: no serverInfo in _meta", method)
	}
	for key, want := range map[string]string{"resultType": `"complete"`, "ttlMs": "0", "cacheScope": `"private"`} {
		if got := string(getMember(ms, key)); got != want {
			t.Errorf("%s: %s is %s, want %s", method, key, got, want)
		}
	}
}

func TestBytesOfThePassed(t *testing.T) {
	for _, pr := range pairs() {
		t.Run(pr.String(), func(t *testing.T) {
			t.Parallel()
			c := through(t, pr)
			for method, fields := range map[string]string{
				"resources/read":      `"uri":"mem://","x":9007199254740993`,
				"prompts/get":         `"name":"p","arguments":{"z":"<&>","a":"1"}`,
				"completion/complete": `"ref":{"type":"ref/prompt","name":"p","x":9007199254740993},"argument":{"name":"a","value":"v"}`,
			} {
				raw, e := c.call(t, method, params(pr, fields, `"k":1.0`))
				if e != "" {
					t.Errorf("%s: %s", method, e)
					continue
				}
				ms, err := members(json.RawMessage(raw))
				if err != nil {
					t.Fatal(err)
				}
				if got, want := string(getMember(ms, "got")), `{`+fields+`,"_meta":{"k":1.0`; !strings.HasPrefix(got, want) {
					t.Errorf("%s: the server got\n     %s\nwant %s...", method, got, want)
				}
			}
		})
	}
}
