package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// mcpServer is a server of the SDK on stdio: mcp-server [SET of
// tools].
func mcpServer() {
	s := mcp.NewServer(&mcp.Implementation{Name: "real", Version: "1"}, nil)
	type text struct {
		Text string `json:"text"`
	}
	add := func(name, about string, a *mcp.ToolAnnotations, f func(in text) string) {
		mcp.AddTool(s, &mcp.Tool{Name: name, Description: about, Annotations: a},
			func(_ context.Context, _ *mcp.CallToolRequest, in text) (*mcp.CallToolResult, any, error) {
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: f(in)}}}, nil, nil
			})
	}
	yes := true
	set := "one"
	if len(os.Args) > 1 {
		set = os.Args[1]
	}
	switch set {
	case "exits":
		fmt.Fprintln(os.Stderr, "cannot start: the key", os.Getenv("API_KEY"), "is wrong")
		os.Exit(7)
	case "two":
		add("getNotes", "Read \x1b[31mthe notes.\nMore about it.", &mcp.ToolAnnotations{ReadOnlyHint: true}, func(in text) string { return "notes " + in.Text })
	default:
		add("read_note", "Reads a note. It is kept in a file.", &mcp.ToolAnnotations{ReadOnlyHint: true}, func(in text) string { return "note " + in.Text })
		add("wipe_notes", "", &mcp.ToolAnnotations{DestructiveHint: &yes}, func(text) string { return "wiped" })
		add("pid", "The server's process", nil, func(text) string { return fmt.Sprint(os.Getpid()) })
		mcp.AddTool(s, &mcp.Tool{Name: "fetch_note", Description: "Fetches a note"},
			func(context.Context, *mcp.CallToolRequest, text) (*mcp.CallToolResult, any, error) {
				return nil, nil, errors.New("dial tcp 10.1.2.3:443: connect: connection refused")
			})
		add("die", "Ends the server in mid-call", nil, func(text) string { os.Exit(3); return "" })
	}
	_ = s.Run(context.Background(), &mcp.StdioTransport{})
}

// mcpClient is a client of the SDK: mcp-client COMMAND|URL OPERATION..., where
// an operation is list, call TOOL [ARGUMENTS], prompt NAME or await TOOL: call it
// until it works.
func mcpClient() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	session, err := connectClient(ctx, os.Args[1])
	if err == nil {
		for _, op := range os.Args[2:] {
			if err = operate(ctx, session, strings.Fields(op)); err != nil {
				break
			}
		}
		if end := session.Close(); err == nil {
			err = end
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func connectClient(ctx context.Context, to string) (*mcp.ClientSession, error) {
	var transport mcp.Transport = &mcp.StreamableClientTransport{Endpoint: to}
	if !strings.HasPrefix(to, "http://") {
		argv := strings.Fields(to)
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Stderr = os.Stderr
		transport = &mcp.CommandTransport{Command: cmd}
	}
	return mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(ctx, transport, nil)
}

func operate(ctx context.Context, session *mcp.ClientSession, op []string) error {
	switch op[0] {
	case "list":
		var names []string
		for t, err := range session.Tools(ctx, nil) {
			if err != nil {
				return err
			}
			names = append(names, t.Name)
		}
		slices.Sort(names)
		fmt.Println("tools:", strings.Join(names, " "))
		return nil
	case "call", "await":
		for {
			text, failed, err := callText(ctx, session, op[1:])
			if err != nil || failed && op[0] == "await" {
				if op[0] == "call" || ctx.Err() != nil {
					return err
				}
				<-time.After(20 * time.Millisecond)
				continue
			}
			fmt.Printf("%s: error %t: %s\n", op[1], failed, text)
			return nil
		}
	}
	return fmt.Errorf("unknown operation %q", op[0])
}

// callText calls a tool, and returns its first text.
func callText(ctx context.Context, session *mcp.ClientSession, op []string) (text string, failed bool, err error) {
	args := json.RawMessage(`{"text":""}`)
	if len(op) > 1 {
		args = json.RawMessage(op[1])
	}
	res, err := session.CallTool(ctx, &mcp.CallToolParams{Name: op[0], Arguments: args})
	if err != nil {
		return "", false, err
	}
	for _, c := range res.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			return t.Text, res.IsError, nil
		}
	}
	return "", res.IsError, nil
}
