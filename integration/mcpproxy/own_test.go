package mcpproxy

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/expediter-go/expediter/capability"
)

func own(t *testing.T, c *client, name, arguments string) told {
	t.Helper()
	raw, rpc := c.callTool(t.Context(), target{tool: rawTool{Name: name}}, json.RawMessage(`{"name":"`+name+`","arguments":`+arguments+`}`), never(t))
	if rpc != nil {
		t.Fatal(rpc)
	}
	return readTold(t, raw)
}

func TestOwnToolsAreListed(t *testing.T) {
	c := newBench(t, two, twoTools).newClient("s", human{})
	for _, tool := range c.ownTools() {
		var listed struct {
			Name, Description string
			InputSchema       struct{ Type string }
		}
		if err := json.Unmarshal(tool.Raw, &listed); err != nil || listed.Name != tool.Name || !isOwn(tool.Name) || listed.Description == "" || listed.InputSchema.Type != "object" {
			t.Errorf("%s: %v", tool.Raw, err)
		}
		if strings.Contains(tool.Name, "confirm") || strings.Contains(tool.Name, "cycle") {
			t.Errorf("%s is the human's alone", tool.Name)
		}
	}
	raw, rpc := c.getPrompt(ownPrompt)
	if rpc != nil || !strings.Contains(string(raw), "SKIP") || len(c.ownPrompts()) != 1 {
		t.Errorf("%s %v", raw, rpc)
	}
	if _, rpc := c.getPrompt("other"); rpc == nil {
		t.Error("a prompt that is not there")
	}
	if _, rpc := c.callOwn("expediter_confirm", nil); rpc == nil {
		t.Error("a tool that is not there")
	}
}

func TestOwnStatus(t *testing.T) {
	b := newBench(t, two, twoTools)
	c := b.newClient("s", human{})
	for range 3 {
		call(t, c, b.target(t, "hub/search"), gives(broken))
	}
	setUp(b.ups[1], false)
	c.serverDown(b.ups[1], errors.New("exit status 1"))
	got := own(t, c, ownStatus, `{}`).Text
	for _, want := range []string{"search is open since 08:00:00Z: 3 failures in a row", `The server alt is not connected since 08:00:00Z ("exit status 1")`, "hub/search", "hub connection"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	if st := c.engine.Status(); st.Consumed != 3 {
		t.Errorf("asking how things are has cost %d failures", st.Consumed-3)
	}
}

// In a pause no tool has a trial.
func TestOwnStatusInAPause(t *testing.T) {
	b := newBench(t, two, twoTools)
	c := b.newClient("s", human{})
	for _, key := range []string{"hub/search", "hub/search", "hub/search", "hub/read", "hub/read", "hub/read"} {
		call(t, c, b.target(t, key), gives(broken))
	}
	got, _, _ := strings.Cut(own(t, c, ownStatus, `{}`).Text, "\n\n")
	if !strings.HasPrefix(got, "PAUSE. ") || strings.Contains(got, "trial:") || !strings.Contains(got, "\nsearch is open since 08:00:00Z: 3 failures in a row. ") {
		t.Error(got)
	}
}

// The tools of a lost server have no trial of their own: the server is told once,
// and of its tools what is declared for them.
func TestOwnStatusOfALostServer(t *testing.T) {
	cfg := two
	cfg.Tools = capability.Map{{Tool: "hub/search", Fallback: "ask the user to search"}}
	b := newBench(t, cfg, twoTools)
	c := b.newClient("s", human{})
	setUp(b.ups[0], false)
	c.serverDown(b.ups[0], errors.New("exit status 1"))
	call(t, c, b.target(t, "hub/search"), never(t))
	got, _, _ := strings.Cut(own(t, c, ownStatus, `{}`).Text, "\n\n")
	want := "The server hub is not connected since 08:00:00Z (\"exit status 1\"); it is being connected anew. Its tools are skipped until then, and called after.\n" +
		"search is unavailable with its server. Declared for this case: ask the user to search."
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestOwnPlanAndReport(t *testing.T) {
	cfg := two
	cfg.Tools = capability.Map{{Tool: "hub/search"}}
	b := newBench(t, cfg, twoTools)
	c := b.newClient("s", human{})
	for range 3 {
		call(t, c, b.target(t, "hub/search"), gives(broken))
	}
	got := own(t, c, ownPlan, `{"task":"Release\u001b[31m","subtasks":[{"id":"1","title":"find the tags","tools":["search"]},`+
		`{"id":"2","title":"write","after":["1"]},{"title":"read","tools":["hub/read","nobody"],"state":"done"}]}`)
	for _, want := range []string{"Not known here, and taken for usable: nobody", "find the tags", "hub/search"} {
		if !strings.Contains(got.Text, want) {
			t.Errorf("%q is missing in\n%s", want, got.Text)
		}
	}
	report := own(t, c, ownReport, `{}`).Text
	for _, want := range []string{"Release", "find the tags", "hub/search"} {
		if !strings.Contains(report, want) {
			t.Errorf("%q is missing in\n%s", want, report)
		}
	}
	if strings.ContainsRune(got.Text+report, 0x1b) {
		t.Error("a terminal escape got through")
	}
}

func TestPlansThatAreRefused(t *testing.T) {
	many := strings.Repeat(`{"title":"x"},`, 201)
	for _, args := range []string{`{}`, `[]`, `null`, `{"subtasks":"x"}`, `{"subtasks":[` + strings.TrimSuffix(many, ",") + `]}`,
		fmt.Sprintf(`{"task":%q,"subtasks":[{"title":"x"}]}`, strings.Repeat("y", maxPlan))} {
		b := newBench(t, two, twoTools)
		c := b.newClient("s", human{})
		if got := own(t, c, ownPlan, args); !got.IsError {
			t.Errorf("%.60s: %s", args, got.Text)
		}
	}
}
