package task

import (
	"cmp"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/capability/document"
	"github.com/expediter-go/expediter/expediter"
)

// ReadPolicy reads the section `expediter` of a task or map file, and holds it,
// and over it the policies of m, against their bounds. named is the policy that
// the section names, own what it sets by itself; entries is the node of m. A nil
// section is one that sets nothing.
func ReadPolicy(section, entries *document.Node, m capability.Map) (named string, own expediter.Policy, problems document.Problems) {
	var raw struct {
		Named string `json:"policy"`
		expediter.Policy
	}
	if problems, bad := section.Decode(&raw).(document.Problems); bad {
		return "", expediter.Policy{}, problems
	}
	base, err := expediter.PolicyNamed(cmp.Or(raw.Named, defaultPolicy))
	if err != nil {
		return "", expediter.Policy{}, section.Key("policy").Place(err)
	}
	effective := raw.Policy.Over(base)
	problems = section.Place(effective.Validate(true))
	if len(problems) > 0 {
		return "", expediter.Policy{}, problems
	}
	for i, e := range m {
		problems = append(problems, entries.Items()[i].Key("policy").Place(e.Policy.Over(effective.Policy).Validate(true))...)
	}
	return raw.Named, raw.Policy, problems
}

// defaultPolicy is the policy of a file that names none.
const defaultPolicy = "faithful"
