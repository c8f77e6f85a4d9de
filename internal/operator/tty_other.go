//go:build !windows

package operator

const controllingTerminal = "/dev/tty"
