package capability

import (
	"fmt"

	"github.com/expediter-go/expediter/capability/document"
	"github.com/expediter-go/expediter/expediter/breaker"
)

// File is what a map file holds (SPEC section 13).
type File struct {
	Map       Map
	Expediter *document.Node // the section `expediter:` as written; nil: none
	Warnings  document.Problems
}

// Read reads a capability map from YAML or JSON: `capability_map`, and
// optionally `expediter` with the engine's policy, which it leaves to the
// caller. name is the file's name for messages; the error is a
// document.Problems that lists all that is wrong.
func Read(name string, data []byte) (File, error) {
	root, err := document.Parse(name, data)
	if err != nil {
		return File{}, err
	}
	var top struct {
		Map       *document.Node `json:"capability_map"`
		Expediter *document.Node `json:"expediter"`
	}
	problems, _ := root.Decode(&top).(document.Problems)
	if top.Map == nil && root.Kind == document.Mapping {
		problems = append(problems, root.Problem("capability_map is missing", "add it at the top level"))
	}
	m, found := fromNode(top.Map)
	problems = append(problems, found...)
	if err := problems.Err(); err != nil {
		return File{}, err
	}
	return File{Map: m, Expediter: top.Expediter, Warnings: problems.Warnings()}, nil
}

// FromNode reads the map below a `capability_map` key, of whatever file. A nil
// node is an empty map. The error is a document.Problems.
func FromNode(n *document.Node) (m Map, warnings document.Problems, err error) {
	m, problems := fromNode(n)
	if err := problems.Err(); err != nil {
		return nil, nil, err
	}
	return m, problems.Warnings(), nil
}

func fromNode(n *document.Node) (Map, document.Problems) {
	var m Map
	problems, _ := n.Decode(&m).(document.Problems)
	m.check(func(at place, what, do string) {
		if node := find(n, at); node != nil {
			problems = append(problems, node.Problem(what, do))
		}
	})
	served := m.names()
	for i, e := range m {
		if entry := n.Items()[i]; entry.Kind == document.Mapping {
			problems = append(problems, e.checkFile(entry)...)
			problems = append(problems, e.warnings(entry, served)...)
		}
	}
	return m, problems
}

// names is the set of tools with an entry of their own.
func (m Map) names() map[string]bool {
	names := make(map[string]bool, len(m))
	for _, e := range m {
		names[e.Tool] = true
	}
	return names
}

// find returns the node at a place of the map, or the nearest one around it.
// It is nil where the document holds something of another type there, which
// has been reported.
func find(n *document.Node, at place) *document.Node {
	part := n.Items()[at.entry]
	if at.alternative >= 0 {
		part = part.Key("alternatives").Items()[at.alternative]
	}
	if at.rule >= 0 {
		part = part.Key("classify").Items()[at.rule]
	}
	if part.Kind != document.Mapping {
		return nil
	}
	if leaf := part.Key(at.key); leaf != nil {
		if leaf.Kind == document.Scalar || leaf.Kind == document.Sequence && at.key == "shares" {
			return leaf
		}
		return nil
	}
	return part
}

// checkFile is what a file must have beyond what an engine needs.
func (e Entry) checkFile(n *document.Node) document.Problems {
	var problems document.Problems
	if e.Fallback == "" && !e.NoSubstitute && emptyOrMissing(n.Key("fallback")) {
		problems = append(problems, n.Problem(
			fmt.Sprintf("tool %s has no fallback", document.Quote(e.Tool)),
			"add `fallback:` with what the user is asked to do, or `no_substitute: true` if nothing may stand in"))
	}
	return append(problems, checkPolicy(e.Policy, n.Key("policy"))...)
}

func emptyOrMissing(n *document.Node) bool {
	return n == nil || n.Kind == document.Scalar && n.Text() == ""
}

// checkPolicy looks at an entry's own policy. What depends on values of the
// engine's policy, which are not known here, is left to the engine.
func checkPolicy(p breaker.Policy, n *document.Node) document.Problems {
	if n == nil || n.Kind != document.Mapping {
		return nil
	}
	both := (p.Probe.Every == 0) == (p.Probe.Max == 0) && (p.Trip.MinCalls == 0) == (p.Trip.Window == 0)
	return n.Place(p.Over(breaker.Defaults()).Validate(both))
}

// warnings is what may be a mistake in a file that works.
func (e Entry) warnings(n *document.Node, served map[string]bool) document.Problems {
	var problems document.Problems
	list := n.Key("alternatives")
	if e.NoSubstitute && len(e.Alternatives) > 0 {
		problems = append(problems, list.Warning("the alternatives are never taken, since the tool is marked no_substitute", "remove one of the two"))
	}
	for i, a := range e.Alternatives {
		if _, ok := Nearest(served, a.Tool); ok || a.Tool == "" {
			continue
		}
		at := list.Items()[i].Key("tool")
		problems = append(problems, at.Warning(
			fmt.Sprintf("alternative %s has no entry of its own", document.Quote(a.Tool)),
			"add one, or nothing is known of what to do when it fails"))
	}
	return problems
}
