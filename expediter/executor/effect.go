package executor

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"syscall"

	"github.com/expediter-go/expediter/cascade"
)

// mayHaveTakenEffect reports whether a call of a tool with side effects ended so
// that nobody knows whether it had them: it hung, broke off, or its connection
// was lost. A cancelled call is one of them.
func (e *Executor) mayHaveTakenEffect(tool string, end *ending) bool {
	return e.entry(tool).effects && (end.way != returned || doubtful(end.outcome.Result, end.outcome.Category, end.err, end.cut))
}

// doubtful is mayHaveTakenEffect of a call that came back with err. cut: its
// context had ended.
func doubtful(result cascade.Outcome, category cascade.Category, err error, cut bool) bool {
	switch {
	case neverSent(err):
		return false
	case result == cascade.Ignored:
		return cut
	case result == cascade.Failed:
		return category == cascade.Timeout || category == cascade.Network
	}
	return false
}

// neverSent knows the errors of a connection that never came about: what was to
// be sent over it was not.
func neverSent(err error) (never bool) {
	defer func() {
		if recover() != nil { // methods of err
			never = false
		}
	}()
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
		return true
	}
	_, name := errors.AsType[*net.DNSError](err)
	_, cert := errors.AsType[*tls.CertificateVerificationError](err)
	_, issuer := errors.AsType[x509.UnknownAuthorityError](err)
	return name || cert || issuer || errors.Is(err, syscall.ECONNREFUSED)
}
