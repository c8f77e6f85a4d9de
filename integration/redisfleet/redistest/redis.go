// Package redistest starts a real redis-server for a test: its own, on a free
// port of the loopback interface, with nothing on disk.
package redistest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// Server is a redis-server that belongs to one test.
type Server struct {
	Addr string // host:port
	tb   testing.TB
	args []string
	cmd  *exec.Cmd
}

// Start starts a redis-server that ends with the test. Where there is none, the
// test is skipped, or with CI=true fails. args are further arguments, such as
// "--maxmemory", "2mb".
func Start(tb testing.TB, args ...string) *Server {
	tb.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		if os.Getenv("CI") == "true" {
			tb.Fatal("no redis-server; install the package redis-server")
		}
		tb.Skip("no redis-server; install the package redis-server to run this test")
	}
	s := &Server{Addr: freeAddr(tb), tb: tb, args: args}
	s.Restart()
	tb.Cleanup(s.Kill)
	return s
}

// freeAddr finds a port that nobody listens on.
func freeAddr(tb testing.TB) string {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// Restart starts the server anew on the same address, empty.
func (s *Server) Restart() {
	s.tb.Helper()
	s.Kill()
	_, port, _ := net.SplitHostPort(s.Addr)
	args := append([]string{"--bind", "127.0.0.1", "--port", port, "--save", "", "--appendonly", "no",
		"--dir", s.tb.TempDir(), "--daemonize", "no"}, s.args...)
	s.cmd = exec.Command("redis-server", args...)
	var out strings.Builder
	s.cmd.Stdout, s.cmd.Stderr = &out, &out
	if err := s.cmd.Start(); err != nil {
		s.tb.Fatal(err)
	}
	if err := s.await(); err != nil {
		s.Kill()
		s.tb.Fatalf("redis-server: %v\n%s", err, out.String())
	}
}

// await waits until the server answers.
func (s *Server) await() error {
	client := redis.NewClient(&redis.Options{Addr: s.Addr, MaxRetries: -1})
	defer func() { _ = client.Close() }()
	var err error
	for range 500 {
		err = client.Ping(context.Background()).Err()
		if reply := redis.Error(nil); err == nil || errors.As(err, &reply) { // one that wants a password answers too
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return fmt.Errorf("it does not answer: %w", err)
}

// Kill kills the server, if it runs.
func (s *Server) Kill() {
	if s.cmd == nil {
		return
	}
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
	s.cmd = nil
}

// PID is the process of the server, to stop and continue it.
func (s *Server) PID() int { return s.cmd.Process.Pid }

// Client connects to the server; it is closed with the test.
func (s *Server) Client() *redis.Client {
	c := redis.NewClient(&redis.Options{Addr: s.Addr, ContextTimeoutEnabled: true, MaxRetries: -1})
	s.tb.Cleanup(func() { _ = c.Close() })
	return c
}
