//go:build !unix

package store

import "io/fs"

const noFollow, noWait = 0, 0

// Folders of a user are private by inheritance where modes are not those of Unix.

func owned(string, fs.FileInfo) error { return nil }

func private(string, fs.FileInfo) error { return nil }

func tighten(string) error { return nil }

func closeToOthers(any) error { return nil }

func syncFolder(string) error { return nil }
