package mcpproxy

import (
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/expediter-go/expediter/capability/document"
)

// oauthKeys are those of the section oauth, in our spelling. Clients write them
// otherwise: clientId (Claude Code, VS Code, OpenCode, Gemini), CLIENT_ID (Cursor).
var oauthKeys = []string{"client_id", "client_secret", "scopes", "callback_port", "redirect_uri", "grant", "enabled"}

// oauthFound are keys by which clients say what the proxy learns from the server.
var oauthFound = map[string]bool{"authservermetadataurl": true, "authorizationurl": true, "tokenurl": true, "registrationurl": true,
	"issuer": true, "audiences": true, "audience": true, "tokenparamname": true, "xaa": true}

// Grants, as the section oauth names them.
const (
	grantLogin = "authorization_code"
	grantAlone = "client_credentials"
)

// oauth reads how a server's tokens are had; nil: they are not.
func (r *configReader) oauth(n *document.Node, s Server) *OAuth {
	at := n.Key("oauth")
	if own := n.Key("auth"); at == nil && own.Key("CLIENT_ID") != nil { // Cursor
		at = own
	}
	switch {
	case at == nil || at.Kind == document.Null || at.Kind == document.Scalar && !r.flag(at, false):
		return nil
	case at.Kind == document.Sequence:
		r.fail(at, "want a mapping, found a list", "write client_id, or {} for a proxy that registers itself")
		return nil
	}
	fields := r.oauthFields(at)
	if !r.flag(fields["enabled"], true) {
		return nil
	}
	o := &OAuth{ClientID: r.text(fields["client_id"]), ClientSecret: r.text(fields["client_secret"]), Scopes: r.scopes(fields["scopes"])}
	o.Redirect = r.redirect(fields["redirect_uri"], fields["callback_port"])
	o.Unattended = r.unattended(fields["grant"], o)
	switch {
	case o.ClientID == "" && (o.ClientSecret != "" || o.Unattended):
		r.fail(at, "the client_id is missing", "write that of the client whose secret it is")
	case o.Unattended && o.ClientSecret == "":
		r.fail(at, "the client_secret is missing", "write it as ${NAME}, or remove grant and log in yourself")
	}
	r.oauthServer(at, n, s)
	return o
}

// oauthServer holds the section against the server that it is of.
func (r *configReader) oauthServer(at, n *document.Node, s Server) {
	if s.URL == "" {
		if s.Command != "" {
			r.fail(at, "oauth is for servers with a url", "remove the key; give a process its secrets below env")
		}
		return
	}
	if u, err := url.Parse(s.URL); err == nil && u.Scheme == "http" && !isLoopback(u.Host) {
		r.fail(at, "a token would go over the network in the clear", "write the server's address as https://HOST/PATH")
	}
	for key := range n.Key("headers").Fields() {
		if strings.EqualFold(key.Text(), "Authorization") {
			r.fail(key, "the server has an Authorization header and oauth", "keep one of the two")
		}
	}
}

// oauthFields are the values by our names of their keys.
func (r *configReader) oauthFields(n *document.Node) map[string]*document.Node {
	fields := map[string]*document.Node{}
	if n.Kind != document.Mapping {
		return fields
	}
	for key, item := range n.Fields() {
		name := oauthName(key.Text())
		switch {
		case name == "" && oauthFound[plainKey(key.Text())]:
			r.fail(key, "the proxy asks the server itself for "+document.Quote(key.Text()), "remove the key")
		case name == "":
			do := "the keys are " + strings.Join(oauthKeys, ", ")
			if near := document.Nearest(key.Text(), oauthKeys); near != "" {
				do = "did you mean " + document.Quote(near) + "?"
			}
			r.fail(key, "unknown key "+document.Quote(key.Text()), do)
		case fields[name] != nil:
			r.fail(key, "repeated key "+document.Quote(key.Text()), "keep one of the two")
		default:
			fields[name] = item
		}
	}
	return fields
}

// plainKey is a key without what spellings differ in.
func plainKey(key string) string { return strings.ToLower(strings.ReplaceAll(key, "_", "")) }

func oauthName(key string) string {
	plain := plainKey(key)
	if plain == "scope" {
		return "scopes"
	}
	for _, name := range oauthKeys {
		if plainKey(name) == plain {
			return name
		}
	}
	return ""
}

// scopes reads a list, or one text with spaces between.
func (r *configReader) scopes(n *document.Node) []string {
	if n == nil || n.Kind == document.Null {
		return nil
	}
	var list []string
	if n.Kind == document.Scalar {
		list = strings.Fields(r.text(n))
	} else {
		list = r.texts(n)
	}
	for _, s := range list {
		if !isScope(s) {
			r.fail(n, "no scope: "+document.Quote(s), "write each without spaces and quotes")
		}
	}
	return list
}

// redirect is where the browser comes back to. A port alone is that of an address
// as Claude Code has it registered.
func (r *configReader) redirect(address, port *document.Node) string {
	if text := r.text(address); text != "" {
		u, err := url.Parse(text)
		if err != nil || u.Scheme != "http" || !isLoopback(u.Host) || !isPort(u.Port()) || u.RawQuery != "" || u.User != nil {
			r.fail(address, "the browser cannot come back to "+document.Quote(text), "write it as http://localhost:PORT/callback")
		} else if port != nil && u.Port() != r.text(port) {
			r.fail(port, "the port is not that of the redirect_uri", "remove one of the two")
		}
		return text
	}
	text := r.text(port)
	if text == "" {
		return ""
	}
	if !isPort(text) {
		r.fail(port, "no port: "+document.Quote(text), "write a number from 1 to 65535")
	}
	return "http://" + net.JoinHostPort("localhost", text) + callbackPath
}

func isPort(text string) bool {
	n, err := strconv.Atoi(text)
	return err == nil && n > 0 && n < 1<<16
}

// unattended reads the grant. A client with a secret that says nothing of a
// browser needs none.
func (r *configReader) unattended(n *document.Node, o *OAuth) bool {
	switch text := r.text(n); text {
	case "":
		return o.ClientSecret != "" && o.Redirect == ""
	case grantAlone:
		return true
	case grantLogin:
		return false
	default:
		r.fail(n, "unknown grant "+document.Quote(text), "write "+grantLogin+" or "+grantAlone)
		return false
	}
}
