//lint:file-ignore SA1019 what the newest revision deprecates is what older clients and servers speak

package mcpproxy

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// revisions are all that the proxy speaks.
var revisions = append(slices.Clone(legacyVersions), newest)

// newPeerAt is a peer that speaks one revision, says something of itself and lists
// a little at a time.
func newPeerAt(version string) *peer {
	up := newPeerOf(&mcp.ServerOptions{
		SupportedProtocolVersions: []string{version},
		Instructions:              "Ask\x1b[2J gently.",
		PageSize:                  2,
		Capabilities: &mcp.ServerCapabilities{Logging: &mcp.LoggingCapabilities{}, Completions: &mcp.CompletionCapabilities{},
			Experimental: map[string]any{"vendor.example/x": map[string]any{"a": true}}},
		CompletionHandler: func(_ context.Context, req *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
			return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{req.Params.Argument.Value + "!"}}}, nil
		},
	})
	up.asking()
	for _, name := range []string{"one", "two", "three"} {
		up.AddPrompt(&mcp.Prompt{Name: name}, func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return &mcp.GetPromptResult{Description: "prompt " + req.Params.Name}, nil
		})
	}
	return up
}

// TestRevisions has each revision of a client speak to each of a server: what one
// of them does not know is translated.
func TestRevisions(t *testing.T) {
	for i, client := range revisions {
		for j, server := range revisions {
			transport := []string{"stdio", "http"}[(i+j)%2]
			t.Run(fmt.Sprintf("%s over %s for %s", client, transport, server), func(t *testing.T) {
				t.Parallel()
				up := newPeerAt(server)
				p := newProxy(t, up.http(t, server >= newest))
				var h heard
				s := connect(t, p, transport, client, &h)
				testIntroduced(t, s, client)
				testListed(t, s)
				testPassed(t, s)
				if got := callText(t, s, "progress", mcp.Meta{"progressToken": "tok"}); got != "done" {
					t.Errorf("progress: %q", got)
				}
				for i := range 5 {
					if got, want := receive(t, "progress", h.progress), fmt.Sprint("tok ", i+1); got != want {
						t.Errorf("progress %q, want %q", got, want)
					}
				}
				testQuestions(t, s, server)
				testCancel(t, s, up)
				testChanges(t, s, up, &h, client)
				if got := p.ups[0].version(); got != server {
					t.Errorf("the server was spoken to in %s", got)
				}
			})
		}
	}
}

func testIntroduced(t *testing.T, s *mcp.ClientSession, client string) {
	t.Helper()
	res := s.InitializeResult()
	if res.ProtocolVersion != client {
		t.Errorf("the client is spoken to in %s", res.ProtocolVersion)
	}
	if want := "Server peer:\n  Ask[2J gently.\n"; res.Instructions != want {
		t.Errorf("instructions %q, want %q", res.Instructions, want)
	}
	if got := fmt.Sprint(res.Capabilities.Experimental); got != "map[vendor.example/x:map[a:true]]" {
		t.Errorf("experimental: %s", got)
	}
}

func testListed(t *testing.T, s *mcp.ClientSession) {
	t.Helper()
	var names []string
	for tool, err := range s.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, tool.Name)
	}
	for prompt, err := range s.Prompts(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, prompt.Name)
	}
	for resource, err := range s.Resources(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, resource.URI)
	}
	want := "expediter_status expediter_plan expediter_report elicit hang input log progress roots sample expediter one three two mem://one"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("listed\n     %s\nwant %s", got, want)
	}
}

// testPassed asks for what nothing decides on.
func testPassed(t *testing.T, s *mcp.ClientSession) {
	t.Helper()
	read, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "mem://one"})
	if err != nil || len(read.Contents) != 1 || read.Contents[0].Text != "1" {
		t.Errorf("read: %v, %v", read, err)
	}
	got, err := s.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "two"})
	if err != nil || got.Description != "prompt two" {
		t.Errorf("prompt: %v, %v", got, err)
	}
	c, err := s.Complete(t.Context(), &mcp.CompleteParams{Ref: &mcp.CompleteReference{Type: "ref/prompt", Name: "two"},
		Argument: mcp.CompleteParamsArgument{Name: "x", Value: "v"}})
	if err != nil || len(c.Completion.Values) != 1 || c.Completion.Values[0] != "v!" {
		t.Errorf("completion: %v, %v", c, err)
	}
}

func testQuestions(t *testing.T, s *mcp.ClientSession, server string) {
	t.Helper()
	want := map[string]string{"elicit": "accept Ada", "sample": "m 7", "roots": "file:///here"}
	if server >= newest {
		want = map[string]string{"input": "Ada st<a>te"}
	}
	for name, want := range want {
		if got := callText(t, s, name, nil); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// testChanges has a tool come and a resource change. Log messages need a level,
// which a server hears of beside the client's answer.
func testChanges(t *testing.T, s *mcp.ClientSession, up *peer, h *heard, client string) {
	t.Helper()
	if client < newest {
		if err := s.SetLoggingLevel(t.Context(), &mcp.SetLoggingLevelParams{Level: "info"}); err != nil {
			t.Fatal(err)
		}
		got := repeated(t, "log", h.logs, func() { callText(t, s, "log", nil) })
		if got != "warning careful" {
			t.Errorf("log %q", got)
		}
		if err := s.Subscribe(t.Context(), &mcp.SubscribeParams{URI: "mem://one"}); err != nil {
			t.Fatal(err)
		}
		got = repeated(t, "updated", h.updated, func() {
			_ = up.ResourceUpdated(t.Context(), &mcp.ResourceUpdatedNotificationParams{URI: "mem://one"})
		})
		if got != "mem://one" {
			t.Errorf("updated %q", got)
		}
	}
	repeated(t, "list_changed", h.tools, func() {
		up.AddTool(&mcp.Tool{Name: "late", InputSchema: json.RawMessage(`{"type":"object"}`)}, nil)
		up.RemoveTools("late")
		up.AddTool(&mcp.Tool{Name: "later", InputSchema: json.RawMessage(`{"type":"object"}`)}, nil)
	})
}
