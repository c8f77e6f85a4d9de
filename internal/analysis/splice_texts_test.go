package analysis

import (
	"testing"

	"github.com/expediter-go/expediter/cascade"
)

// A text of an outage is one that classify knows for what it is: else policies
// would be measured by texts that say nothing. One in ten may be misjudged, as
// among real ones; it is told.
func TestFacesAreFailures(t *testing.T) {
	names := map[toolKind]event{
		fileTool:      {tool: "Read", key: "Read"},
		localProgram:  {tool: "Bash", key: "Bash/sed"},
		remoteProgram: {tool: "Bash", key: "Bash/gh"},
		webTool:       {tool: "WebFetch", key: "WebFetch/docs.example.org"},
		serverTool:    {tool: "mcp__tracker__list", key: "mcp__tracker__list"},
		agentTool:     {tool: "Task", key: "Task"},
	}
	texts, misjudged := 0, 0
	for _, f := range allFaces {
		e := names[f.kind]
		if got := kindOf(e.tool, e.key); got != f.kind {
			t.Errorf("%s: got kind %d, want %d", e.key, got, f.kind)
		}
		for _, text := range f.texts {
			texts++
			v := judge(&e, text, 417)
			if v.Outcome != cascade.Failed || v.Category != f.category {
				misjudged++
				t.Logf("%s: %q: got %v, %v by %s, want a failure, %v", e.key, text, v.Outcome, v.Category, v.Rule, f.category)
			}
			if other := judge(&e, text, 981); other.Signature != v.Signature {
				t.Errorf("%q and %q: one face must have one signature", v.Signature, other.Signature)
			}
		}
	}
	if misjudged*10 > texts {
		t.Errorf("%d of %d texts misjudged, want at most one in ten", misjudged, texts)
	}
}
