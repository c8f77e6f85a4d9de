package capability_test

import (
	"fmt"
	"os"
	"strings"

	"github.com/expediter-go/expediter/capability"
)

func ExampleRead() {
	f, err := capability.Read("map.yaml", []byte(`
capability_map:
  - tool: Grep
    provides: content search across files
    alternatives:
      - tool: Bash
        method: "rg or grep command"
        degradation: "loses output formatting"
    fallback: "ask the user which files to examine"
  - tool: Bash
    provides: command execution
    fallback: "report commands that need to be run manually"
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("tools:", strings.Join(f.Map.Mentioned(), ", "))
	fmt.Println("critical:", strings.Join(f.Map.Critical(), ", "))

	_, err = capability.Read("map.yaml", []byte("capability_map:\n  - tol: Grep\n"))
	fmt.Println(err)
	// Output:
	// tools: Grep, Bash
	// critical: Bash
	// map.yaml:2:5: unknown key "tol"; did you mean "tool"?
	// map.yaml:2:5: the tool's name is missing; add `tool:` with the name that the agent calls
	// map.yaml:2:5: tool "" has no fallback; add `fallback:` with what the user is asked to do, or `no_substitute: true` if nothing may stand in
}

func ExampleMap_Mermaid() {
	m := capability.Map{
		{Tool: "Grep", Fallback: "ask", Alternatives: []capability.Alternative{
			{Tool: "Read", Degradation: "no broad search", Level: capability.High}}},
		{Tool: "Read", Fallback: "ask"},
	}
	if err := m.Mermaid(os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// flowchart LR
	//   t0["Grep"]
	//   t1[["Read<br>critical"]]:::critical
	//   t0 -->|"high: no broad search"| t1
	//   linkStyle 0 stroke-dasharray:8 5
	//   classDef critical stroke-width:3px
}

func ExampleFromSkill() {
	m, err := capability.FromSkill("SKILL.md", []byte("---\nname: search\nallowed-tools: Read Bash(cat:*)\n---\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := m.WriteYAML(os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// capability_map:
	//   - tool: Read
	//     provides: file content inspection
	//     alternatives:
	//       - tool: Bash
	//         method: "cat or head command"
	//         degradation: "unknown — test before relying on this route"
	//     fallback: "ask the user to paste file contents"
	//
	//   - tool: Bash
	//     provides: command execution, build tools, git operations
	//     alternatives: []
	//     fallback: "report commands that need to be run manually"
}
