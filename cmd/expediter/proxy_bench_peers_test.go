package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// benchPeer is what the proxy is measured beside: mcp-bench server|plain
// stdio|http VERSION [COMMAND|URL]. The server has a tool that does nothing and
// one that is broken. The plain proxy is the SDK's Tools, AddTool and CallTool,
// and nothing else. Over HTTP it says on standard error where it is listening.
func benchPeer() {
	kind, transport, version := os.Args[1], os.Args[2], os.Args[3]
	ctx := context.Background()
	s := mcp.NewServer(&mcp.Implementation{Name: kind, Version: "1"}, &mcp.ServerOptions{SupportedProtocolVersions: []string{version}})
	var err error
	if kind == "plain" {
		err = plainProxy(ctx, s, version, os.Args[4])
	} else {
		benchTools(s)
	}
	if err == nil && transport == "http" {
		err = serveBenchPeer(s, version >= "2026-07-28")
	} else if err == nil {
		err = s.Run(ctx, &mcp.StdioTransport{})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func benchTools(s *mcp.Server) {
	add := func(name, text string, failed bool) {
		s.AddTool(&mcp.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)},
			func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}, IsError: failed}, nil
			})
	}
	add("noop", "a small result", false)
	add("broken", "getaddrinfo ENOTFOUND api.example.com", true)
}

func plainProxy(ctx context.Context, s *mcp.Server, version, to string) error {
	var transport mcp.Transport = &mcp.StreamableClientTransport{Endpoint: to}
	if argv := strings.Fields(to); len(argv) > 1 {
		transport = &mcp.CommandTransport{Command: exec.Command(argv[0], argv[1:]...)}
	}
	up, err := mcp.NewClient(&mcp.Implementation{Name: "plain", Version: "1"}, nil).
		Connect(ctx, transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		return err
	}
	for tool, err := range up.Tools(ctx, nil) {
		if err != nil {
			return err
		}
		s.AddTool(tool, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return up.CallTool(ctx, &mcp.CallToolParams{Name: req.Params.Name, Arguments: req.Params.Arguments})
		})
	}
	return nil
}

func serveBenchPeer(s *mcp.Server, stateless bool) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Fprintln(os.Stderr, "listening at http://"+l.Addr().String()+"/mcp")
	return http.Serve(l, mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s },
		&mcp.StreamableHTTPOptions{Stateless: stateless}))
}
