package classify

import "reflect"

// The errors of the packages net, net/http, crypto/tls and crypto/x509 are known
// by the names of their types, without importing them: every program that judges
// a text would link them, and with net the C library, and begin that much later.
// A hook judges one text in its whole life.

// netError is net.Error.
type netError interface {
	error
	Timeout() bool
	Temporary() bool
}

// typeName is the package and name of a type of the standard library.
type typeName struct{ pkg, name string }

var (
	operation        = typeName{"net", "OpError"}
	dnsError         = typeName{"net", "DNSError"}
	tlsVerification  = typeName{"crypto/tls", "CertificateVerificationError"}
	unknownAuthority = typeName{"crypto/x509", "UnknownAuthorityError"}
	netClosed        = typeName{"internal/poll", "errNetClosing"} // of net.ErrClosed
	plainText        = typeName{"errors", "errorString"}
)

// serverClosed is what http.ErrServerClosed says.
const serverClosed = "http: Server closed"

// in reports whether an error, or one that it wraps, is of that type or of a
// pointer to it.
func (n typeName) in(err error) bool { return find(err, n.of) != nil }

func (n typeName) of(err error) bool {
	t := reflect.TypeOf(err)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Name() == n.name && t.PkgPath() == n.pkg
}

// find is the first error for which wanted holds, of err and all that it wraps; nil:
// none. Methods As and Is of the errors are not asked.
func find(err error, wanted func(error) bool) error {
	for err != nil {
		if wanted(err) {
			return err
		}
		switch e := err.(type) {
		case interface{ Unwrap() error }:
			err = e.Unwrap()
		case interface{ Unwrap() []error }:
			for _, each := range e.Unwrap() {
				if found := find(each, wanted); found != nil {
					return found
				}
			}
			return nil
		default:
			return nil
		}
	}
	return nil
}

// dialError is the cause of a connection that never came about.
func dialError(err error) (cause error, ok bool) {
	found := find(err, operation.of)
	if found == nil {
		return nil, false
	}
	op := reflect.Indirect(reflect.ValueOf(found))
	cause, _ = op.FieldByName("Err").Interface().(error)
	return cause, op.FieldByName("Op").String() == "dial"
}

// isClosed knows net.ErrClosed and http.ErrServerClosed.
func isClosed(err error) bool {
	return netClosed.in(err) || find(err, func(e error) bool { return plainText.of(e) && e.Error() == serverClosed }) != nil
}
