package capability_test

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/expediter-go/expediter/capability"
)

var hostile = capability.Map{
	{Tool: "a\"] --> x; %%{init}%% `b`", Alternatives: []capability.Alternative{
		{Tool: "</script>&amp;#35;", Degradation: "\x1b[31m|\"\\\n" + strings.Repeat("é", 200), Level: capability.High},
		{Tool: "end", Level: capability.Unknown},
		{Tool: "\\", Degradation: "little"},
	}},
	{Tool: "end", NoSubstitute: true, Alternatives: []capability.Alternative{{Tool: "\\"}}},
}

func TestGraphs(t *testing.T) {
	levels := append(capability.Map{}, seed...)
	levels[0].Alternatives = []capability.Alternative{
		{Tool: "Bash", Degradation: "loses formatting"},
		{Tool: "Read", Degradation: "no broad search", Level: capability.High},
		{Tool: "WebSearch", Degradation: "unknown — test before relying on this route"},
	}
	for name, m := range map[string]capability.Map{"levels": levels, "hostile": hostile, "empty": nil} {
		t.Run(name, func(t *testing.T) {
			var mermaid, dot bytes.Buffer
			if err := m.Mermaid(&mermaid); err != nil {
				t.Fatal(err)
			}
			if err := m.DOT(&dot); err != nil {
				t.Fatal(err)
			}
			golden(t, "testdata/"+name+".mmd", mermaid.Bytes())
			golden(t, "testdata/"+name+".dot", dot.Bytes())
		})
	}
}

func TestGraphReportsWriteErrors(t *testing.T) {
	r, w := io.Pipe()
	r.CloseWithError(os.ErrClosed)
	for name, err := range map[string]error{"Mermaid": seed.Mermaid(w), "DOT": seed.DOT(w), "WriteYAML": seed.WriteYAML(w)} {
		if err == nil {
			t.Errorf("%s: got no error", name)
		}
	}
}
