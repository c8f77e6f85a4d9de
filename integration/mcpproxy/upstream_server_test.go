package mcpproxy

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// serverMode makes the test binary a server on stdio: the SDK's own, or one
// that misbehaves as the mode says.
const serverMode = "MCPPROXY_TEST_SERVER"

func init() {
	mode := os.Getenv(serverMode)
	if mode == "" {
		return
	}
	if mode == "sdk" {
		_ = sdkServer().Run(context.Background(), &mcp.StdioTransport{MaxLineLength: -1})
	} else {
		rawServer(mode)
	}
	os.Exit(0)
}

// stdioServer is the configuration of the test binary as a server.
func stdioServer(t *testing.T, mode string) Server {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Server{Name: "one", Command: exe, Env: map[string]string{serverMode: mode, "API_KEY": "sesame-open"}}
}

type say struct {
	Text string `json:"text"`
}

// sdkServer has tools that answer, hang, report progress, ask the client and
// kill their process.
func sdkServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "real", Version: "1"}, nil)
	text := func(t string) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: t}}}, nil, nil
	}
	mcp.AddTool(s, &mcp.Tool{Name: "echo", Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}},
		func(_ context.Context, _ *mcp.CallToolRequest, in say) (*mcp.CallToolResult, any, error) {
			return text(in.Text)
		})
	mcp.AddTool(s, &mcp.Tool{Name: "pid"},
		func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
			return text(fmt.Sprint(os.Getpid()))
		})
	mcp.AddTool(s, &mcp.Tool{Name: "die"},
		func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
			fmt.Fprintln(os.Stderr, "fatal: key sesame-open is wrong")
			os.Exit(3)
			return nil, nil, nil
		})
	mcp.AddTool(s, &mcp.Tool{Name: "hang"},
		func(ctx context.Context, req *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
			if err := req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
				ProgressToken: req.Params.GetProgressToken(), Progress: 1}); err != nil {
				return nil, nil, err
			}
			<-ctx.Done()
			fmt.Fprintln(os.Stderr, "the call was cancelled")
			return nil, nil, ctx.Err()
		})
	mcp.AddTool(s, &mcp.Tool{Name: "steps"},
		func(ctx context.Context, req *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
			for i := range 3 {
				if err := req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
					ProgressToken: req.Params.GetProgressToken(), Progress: float64(i + 1), Total: 3}); err != nil {
					return nil, nil, err
				}
			}
			return text("done")
		})
	mcp.AddTool(s, &mcp.Tool{Name: "ask"},
		func(ctx context.Context, req *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
			res, err := req.Session.Elicit(ctx, &mcp.ElicitParams{Message: "who?",
				RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{"name": map[string]any{"type": "string"}}}})
			if err != nil {
				return nil, nil, err
			}
			return text(fmt.Sprint(res.Action, " ", res.Content["name"]))
		})
	mcp.AddTool(s, &mcp.Tool{Name: "grow"},
		func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
			mcp.AddTool(s, &mcp.Tool{Name: "grown"},
				func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
					return text("")
				})
			return text("")
		})
	return s
}

// rawServer speaks for itself, by hand.
func rawServer(mode string) {
	switch mode {
	case "exits":
		fmt.Fprintln(os.Stderr, "cannot start: no licence, token=sesame-open")
		os.Exit(7)
	case "mute":
		<-time.After(time.Hour)
	}
	in := bufio.NewReader(os.Stdin)
	for {
		text, err := in.ReadString('\n')
		if err != nil {
			return
		}
		var req struct {
			ID     json.RawMessage
			Method string
			Params json.RawMessage
		}
		if json.Unmarshal([]byte(text), &req) != nil || req.ID == nil {
			continue
		}
		if mode == "deaf" && req.Method == "tools/call" {
			<-time.After(time.Hour)
		}
		for _, line := range rawAnswer(mode, req.Method, string(req.ID), req.Params) {
			fmt.Println(line)
		}
	}
}

func rawAnswer(mode, method, id string, params json.RawMessage) []string {
	result := func(r string) string { return `{"result":` + r + `,"jsonrpc":"2.0","id":` + id + `}` }
	switch method {
	case "initialize":
		if mode == "stateless" {
			return []string{`{"jsonrpc":"2.0","id":` + id + `,"error":{"code":-32601,"message":"no such method"}}`}
		}
		return []string{"npm warn: a banner", "", `{"unfinished":`, result(`{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"raw","version":"1"}}`)}
	case "server/discover":
		return []string{result(`{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}`)}
	case "tools/list":
		if cursor := field(params, "cursor"); cursor == nil {
			return []string{result(`{"tools":[{"name":"a","x":9007199254740993}],"nextCursor":"two"}`)}
		}
		return []string{result(`{"tools":[{"name":"b","annotations":{"idempotentHint":true}},{"name":"b"},{"no":"name"}]}`)}
	case "tools/call":
		return rawCall(mode, id, params, result)
	}
	return []string{result("{}")}
}

func rawCall(mode, id string, params json.RawMessage, result func(string) string) []string {
	switch mode {
	case "other-id":
		return []string{`{"jsonrpc":"2.0","id":424242,"result":{}}`}
	case "huge":
		return []string{result(`{"content":[{"type":"text","text":"` + strings.Repeat("x", 2<<20) + `"}]}`)}
	case "silent":
		return nil
	}
	return []string{result(`{"x":9007199254740993,"sent":` + string(params) + `}`)}
}
