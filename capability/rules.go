package capability

import "github.com/expediter-go/expediter/capability/document"

// ReadRules reads a list of rules as in an entry's `classify`, of whatever
// file. A nil node is no rules. The error is a document.Problems.
func ReadRules(n *document.Node) ([]ClassifyRule, error) {
	if n == nil {
		return nil, nil
	}
	var rules []ClassifyRule
	problems, _ := n.Decode(&rules).(document.Problems)
	for i, r := range rules {
		rule := n.Items()[i]
		if rule.Kind != document.Mapping {
			continue // reported by Decode
		}
		r.check(place{rule: i}, func(at place, what, do string) {
			leaf := rule
			if value := rule.Key(at.key); value != nil && value.Kind == document.Scalar {
				leaf = value
			}
			problems = append(problems, leaf.Problem(what, do))
		})
	}
	if err := problems.Err(); err != nil {
		return nil, err
	}
	return rules, nil
}
