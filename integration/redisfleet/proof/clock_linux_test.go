package proof

import (
	"syscall"
	"time"
	"unsafe"
)

// monotonic is the machine's own clock, the same for every process on it.
func monotonic() time.Duration {
	const clockMonotonic = 1
	var ts syscall.Timespec
	if _, _, errno := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clockMonotonic, uintptr(unsafe.Pointer(&ts)), 0); errno != 0 {
		panic(errno)
	}
	return time.Duration(ts.Nano())
}
