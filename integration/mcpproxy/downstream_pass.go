package mcpproxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func (r *request) getPrompt(ctx context.Context) (json.RawMessage, error) {
	name, ok := getString(r.params, "name")
	if !ok {
		return nil, badParams(errors.New("a prompts/get names no prompt"))
	}
	if isOwn(name) {
		raw, rpc := r.s.client.getPrompt(name)
		if rpc != nil {
			return nil, rpc
		}
		return raw, nil
	}
	o, ok := r.prompt(ctx, name)
	if !ok {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("Unknown prompt: %.128s", name)}
	}
	return r.pass(ctx, o.up, r.method, member{"name", encode(o.name)})
}

// prompt finds whose a prompt is, if need be by asking the servers.
func (r *request) prompt(ctx context.Context, name string) (owner, bool) {
	o, _, ok := r.p.prompts.find(name, r.p.ups)
	if !ok {
		r.p.ready(ctx)
		r.p.showPrompts(ctx, false)
		o, _, ok = r.p.prompts.find(name, r.p.ups)
	}
	return o, ok
}

// complete passes a completion on to the server of the prompt or the resource
// that it is about.
func (r *request) complete(ctx context.Context) (json.RawMessage, error) {
	ref, err := members(getMember(r.params, "ref"))
	if err != nil {
		return nil, badParams(fmt.Errorf("ref: %w", err))
	}
	if name, ok := getString(ref, "name"); ok {
		if o, ok := r.prompt(ctx, name); ok {
			return r.pass(ctx, o.up, r.method, member{"ref", encodeMembers(setMember(ref, "name", encode(o.name)))})
		}
		return nil, badParams(fmt.Errorf("no server has the prompt %.128q", name))
	}
	uri, _ := getString(ref, "uri")
	if u := r.p.ownerOf(ctx, uri); u != nil && can(u, "completions") {
		return r.pass(ctx, u, r.method)
	}
	return nil, badParams(fmt.Errorf("no server completes for the resource %.128q", uri))
}

func (r *request) readResource(ctx context.Context) (json.RawMessage, error) {
	uri, ok := getString(r.params, "uri")
	if !ok {
		return nil, badParams(errors.New("a resources/read has no uri"))
	}
	r.p.ready(ctx)
	if u := r.p.ownerOf(ctx, uri); u != nil {
		return r.pass(ctx, u, r.method)
	}
	return r.tryAll(ctx, uri)
}

// tryAll asks each server that has resources until one knows the URI, which
// none of them lists.
func (r *request) tryAll(ctx context.Context, uri string) (json.RawMessage, error) {
	var failed error
	for _, u := range r.p.ups {
		if !u.isUp() || !can(u, "resources") {
			continue
		}
		raw, err := r.pass(ctx, u, r.method)
		if err == nil || ctx.Err() != nil {
			return raw, err
		}
		var rpc *jsonrpc.Error
		if failed == nil || !errors.As(err, &rpc) || !notFound(rpc.Code) {
			failed = err
		}
	}
	if failed == nil {
		failed = mcp.ResourceNotFoundError(uri)
	}
	return nil, failed
}

// notFound says that an error is how a server says that it has no such thing.
func notFound(code int64) bool { return code == jsonrpc.CodeInvalidParams || code == -32002 }

// ownerOf returns the first server that lists a resource, or a template that
// may stand for it; nil if none does.
func (p *Proxy) ownerOf(ctx context.Context, uri string) *upstream {
	for i, items := range p.lists.get(ctx, p, resourceList, false) {
		for _, it := range items {
			if it.id == uri {
				return p.ups[i]
			}
		}
	}
	for i, items := range p.lists.get(ctx, p, templateList, false) {
		for _, it := range items {
			if it.id == uri || matches(it.id, uri) {
				return p.ups[i]
			}
		}
	}
	return nil
}

// matches says whether uri may be made of a template: whether what stands
// outside of the template's braces is found in it, in order. Where templates of
// two servers match, the first server is asked.
func matches(template, uri string) bool {
	literal, rest, open := strings.Cut(template, "{")
	if !strings.HasPrefix(uri, literal) {
		return false
	}
	uri = uri[len(literal):]
	for open {
		_, after, closed := strings.Cut(rest, "}")
		if !closed {
			return false
		}
		literal, rest, open = strings.Cut(after, "{")
		if !open {
			return strings.HasSuffix(uri, literal) && len(uri) > len(literal)
		}
		i := strings.Index(uri, literal)
		if i < 0 {
			return false
		}
		uri = uri[i+len(literal):]
	}
	return uri == ""
}
