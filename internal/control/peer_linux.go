package control

import (
	"net"
	"os"
	"syscall"
)

// sameUser reports whether this user is at the other end; root may be, too.
func sameUser(c *net.UnixConn) bool {
	raw, err := c.SyscallConn()
	if err != nil {
		return false
	}
	var peer *syscall.Ucred
	if e := raw.Control(func(fd uintptr) {
		peer, err = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	}); e != nil || err != nil {
		return false
	}
	return peer.Uid == 0 || int64(peer.Uid) == int64(os.Geteuid())
}
