package classify_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"syscall"
	"testing"

	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/cascade/classify"
)

// leaver is an error whose text ends the goroutine that asks for it.
type leaver struct{}

func (leaver) Error() string { runtime.Goexit(); return "" }

func TestInDoubt(t *testing.T) {
	tests := []struct {
		name     string
		category cascade.Category
		err      error
		want     bool
		never    bool // sent
	}{
		{name: "timeout", category: cascade.Timeout, err: context.DeadlineExceeded, want: true},
		{name: "timeout, no error", category: cascade.Timeout, want: true},
		{name: "connection lost", category: cascade.Network, err: &net.OpError{Op: "read", Err: syscall.ECONNRESET}, want: true},
		{name: "dial", category: cascade.Timeout, err: &net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded}, never: true},
		{name: "refused", category: cascade.Network, err: fmt.Errorf("call: %w", syscall.ECONNREFUSED), never: true},
		{name: "no such host", category: cascade.Network, err: &net.DNSError{Err: "no such host"}, never: true},
		{name: "certificate", category: cascade.Network, err: &tls.CertificateVerificationError{Err: errors.New("x")}, never: true},
		{name: "authority", category: cascade.Network, err: x509.UnknownAuthorityError{}, never: true},
		{name: "another category", category: cascade.Upstream, err: errors.New("status 503")},
		{name: "leaves when read", category: cascade.Network, err: leaver{}, want: true},
		{name: "unreadable", category: cascade.Network, err: (*net.OpError)(nil), want: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := classify.InDoubt(tt.category, tt.err); got != tt.want {
				t.Errorf("in doubt: got %v, want %v", got, tt.want)
			}
			if got := classify.NeverSent(tt.err); got != tt.never {
				t.Errorf("never sent: got %v, want %v", got, tt.never)
			}
		})
	}
}

func TestOfConnection(t *testing.T) {
	noJSON := json.Unmarshal([]byte("<html>"), new(any))
	for _, tt := range []struct {
		name string
		err  error
		want bool
	}{
		{"reset", &net.OpError{Op: "read", Err: syscall.ECONNRESET}, true},
		{"timeout", fmt.Errorf("call: %w", os.ErrDeadlineExceeded), true},
		{"cut off", fmt.Errorf("call: %w", io.ErrUnexpectedEOF), true},
		{"no answer", io.EOF, true},
		{"no JSON", noJSON, false},
		{"a missing file", os.ErrNotExist, false},
		{"none", nil, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := classify.OfConnection(tt.err); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}
