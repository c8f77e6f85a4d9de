package precheck

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/expediter-go/expediter/capability"
)

// Check answers whether a tool, or what a call is aimed at, is there. A
// non-nil error says that the check itself failed, which is no verdict. It
// should end with its context and may run concurrently with other checks.
type Check func(ctx context.Context) (capability.Score, error)

// All asks checks in order and takes the worst score; it stops at Unavailable.
// A check that fails is passed over, and its error is returned only when no
// other check found anything wrong.
func All(checks ...Check) Check {
	checks = slices.Clone(checks)
	return func(ctx context.Context) (capability.Score, error) {
		worst := capability.Available
		var errs []error
		for _, check := range checks {
			score, err := check(ctx)
			if err != nil {
				errs = append(errs, err)
				continue
			}
			if worst = max(worst, score); worst == capability.Unavailable {
				break
			}
		}
		if worst != capability.Available {
			return worst, nil
		}
		return worst, errors.Join(errs...)
	}
}

// ToolExists finds the tool in the list of those that the agent may use, as in
// a skill's allowed-tools. Names are compared exactly.
func ToolExists(tool string, allowed []string) Check {
	there := slices.Contains(allowed, tool)
	return func(context.Context) (capability.Score, error) { return found(there), nil }
}

// ProgramOnPath finds an executable as exec.Command would: on this process's
// PATH, or where name leads if it holds a slash.
func ProgramOnPath(name string) Check {
	return func(context.Context) (capability.Score, error) {
		_, err := exec.LookPath(name)
		return found(err == nil), nil
	}
}

// FileExists finds a file or folder; a dangling link is none. A path that may
// not be looked at is no verdict.
func FileExists(path string) Check {
	return func(context.Context) (capability.Score, error) {
		_, err := os.Stat(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return capability.Available, err
		}
		return found(err == nil), nil
	}
}

// TCPAnswers connects to host:port and hangs up. Refused, unreachable or a
// name that does not exist is Unavailable; silence until the deadline is no
// verdict.
func TCPAnswers(addr string) Check {
	return func(ctx context.Context) (capability.Score, error) {
		var d net.Dialer
		conn, err := d.DialContext(ctx, "tcp", addr)
		if err != nil {
			return Dialled(err)
		}
		_ = conn.Close() // it answered; nothing was sent
		return capability.Available, nil
	}
}

// HTTPAnswers sends a HEAD request. Any answer is Available, also a redirect
// (not followed) or a refusal, but a 5xx other than 501 is Degraded. A server
// that cannot be connected to is Unavailable, as for TCPAnswers; a broken
// answer or a certificate that does not verify is no verdict.
func HTTPAnswers(url string) Check {
	client := &http.Client{
		// Its own transport without idle connections: nothing is left behind.
		Transport:     &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return func(ctx context.Context) (capability.Score, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodHead, url, nil)
		if err != nil {
			return capability.Available, err
		}
		resp, err := client.Do(req)
		if err != nil {
			return Dialled(err)
		}
		_ = resp.Body.Close() // empty: the request was HEAD
		if resp.StatusCode >= 500 && resp.StatusCode != http.StatusNotImplemented {
			return capability.Degraded, nil
		}
		return capability.Available, nil
	}
}

func found(there bool) capability.Score {
	if there {
		return capability.Available
	}
	return capability.Unavailable
}

// Dialled judges the error of a connection that could not be made, for checks
// that talk to a server: the far end's word is a verdict, trouble on this side
// or silence is none, and the error is handed back. A nil error is none either.
func Dialled(err error) (capability.Score, error) {
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		return capability.Available, err
	}
	var name *net.DNSError
	if errors.As(err, &name) && name.IsNotFound {
		return capability.Unavailable, nil
	}
	var call *os.SyscallError
	if errors.As(err, &call) && strings.HasPrefix(call.Syscall, "connect") {
		return capability.Unavailable, nil
	}
	return capability.Available, err
}
