package classify

import (
	"errors"
	"syscall"

	"github.com/expediter-go/expediter/cascade"
)

// InDoubt reports whether nobody knows if a call was carried out that failed
// with that category and error: it timed out, or its connection was lost. A nil
// err says nothing more than the category.
func InDoubt(category cascade.Category, err error) bool {
	return (category == cascade.Timeout || category == cascade.Network) && !NeverSent(err)
}

// NeverSent knows the errors of a connection that never came about: what was to
// be sent over it was not. It is false for nil and for an error whose methods
// panic, and does not ask for the error's text.
func NeverSent(err error) (never bool) {
	defer func() {
		if recover() != nil {
			never = false
		}
	}()
	if _, ok := dialError(err); ok {
		return true
	}
	return dnsError.in(err) || tlsVerification.in(err) || unknownAuthority.in(err) || errors.Is(err, syscall.ECONNREFUSED)
}

// OfConnection reports whether an error is one of the connection, and not of
// what came over it. It is false for nil.
func OfConnection(err error) bool { return as[netError](err) || isEnd(err) }
