package capability

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/expediter-go/expediter/capability/document"
)

// untested is the degradation of a route that nobody has tried.
const untested = "unknown — test before relying on this route"

// maxSkillTools bounds the tools of one skill: a map of more would be too large
// to read back.
const maxSkillTools = 10_000

// FromSkill makes a starting map of the tools that a skill file (SKILL.md)
// allows: the key `allowed-tools` of its front matter, at the top level or
// under `metadata`, as a list or as one text such as `Read Write Bash(git:*)`.
// Alternatives are guesses, only from the tools of the same list, and say so.
// name is the file's name for messages; the error is a document.Problems.
func FromSkill(name string, data []byte) (Map, error) {
	front, problem := frontMatter(name, data)
	if problem != nil {
		return nil, document.Problems{*problem}
	}
	root, err := document.Parse(name, front)
	if err != nil {
		return nil, err
	}
	var keys map[string]*document.Node // to hear of repeated ones
	if err := root.Decode(&keys); err != nil {
		return nil, err
	}
	list := root.Key("allowed-tools")
	if list == nil {
		list = root.Key("metadata").Key("allowed-tools")
	}
	if list == nil {
		return nil, document.Problems{root.Problem("the front matter has no allowed-tools", "add them, such as `allowed-tools: Read Write Bash`")}
	}
	tools, problems := allowed(list)
	if err := problems.Err(); err != nil {
		return nil, err
	}
	return starting(tools), nil
}

// frontMatter returns what stands between the two `---` lines at the head of a
// file, on the lines where it stands.
func frontMatter(name string, data []byte) ([]byte, *document.Problem) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	first, rest, _ := bytes.Cut(data, []byte("\n"))
	if string(bytes.TrimRight(first, " \t\r")) != "---" {
		return nil, &document.Problem{File: name, Line: 1, Column: 1, What: "the file has no front matter", Do: "begin it with a line --- , then `allowed-tools: …`, then another line ---"}
	}
	for offset := 0; offset < len(rest); {
		end := bytes.IndexByte(rest[offset:], '\n')
		if end < 0 {
			end = len(rest) - offset
		}
		if string(bytes.TrimRight(rest[offset:offset+end], " \t\r")) == "---" {
			return append([]byte("\n"), rest[:offset]...), nil
		}
		offset += end + 1
	}
	return nil, &document.Problem{File: name, Line: 1, Column: 1, What: "the front matter has no end", Do: "close it with a line ---"}
}

// allowed returns the names of a list of tools, each once. What a tool is
// allowed for, in parentheses, is left out.
func allowed(list *document.Node) ([]string, document.Problems) {
	var names []string
	var problems document.Problems
	items := list.Items()
	if list.Kind == document.Scalar {
		items = []*document.Node{list}
	} else if list.Kind != document.Sequence {
		problems = append(problems, list.Problem("allowed-tools is "+list.Kind.String(), "write a list of tool names"))
	}
	seen := map[string]bool{}
	for _, item := range items {
		if item.Kind != document.Scalar {
			problems = append(problems, item.Problem("an allowed tool is "+item.Kind.String(), "write its name"))
			continue
		}
		found, ok := split(item.Text())
		if !ok {
			problems = append(problems, item.Problem("unbalanced parentheses in "+document.Quote(item.Text()), "close each ( with a )"))
		}
		for _, tool := range found {
			if !seen[tool] {
				seen[tool] = true
				names = append(names, tool)
				checkName(place{}, tool, func(_ place, what, do string) { problems = append(problems, item.Problem(what, do)) })
			}
		}
	}
	if len(names) > maxSkillTools {
		problems = append(problems, list.Problem(fmt.Sprintf("allowed-tools names %d tools", len(names)), fmt.Sprintf("keep at most %d", maxSkillTools)))
	}
	if len(names) == 0 && len(problems) == 0 {
		problems = append(problems, list.Problem("allowed-tools names no tool", "add the tools that the skill uses"))
	}
	return names, problems
}

// split cuts at spaces and commas outside parentheses, and drops what stands
// in parentheses.
func split(text string) (names []string, balanced bool) {
	var name strings.Builder
	depth := 0
	flush := func() {
		if name.Len() > 0 {
			names = append(names, name.String())
			name.Reset()
		}
	}
	for _, r := range text {
		switch {
		case r == '(':
			depth++
		case r == ')':
			if depth--; depth < 0 {
				return names, false
			}
		case depth > 0:
		case r == ',' || r == ' ' || r == '\t' || r == '\n' || r == '\r':
			flush()
		default:
			name.WriteRune(r)
		}
	}
	flush()
	return names, depth == 0
}

// starting is the map of tools of which only the names are known.
func starting(tools []string) Map {
	m := make(Map, 0, len(tools))
	for _, tool := range tools {
		known := wellKnown[tool]
		e := Entry{Tool: tool, Provides: known.provides, Fallback: known.fallback}
		if e.Provides == "" {
			e.Provides = "to be described in one line"
		}
		if e.Fallback == "" {
			e.Fallback = fmt.Sprintf("report what %s was needed for; ask the user to do it", tool)
		}
		for _, a := range known.alternatives {
			if slices.Contains(tools, a.Tool) {
				a.Degradation = untested
				e.Alternatives = append(e.Alternatives, a)
			}
		}
		m = append(m, e)
	}
	return m
}

// wellKnown is what is commonly known of the tools of coding agents.
var wellKnown = map[string]struct {
	provides, fallback string
	alternatives       []Alternative
}{
	"Grep": {"content search across files", "ask the user which files to examine", []Alternative{
		{Tool: "Bash", Method: "rg or grep command"}, {Tool: "Read", Method: "read suspected files directly"}}},
	"Glob": {"file search by name pattern", "ask the user for the paths", []Alternative{
		{Tool: "Bash", Method: "find or ls command"}}},
	"LS": {"directory listing", "ask the user what the directory holds", []Alternative{
		{Tool: "Glob", Method: "match the directory's files"}, {Tool: "Bash", Method: "ls command"}}},
	"Bash": {"command execution, build tools, git operations", "report commands that need to be run manually", nil},
	"Read": {"file content inspection", "ask the user to paste file contents", []Alternative{
		{Tool: "Bash", Method: "cat or head command"}}},
	"Write": {"file creation", "output file contents for the user to save manually", []Alternative{
		{Tool: "Edit", Method: "create via full-file edit"}, {Tool: "Bash", Method: "echo/cat heredoc"}}},
	"Edit": {"changes within a file", "output the change for the user to apply manually", []Alternative{
		{Tool: "Write", Method: "write the whole file anew"}, {Tool: "Bash", Method: "sed or patch command"}}},
	"MultiEdit": {"several changes within a file", "output the changes for the user to apply manually", []Alternative{
		{Tool: "Edit", Method: "make the changes one by one"}, {Tool: "Write", Method: "write the whole file anew"}}},
	"NotebookEdit": {"changes to notebook cells", "output the cells for the user to change manually", nil},
	"WebSearch":    {"external information retrieval", "state what information is needed; ask user to provide it", nil},
	"WebFetch": {"retrieval of one web page", "ask the user to paste the page's contents", []Alternative{
		{Tool: "Bash", Method: "curl command"}}},
}
