package mcpproxy

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestInit(t *testing.T) {
	in := `{"mcpServers":{
		"a":{"command":"x","args":["1","true"," \u2028","\u001b"],"timeout":60.5,"alwaysAllow":null,"on":{"deep":[{}]}},
		"b c":{"url":"https://b.example"},
		"down":{"command":"y"}}}`
	list := func(_ context.Context, s Server) ([]ToolInfo, error) {
		switch s.Name {
		case "a":
			return []ToolInfo{{Name: "search_issues", Description: "Finds\x1b[2J issues; token=abcdefghijklmnop1234. And more."},
				{Name: "bad\nname"}, {Name: strings.Repeat("long", 100)}, {Name: "x: [y] # z", Description: "\n\n"}}, nil
		case "b c":
			return []ToolInfo{{Name: "find_issue"}, {Name: "delete_issue", Destructive: true}}, nil
		}
		return nil, errors.New("no such\nprogram")
	}
	var b bytes.Buffer
	warnings, err := Init(t.Context(), "mcp.json", []byte(in), testEnv, list, &b)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(warnings, "\n"); len(warnings) != 3 || !strings.Contains(got, `server "down": its tools could not be listed: no such program`) {
		t.Errorf("got warnings\n%s", got)
	}
	if strings.ContainsAny(b.String(), "\x1b\u2028") || strings.Contains(b.String(), "abcdefghijklmnop1234") {
		t.Errorf("hostile text came through:\n%q", b.String())
	}
	got, err := ReadConfig("proxy.yaml", b.Bytes(), testEnv)
	if err != nil {
		t.Fatalf("%v in\n%s", err, b.String())
	}
	before, err := ReadConfig("mcp.json", []byte(in), testEnv)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before.Servers, got.Servers); diff != "" {
		t.Errorf("servers (-before +after)\n%s", diff)
	}
	if len(got.Warnings) != 0 {
		t.Errorf("got warnings %v", got.Warnings)
	}
	var entries []string
	for _, e := range got.Tools {
		line := e.Tool + ": " + e.SideEffects.String()
		for _, a := range e.Alternatives {
			line += " -> " + a.Tool + " " + a.Effective().String()
		}
		entries = append(entries, line)
	}
	want := []string{"a/search_issues:  -> b c/find_issue unknown", "a/x: [y] # z: ",
		"b c/find_issue:  -> a/search_issues unknown", "b c/delete_issue: destructive"}
	if diff := cmp.Diff(want, entries); diff != "" {
		t.Errorf("entries (-want +got)\n%s\n%s", diff, b.String())
	}
}

func TestInitOfNothing(t *testing.T) {
	var b bytes.Buffer
	if _, err := Init(t.Context(), "p", []byte("mcpServers: {a: {}}"), testEnv, nil, &b); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "mcpServers: {}\n  # server") || !strings.Contains(b.String(), "capability_map: []\n") {
		t.Errorf("got\n%s", b.String())
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("stop")
	cancel(stop)
	if _, err := Init(ctx, "p", []byte("mcpServers: {a: {}}"), testEnv, nil, &b); !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
}

func TestAlike(t *testing.T) {
	tests := []struct {
		server, tool, other, its string
		want                     bool
	}{
		{"fs", "read_file", "ide", "readFile", true},
		{"fs", "read_file", "ide", "get_file_contents", true},
		{"web", "search", "docs", "search_docs", true},
		{"github", "github_search_issues", "jira", "find-issue", true},
		{"fs", "list_directory", "github", "list_issues", false},
		{"fs", "delete_file", "ide", "create_file", false},
		{"gh", "create_pull_request_review", "gl", "delete_pull_request_review", false},
		{"memory", "search_nodes", "fs", "search_files", false},
		{"a", "x", "b", "y", false},
		{"a", "", "b", "", false},
		{"fetch", "fetch", "web", "get", true},
		{"files", "read_file", "search", "read_file", true},
	}
	for _, tt := range tests {
		if got := likeOf(tt.server, tt.tool, tt.other, tt.its) >= likeness; got != tt.want {
			t.Errorf("%s/%s and %s/%s: got %t", tt.server, tt.tool, tt.other, tt.its, got)
		}
	}
}

func TestListTools(t *testing.T) {
	got, err := ListTools(t.Context(), stdioServer(t, "sdk"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) < 5 || !cmp.Equal(got[2], ToolInfo{Name: "echo", ReadOnly: true}) {
		t.Errorf("got %+v", got)
	}
	_, err = ListTools(t.Context(), stdioServer(t, "exits"), nil)
	if err == nil || !strings.Contains(err.Error(), "cannot start: no licence") || strings.Contains(err.Error(), "sesame") {
		t.Errorf("got %v", err)
	}
}
