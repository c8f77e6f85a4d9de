//go:build !unix

package mcpproxy

import (
	"io"
	"os"
	"os/exec"
)

// Elsewhere only the command itself is ended, not what it started.

func ownGroup(*exec.Cmd) {}

func endGroup(p *os.Process) error { return p.Kill() }

func killGroup(p *os.Process) { _ = p.Kill() }

const wholePipeWrite = 0

func tryWrite(io.Writer, []byte) bool { return false }
