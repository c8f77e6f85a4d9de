//go:build linux || darwin || freebsd || netbsd || openbsd

package settings

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// writable says why no file can be made in a folder.
func writable(dir string) error {
	const write, search = 2, 1
	if err := syscall.Access(dir, write|search); err != nil {
		return readOnly(dir, err)
	}
	return nil
}

// keepOwner gives a new file the owner of the one that it is to replace.
func keepOwner(to *os.File, like fs.FileInfo) error {
	want, ok := like.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	info, err := to.Stat()
	if err != nil {
		return err
	}
	if have := info.Sys().(*syscall.Stat_t); have.Uid == want.Uid && have.Gid == want.Gid {
		return nil
	}
	if err := to.Chown(int(want.Uid), int(want.Gid)); err != nil {
		return fmt.Errorf("the owner cannot be kept: %w; run the command as the owner of the file", err)
	}
	return nil
}

// syncFolder makes a new name last.
func syncFolder(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = toDisk(d) // not every file system can; the file itself is safe
		_ = d.Close()
	}
}
