package main

import (
	"errors"
	"fmt"
	"io/fs"

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
// instead is what to give --policy where there is no such file.
func readPolicyFile(cmd *cobra.Command, name, instead string) (policyFile, error) {
	data, err := readInput(cmd, name)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("--policy: %w; give %s", err, instead)
	}
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
