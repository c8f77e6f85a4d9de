package classify

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"reflect"
	"syscall"
	"testing"
	"time"
)

// goExamples are an error for each rule but that of error numbers.
var goExamples = map[string]error{
	"go:upstream-cancel":     context.Canceled,
	"go:timeout":             os.ErrDeadlineExceeded,
	"go:dns":                 &net.DNSError{Err: "no such host", Name: "nope.invalid", IsNotFound: true},
	"go:dial-missing-socket": &net.OpError{Op: "dial", Net: "unix", Err: os.NewSyscallError("connect", syscall.ENOENT)},
	"go:x509-authority":      x509.UnknownAuthorityError{},
	"go:x509-host":           x509.HostnameError{Certificate: &x509.Certificate{}, Host: "h"},
	"go:x509-invalid":        x509.CertificateInvalidError{Reason: x509.Expired},
	"go:tls-verify":          &tls.CertificateVerificationError{Err: errors.New("x")},
	"go:tls-record":          tls.RecordHeaderError{Msg: "first record does not look like a TLS handshake"},
	"go:exec-not-found":      &exec.Error{Name: "rg", Err: exec.ErrNotFound},
	"go:fs-permission":       fs.ErrPermission,
	"go:fs-not-exist":        fs.ErrNotExist,
	"go:fs-exist":            fs.ErrExist,
	"go:eof":                 io.ErrUnexpectedEOF,
	"go:json-syntax":         &json.SyntaxError{},
	"go:json-type":           &json.UnmarshalTypeError{Value: "string", Type: reflect.TypeFor[int]()},
}

func TestGoErrorRulesDecideTheirExamples(t *testing.T) {
	for _, r := range goRules {
		example := goExamples[r.name]
		if example == nil && r.class != unknown {
			t.Errorf("%s has no example", r.name)
		}
		if example == nil {
			continue
		}
		for _, err := range []error{example, fmt.Errorf("a call: %w", example), errors.Join(errors.New("x"), example)} {
			if got := FromError(err, nil); got.Class != r.class.String() || got.Rule != r.name {
				t.Errorf("%s: got %s by %s of %v, want %s", r.name, got.Class, got.Rule, err, r.class)
			}
		}
	}
}

// The types of packages that are not imported are known by their names: they
// must be those that these packages use.
func TestNetworkTypesByName(t *testing.T) {
	_, ok := dialError(fmt.Errorf("a call: %w", &net.OpError{Op: "dial", Err: os.ErrNotExist}))
	_, read := dialError(&net.OpError{Op: "read", Err: os.ErrNotExist})
	_, none := dialError(errors.New("x"))
	if !ok || read || none {
		t.Errorf("dial %v, read %v, another error %v; want only the first", ok, read, none)
	}
	for _, err := range []error{net.ErrClosed, http.ErrServerClosed} {
		if !isEnd(fmt.Errorf("a call: %w", err)) || !OfConnection(err) {
			t.Errorf("%v is no end of a connection", err)
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener.Close()
	if _, err := listener.Accept(); !isEnd(err) {
		t.Errorf("%v is no end of a connection", err)
	}
	_, err = net.Dial("tcp", listener.Addr().String())
	if !NeverSent(err) || FromError(err, nil).Class != "network" {
		t.Errorf("%v: never sent %v, class %s", err, NeverSent(err), FromError(err, nil).Class)
	}
	for _, never := range []error{&net.DNSError{}, &tls.CertificateVerificationError{}, x509.UnknownAuthorityError{}} {
		if !NeverSent(never) {
			t.Errorf("%T may have been sent", never)
		}
	}
	var timeout net.Error = &net.DNSError{IsTimeout: true}
	if _, ok := errors.AsType[netError](timeout); !ok || !isTimeout(timeout) {
		t.Error("a net.Error is none by our words")
	}
}

// Every date that net/http reads is read.
func TestHTTPDates(t *testing.T) {
	at := time.Date(2026, 8, 1, 9, 0, 0, 0, time.UTC)
	for _, layout := range []string{http.TimeFormat, time.RFC850, time.ANSIC} {
		text := at.Add(time.Minute).Format(layout)
		if _, err := http.ParseTime(text); err != nil {
			t.Fatal(err)
		}
		if got := until(text, at); got != time.Minute {
			t.Errorf("%s: got %v, want a minute", text, got)
		}
	}
}
