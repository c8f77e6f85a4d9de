package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// flakyServer is an MCP server on stdio with two tools: echo answers with its
// arguments, fetch fails while the file BROKEN is there.
func flakyServer() {
	s := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	schema := json.RawMessage(`{"type":"object"}`)
	text := func(text string) *mcp.CallToolResult {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
	}
	s.AddTool(&mcp.Tool{Name: "echo", InputSchema: schema}, func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return text(string(req.Params.Arguments)), nil
	})
	s.AddTool(&mcp.Tool{Name: "fetch", InputSchema: schema}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if _, err := os.Stat(os.Getenv("BROKEN")); err != nil {
			return text("fetched"), nil
		}
		r := text("getaddrinfo ENOTFOUND api.example.com")
		r.IsError = true
		return r, nil
	})
	if err := s.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// proxyDriver drives `expediter proxy --config FILE` with the SDK's client:
// mcp-drive FILE STEP..., each step "list", "break", "mend", "kill" (the proxy),
// "run=COMMAND", in whose words ~ stands for a space, or TOOL=ARGUMENTS.
func proxyDriver() {
	if err := driveProxy(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func driveProxy(config string, steps []string) error {
	ctx := context.Background()
	proxy := exec.Command("expediter", "proxy", "--config", config)
	proxy.Stderr = os.Stderr
	client := mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: proxy}, nil)
	if err != nil {
		return err
	}
	var errs []error
	for _, step := range steps {
		name, arguments, _ := strings.Cut(step, "=")
		switch name {
		case "list":
			list, err := session.ListTools(ctx, nil)
			if err != nil {
				return err
			}
			for _, t := range list.Tools {
				fmt.Println("tool", t.Name)
			}
		case "run":
			argv := strings.Fields(arguments)
			for i := range argv {
				if strings.HasPrefix(argv[i], "run=") {
					argv[i] = strings.ReplaceAll(argv[i], "~", " ")
				}
			}
			cmd := exec.Command(argv[0], argv[1:]...)
			cmd.Stdout, cmd.Stderr = os.Stdout, os.Stdout
			if err := cmd.Run(); err != nil {
				fmt.Println(argv, err)
			}
		case "kill":
			return errors.Join(append(errs, proxy.Process.Kill())...)
		case "break":
			errs = append(errs, os.WriteFile(os.Getenv("BROKEN"), nil, 0o600))
		case "mend":
			errs = append(errs, os.Remove(os.Getenv("BROKEN")))
		default:
			r, err := session.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: json.RawMessage(arguments)})
			if err != nil {
				return err
			}
			for _, c := range r.Content {
				if t, ok := c.(*mcp.TextContent); ok {
					fmt.Println(name, r.IsError, t.Text)
				}
			}
		}
	}
	return errors.Join(append(errs, session.Close())...)
}
