package mcpproxy

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestExcuses(t *testing.T) {
	missing := unknownMethod("the client does not take sampling/createMessage")
	failed := func(text string) answer { return answer{Result: json.RawMessage(errorResult(text, verdict{}))} }
	for _, tc := range []struct {
		name    string
		refusal *jsonrpc.Error
		said    string // to a question
		got     answer
		want    bool
	}{
		{"nothing was asked", nil, "", failed("connection refused"), false},
		{"the human gave an answer", nil, `{"action":"accept","content":{}}`, failed("connection refused"), false},
		{"the human said no", nil, `{"action":"decline"}`, failed("booking failed"), true},
		{"the human closed it", nil, `{"action":"cancel"}`, answer{Error: &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "no"}}, true},
		{"it cannot, and the server says so", missing, "", failed(`MCP error -32601: the client does not take sampling/createMessage`), true},
		{"it cannot, and something else fails", missing, "", failed("connect ECONNREFUSED 127.0.0.1:5432"), false},
		{"it cannot, and the call is an error", missing, "", answer{Error: &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "x"}}, true},
		{"it would not, in words that are escaped", &jsonrpc.Error{Code: -1, Message: `User "rejected" it`}, "", failed(`asked: User "rejected" it`), true},
		{"it would not, in few words", &jsonrpc.Error{Code: -1, Message: "no"}, "", failed("no connection"), false},
	} {
		f := &flight{}
		if tc.refusal != nil {
			f.refused.Store(tc.refusal)
		}
		f.heard(json.RawMessage(tc.said))
		if got := f.excuses(tc.got); got != tc.want {
			t.Errorf("%s: excused %t, want %t", tc.name, got, tc.want)
		}
	}
}

// TestDeclinedIsNoFailure: a server that fails because the human said no keeps its
// circuit closed, however often.
func TestDeclinedIsNoFailure(t *testing.T) {
	up := newPeer()
	up.AddTool(&mcp.Tool{Name: "book", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			res, err := req.Session.Elicit(ctx, &mcp.ElicitParams{Message: "sure?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{}}`)})
			if err != nil || res.Action == "accept" {
				return nil, err
			}
			return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: "connection refused: nobody confirmed"}}}, nil
		})
	p := newProxy(t, up.http(t, false))
	s := connectWith(t, p, "stdio", "2025-11-25", &mcp.ClientOptions{
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "decline"}, nil
		}})
	for n := range 8 {
		if got, want := callText(t, s, "book", nil), "connection refused: nobody confirmed"; got != want {
			t.Fatalf("call %d: got %q, want %q", n, got, want)
		}
	}
}
