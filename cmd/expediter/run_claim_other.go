//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package main

import "os"

// claim does nothing here: two runs can spoil each other's journal.
func claim(*os.File) error { return nil }
