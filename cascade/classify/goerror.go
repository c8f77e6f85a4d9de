package classify

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"syscall"
)

// goRule is one row of the table of Go errors.
type goRule struct {
	name  string
	class class // unknown: that of errnoRules
	is    func(error) bool
}

// goRules is asked in this order; the first that holds decides.
var goRules = []goRule{
	// The caller's own cancellation never gets here: byContext has it.
	{"go:upstream-cancel", upstream, target(context.Canceled)},
	{"go:timeout", timeout, isTimeout},
	{"go:dns", network, dnsError.in},
	{"go:dial-missing-socket", network, isMissingSocket},
	{"go:x509-authority", network, unknownAuthority.in},
	{"go:x509-host", network, typeName{"crypto/x509", "HostnameError"}.in},
	{"go:x509-invalid", network, typeName{"crypto/x509", "CertificateInvalidError"}.in},
	{"go:tls-verify", network, tlsVerification.in},
	{"go:tls-record", network, typeName{"crypto/tls", "RecordHeaderError"}.in},
	{"go:exec-not-found", toolMissing, isMissingProgram},
	{"go:errno", unknown, as[syscall.Errno]},
	{"go:fs-permission", permission, target(fs.ErrPermission)},
	{"go:fs-not-exist", invalidInput, target(fs.ErrNotExist)},
	{"go:fs-exist", invalidInput, target(fs.ErrExist)},
	{"go:eof", network, isEnd},
	// An answer that is no JSON is mostly an error page; one of another shape
	// is mostly a wrong argument sent back.
	{"go:json-syntax", upstream, as[*json.SyntaxError]},
	{"go:json-type", invalidInput, as[*json.UnmarshalTypeError]},
}

// errnoRule is one row of the table of error numbers.
type errnoRule struct {
	errno syscall.Errno
	name  string
	class class
}

var errnoRules = []errnoRule{
	{syscall.ECONNREFUSED, "ECONNREFUSED", network},
	{syscall.ECONNRESET, "ECONNRESET", network},
	{syscall.ECONNABORTED, "ECONNABORTED", network},
	{syscall.EPIPE, "EPIPE", network},
	{syscall.ENOTCONN, "ENOTCONN", network},
	{syscall.EHOSTUNREACH, "EHOSTUNREACH", network},
	{syscall.ENETUNREACH, "ENETUNREACH", network},
	{syscall.ENETDOWN, "ENETDOWN", network},
	{syscall.EHOSTDOWN, "EHOSTDOWN", network},
	{syscall.ETIMEDOUT, "ETIMEDOUT", timeout},
	{syscall.EADDRINUSE, "EADDRINUSE", resource},
	{syscall.EADDRNOTAVAIL, "EADDRNOTAVAIL", resource},
	{syscall.ENOSPC, "ENOSPC", filesystem},
	{syscall.EDQUOT, "EDQUOT", filesystem},
	{syscall.EROFS, "EROFS", filesystem},
	{syscall.EIO, "EIO", filesystem},
	{syscall.ESTALE, "ESTALE", filesystem},
	{syscall.ENODEV, "ENODEV", filesystem},
	{syscall.EMFILE, "EMFILE", filesystem},
	{syscall.ENFILE, "ENFILE", filesystem},
	{syscall.EACCES, "EACCES", permission},
	{syscall.EPERM, "EPERM", permission},
	{syscall.ENOMEM, "ENOMEM", resource},
	{syscall.EAGAIN, "EAGAIN", resource},
	{syscall.E2BIG, "E2BIG", invalidInput},
	{syscall.ETXTBSY, "ETXTBSY", resource},
	{syscall.EBUSY, "EBUSY", resource},
	{syscall.ENOEXEC, "ENOEXEC", resource},
	{syscall.EINTR, "EINTR", none},
	{syscall.ECANCELED, "ECANCELED", cancelled},
	{syscall.ENOENT, "ENOENT", invalidInput},
	{syscall.ENOTDIR, "ENOTDIR", invalidInput},
	{syscall.EISDIR, "EISDIR", invalidInput},
	{syscall.EEXIST, "EEXIST", invalidInput},
	{syscall.ENOTEMPTY, "ENOTEMPTY", invalidInput},
	{syscall.EINVAL, "EINVAL", invalidInput},
	{syscall.ENAMETOOLONG, "ENAMETOOLONG", invalidInput},
	{syscall.ELOOP, "ELOOP", invalidInput},
	{syscall.EXDEV, "EXDEV", invalidInput},
	{syscall.EFBIG, "EFBIG", invalidInput},
}

// byError asks what the Go error is, wherever it is wrapped.
func (e *evidence) byError() (class, string, bool) {
	if e.Err == nil {
		return 0, "", false
	}
	for _, r := range goRules {
		if !r.is(e.Err) {
			continue
		}
		if r.class != unknown {
			return r.class, r.name, true
		}
		if c, name, ok := byErrno(e.Err); ok {
			return c, name, true
		}
	}
	var answer interface{ StatusCode() int }
	if e.HTTPStatus == 0 && errors.As(e.Err, &answer) {
		e.HTTPStatus = answer.StatusCode()
	}
	return 0, "", false
}

func byErrno(err error) (class, string, bool) {
	errno, ok := errors.AsType[syscall.Errno](err)
	if !ok {
		return 0, "", false
	}
	for _, r := range errnoRules {
		if r.errno == errno {
			return r.class, "errno:" + r.name, true
		}
	}
	return 0, "", false
}

// isTimeout leaves EAGAIN alone, which calls itself a timeout.
func isTimeout(err error) bool {
	if errors.Is(err, syscall.EAGAIN) {
		return false
	}
	late, ok := errors.AsType[netError](err)
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) || ok && late.Timeout()
}

// isMissingProgram knows that a missing absolute path is a PathError of the
// fork, not an exec.ErrNotFound.
func isMissingProgram(err error) bool {
	if fork, ok := errors.AsType[*fs.PathError](err); ok && fork.Op == "fork/exec" {
		return errors.Is(fork.Err, fs.ErrNotExist)
	}
	return errors.Is(err, exec.ErrNotFound) || as[*exec.Error](err) && !errors.Is(err, fs.ErrPermission)
}

// isMissingSocket: a daemon that does not run has no socket; no file that the
// caller asked for is missing.
func isMissingSocket(err error) bool {
	cause, ok := dialError(err)
	return ok && errors.Is(cause, fs.ErrNotExist)
}

func isEnd(err error) bool {
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe) || isClosed(err)
}

func as[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

func target(want error) func(error) bool {
	return func(err error) bool { return errors.Is(err, want) }
}

// errUnreadable stands in for an error that panics when it is read, such as a
// nil pointer in the interface.
var errUnreadable = errors.New("an error that cannot be read")

// readable is err, or errUnreadable: judging a call must not end it.
func readable(err error) (sound error) {
	defer func() {
		if recover() != nil {
			sound = errUnreadable
		}
	}()
	if err != nil {
		_ = err.Error()
		errors.Is(err, errUnreadable) // walks the whole chain
	}
	return err
}

// errorText is what an error says, and what a program that ended with it wrote
// to its standard error where that was kept.
func errorText(err error) string {
	text := err.Error()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		text = join(text, ends(string(exit.Stderr)))
	}
	return text
}
