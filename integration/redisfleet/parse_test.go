package redisfleet_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/expediter-go/expediter/integration/redisfleet"
)

// where says what a client would connect to.
func where(c redis.UniversalClient) map[string]any {
	switch c := c.(type) {
	case *redis.Client:
		o := c.Options()
		return map[string]any{"client": "single", "addr": o.Addr, "user": o.Username, "password": o.Password, "db": o.DB, "tls": o.TLSConfig != nil}
	case *redis.ClusterClient:
		o := c.Options()
		return map[string]any{"client": "cluster", "addrs": o.Addrs, "user": o.Username, "password": o.Password, "tls": o.TLSConfig != nil}
	}
	return nil
}

func TestParse(t *testing.T) {
	t.Parallel()
	single := func(addr, user, password string, db int, tls bool) map[string]any {
		return map[string]any{"client": "single", "addr": addr, "user": user, "password": password, "db": db, "tls": tls}
	}
	cluster := func(tls bool, addrs ...string) map[string]any {
		return map[string]any{"client": "cluster", "addrs": addrs, "user": "u", "password": "p:w", "tls": tls}
	}
	tests := []struct {
		name, url string
		client    map[string]any
		options   redisfleet.Options
	}{
		{"least", "redis://localhost", single("localhost:6379", "", "", 0, false), redisfleet.Options{}},
		{"all", "redis://u:p%3Aw@h:7000/3?scope=team/p&prefix=x:&member=m1&budget=shared&lease=2s&timeout=300ms",
			single("h:7000", "u", "p:w", 3, false),
			redisfleet.Options{Scope: "team/p", Prefix: "x:", Member: "m1", SharedBudget: true, LeaseTTL: 2 * time.Second, Timeout: 300 * time.Millisecond}},
		{"tls", "rediss://h", single("h:6379", "", "", 0, true), redisfleet.Options{}},
		{"tls by an address", "rediss://[::1]:6380/", single("[::1]:6380", "", "", 0, true), redisfleet.Options{}},
		{"address without port", "redis://[2001:db8::1]", single("[2001:db8::1]:6379", "", "", 0, false), redisfleet.Options{}},
		{"sentinels", "redis://u:p%3Aw@a,b:9/1?sentinel=main", single("FailoverClient", "u", "p:w", 1, false), redisfleet.Options{}},
		{"cluster of several", "redis://u:p%3Aw@a:1,b:2", cluster(false, "a:1", "b:2"), redisfleet.Options{}},
		{"cluster by one", "rediss://u:p%3Aw@a?cluster=true", cluster(true, "a:6379"), redisfleet.Options{}},
		{"socket", "unix:///run/redis.sock?scope=s", single("/run/redis.sock", "", "", 0, false), redisfleet.Options{Scope: "s"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			client, o, err := redisfleet.Parse(tt.url)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = client.Close() }()
			if diff := cmp.Diff(tt.client, where(client)); diff != "" {
				t.Errorf("client (-want +got):\n%s", diff)
			}
			same := o.Scope == tt.options.Scope && o.Prefix == tt.options.Prefix && o.Member == tt.options.Member &&
				o.SharedBudget == tt.options.SharedBudget && o.LeaseTTL == tt.options.LeaseTTL && o.Timeout == tt.options.Timeout
			if !same {
				t.Errorf("options: got %+v, want %+v", o, tt.options)
			}
		})
	}
}

func TestParse_Refuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, url string
		says      []string
	}{
		{"nothing", "", []string{"scheme"}},
		{"no URL", "redis://%zz", []string{"not a URL"}},
		{"no slashes", "redis:localhost", []string{"not a URL"}},
		{"another scheme", "http://h", []string{"scheme \"http\""}},
		{"no host", "redis:///0", []string{"no host"}},
		{"an empty host among others", "redis://a,,b", []string{"no host"}},
		{"a port too large", "redis://a:70000,b:1", []string{"1 to 65535"}},
		{"database", "redis://h/x", []string{"database \"x\""}},
		{"database of a cluster", "redis://a,b/2", []string{"no databases"}},
		{"sentinel and cluster", "redis://a?sentinel=m&cluster=true", []string{"exclude"}},
		{"socket without a path", "unix://x", []string{"three slashes"}},
		{"everything at once", "redis://h/x?scpoe=a&lease=soon&budget=own&timeout=1h&scope=a&scope=b",
			[]string{"scpoe", "lease=\"soon\"", "budget=\"own\"", "timeout 1h", "scope is there 2 times", "database"}},
		{"a braced prefix", "redis://h?prefix={x}", []string{"without braces"}},
		{"a scope with control characters", "redis://h?scope=a%0ab", []string{"printable"}},
		{"a member with spaces", "redis://h?member=a+b", []string{"member"}},
		{"a member too long", "redis://h?member=" + strings.Repeat("m", 65), []string{"member"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			url := strings.Replace(tt.url, "redis://", "redis://me:hunter2@", 1)
			_, _, err := redisfleet.Parse(url)
			if err == nil {
				t.Fatalf("%s: no error", url)
			}
			for _, want := range tt.says {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("got %q, want it to say %q", err, want)
				}
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error has the password: %q", err)
			}
		})
	}
}
