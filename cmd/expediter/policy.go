package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/capability/document"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/internal/task"
)

// policyFile is what a file given to --policy holds.
type policyFile struct {
	policy expediter.Policy
	tools  capability.Map // nil: the file has no map
}

// readPolicyFile reads a map file, a task file, or the section expediter alone.
func readPolicyFile(cmd *cobra.Command, name string) (policyFile, error) {
	data, err := readInput(cmd, name)
	if err != nil {
		return policyFile{}, err
	}
	root, err := document.Parse(name, data)
	if err != nil {
		return policyFile{}, err
	}
	section := root.Key("expediter")
	if section == nil {
		return policyFile{}, document.Problems{root.Problem("the section expediter is missing", "add `expediter:` with the policy, such as `policy: interactive`")}
	}
	m, err := policyMap(name, data, root)
	if err != nil {
		return policyFile{}, err
	}
	named, own, problems := task.ReadPolicy(section, root.Key("capability_map"), m)
	if err := problems.Err(); err != nil {
		return policyFile{}, err
	}
	file := task.File{PolicyName: named, Policy: own}
	policy, err := file.Effective("")
	return policyFile{policy: policy, tools: m}, err
}

func policyMap(name string, data []byte, root *document.Node) (capability.Map, error) {
	switch {
	case root.Key("subtasks") != nil:
		file, err := task.Read(name, data)
		if err != nil {
			return nil, err
		}
		return file.Map, nil
	case root.Key("capability_map") != nil:
		file, err := capability.Read(name, data)
		return file.Map, err
	}
	return nil, nil
}

// policyHint is what to do about a --policy that is no file.
func policyHint(err error) error {
	return fmt.Errorf("--policy: %w; give the name of a policy, or the path of a map or task file", err)
}
