//go:build !linux

package mcpproxy

import "os/exec"

// startChild starts the command. When the proxy is killed, it sees the end of its
// input, and nothing else.
func startChild(cmd *exec.Cmd) error { return cmd.Start() }
