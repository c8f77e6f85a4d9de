package mcpproxy

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadOAuth(t *testing.T) {
	tests := []struct {
		name, in string
		want     *OAuth
	}{
		{"the proxy registers itself", `oauth: {}`, &OAuth{}},
		{"the same", `oauth: true`, &OAuth{}},
		{"none", `oauth: false`, nil},
		{"none, in a mapping", `oauth: {enabled: false}`, nil},
		{"a secret is enough", `oauth: {client_id: a, client_secret: "${TOKEN}", scopes: [b, c]}`,
			&OAuth{ClientID: "a", ClientSecret: "sesame-open", Scopes: []string{"b", "c"}, Unattended: true}},
		{"a secret, and a human", `oauth: {client_id: a, client_secret: b-secret, grant: authorization_code}`, &OAuth{ClientID: "a", ClientSecret: "b-secret"}},
		{"Claude Code", `oauth: {clientId: a, callbackPort: 8080, scopes: b c}`,
			&OAuth{ClientID: "a", Scopes: []string{"b", "c"}, Redirect: "http://localhost:8080/callback"}},
		{"OpenCode", `oauth: {clientId: a, scope: b}`, &OAuth{ClientID: "a", Scopes: []string{"b"}}},
		{"Gemini", `oauth: {enabled: true, clientId: a, clientSecret: b-secret, redirectUri: "http://localhost:7777/oauth/callback"}`,
			&OAuth{ClientID: "a", ClientSecret: "b-secret", Redirect: "http://localhost:7777/oauth/callback"}},
		{"Cursor", `auth: {CLIENT_ID: a, scopes: [b]}`, &OAuth{ClientID: "a", Scopes: []string{"b"}}},
		{"auth of another kind", `auth: {type: none}`, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, err := ReadConfig("p", []byte(`mcpServers: {a: {url: "https://a.example", `+tt.in+`}}`), testEnv)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, c.Servers[0].OAuth); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestReadOAuthRefuses(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"a process", `{command: a, oauth: {}}`, "oauth is for servers with a url"},
		{"in the clear", `{url: "http://a.example", oauth: {}}`, "a token would go over the network in the clear"},
		{"two tokens", `{url: "https://a.example", headers: {authorization: x}, oauth: {}}`, "the server has an Authorization header and oauth"},
		{"a list", `{url: "https://a.example", oauth: []}`, "want a mapping, found a list"},
		{"a word", `{url: "https://a.example", oauth: please}`, "p:1:"},
		{"misspelt", `{url: "https://a.example", oauth: {client_idd: a}}`, `unknown key "client_idd"; did you mean "client_id"?`},
		{"what the server says", `{url: "https://a.example", oauth: {tokenUrl: "https://b.example"}}`, `the proxy asks the server itself for "tokenUrl"`},
		{"twice", `{url: "https://a.example", oauth: {client_id: a, clientId: b}}`, `repeated key "clientId"`},
		{"a secret of nobody", `{url: "https://a.example", oauth: {client_secret: hush-hush}}`, "the client_id is missing"},
		{"no secret", `{url: "https://a.example", oauth: {client_id: a, grant: client_credentials}}`, "the client_secret is missing"},
		{"another grant", `{url: "https://a.example", oauth: {grant: password}}`, `unknown grant "password"`},
		{"far away", `{url: "https://a.example", oauth: {redirect_uri: "http://b.example:80/"}}`, "the browser cannot come back"},
		{"no port", `{url: "https://a.example", oauth: {callback_port: 70000}}`, `no port: "70000"`},
		{"two ports", `{url: "https://a.example", oauth: {redirect_uri: "http://localhost:80/x", callback_port: 81}}`, "the port is not that of the redirect_uri"},
		{"no scope", `{url: "https://a.example", oauth: {scopes: ["a b"]}}`, `no scope: "a b"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ReadConfig("p", []byte("mcpServers: {a: "+tt.in+"}"), testEnv)
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "hush-hush") {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}
