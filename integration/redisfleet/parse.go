package redisfleet

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// parameters are what the query of a fleet's URL may say.
var parameters = []string{"scope", "prefix", "member", "sentinel", "cluster", "budget", "lease", "timeout"}

// Parse reads where a fleet is, as a flag gives it:
//
//	redis://[user:password@]host[:port][,host[:port]…][/database][?parameters]
//	rediss://…              the same over TLS
//	unix:///path/to/socket[?parameters]
//
// The parameters: scope, prefix, member; sentinel (the master's name: the hosts are
// sentinels), cluster=true (several hosts are a Cluster anyway), budget=shared,
// lease and timeout (such as 5s). It connects to nothing. The caller closes the
// client. An error names everything that is wrong, and never the password.
// Sentinels with a password of their own, certificates of clients and the like
// need a client that a program makes itself.
func Parse(text string) (redis.UniversalClient, Options, error) {
	u, err := url.Parse(text)
	if err != nil || u.Opaque != "" {
		return nil, Options{}, errors.New("fleet: not a URL; give one like redis://host:6379/0?scope=team")
	}
	var errs []error
	o, err := parseOptions(u.Query())
	errs = append(errs, err)
	to, err := parseServers(u)
	errs = append(errs, err)
	if _, err := o.filled(); err != nil {
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, Options{}, fmt.Errorf("fleet: %w", err)
	}
	to.DialTimeout = o.Timeout // zero: the client's own
	if u.Scheme == "unix" {
		single := to.Simple()
		single.Network, single.Addr = "unix", u.Path
		return redis.NewClient(single), o, nil
	}
	if u.Query().Get("cluster") == "true" {
		return redis.NewClusterClient(to.Cluster()), o, nil
	}
	return redis.NewUniversalClient(to), o, nil
}

// parseOptions reads the query.
func parseOptions(q url.Values) (Options, error) {
	var errs []error
	for name, values := range q {
		if !slices.Contains(parameters, name) {
			errs = append(errs, fmt.Errorf("parameter %.40q is not known; there are %s", name, strings.Join(parameters, ", ")))
		} else if len(values) > 1 {
			errs = append(errs, fmt.Errorf("parameter %s is there %d times", name, len(values)))
		}
	}
	word := func(name, on string) bool {
		if v := q.Get(name); v != "" && v != on {
			errs = append(errs, fmt.Errorf("%s=%.40q: only %s=%s is possible", name, v, name, on))
		}
		return q.Get(name) == on
	}
	span := func(name string) time.Duration {
		if q.Get(name) == "" {
			return 0
		}
		d, err := time.ParseDuration(q.Get(name))
		if err != nil {
			errs = append(errs, fmt.Errorf("%s=%.40q: give a duration such as 5s", name, q.Get(name)))
		}
		return d
	}
	word("cluster", "true")
	o := Options{Scope: q.Get("scope"), Prefix: q.Get("prefix"), Member: q.Get("member"),
		SharedBudget: word("budget", "shared"), LeaseTTL: span("lease"), Timeout: span("timeout")}
	return o, errors.Join(errs...)
}

// parseServers reads where to connect, and as whom.
func parseServers(u *url.URL) (*redis.UniversalOptions, error) {
	password, _ := u.User.Password()
	to := &redis.UniversalOptions{
		Username: u.User.Username(), Password: password, MasterName: u.Query().Get("sentinel"),
		ContextTimeoutEnabled: true, MaxRetries: 1,
		DisableIdentity: true, // one command less that an ACL has to allow
	}
	var errs []error
	switch u.Scheme {
	case "redis":
	case "rediss":
		to.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	case "unix":
		if u.Host != "" || u.Path == "" {
			errs = append(errs, errors.New("unix://: give an absolute path, with three slashes"))
		}
		return to, errors.Join(errs...)
	default:
		errs = append(errs, fmt.Errorf("scheme %.20q; give redis://, rediss:// (TLS) or unix://", u.Scheme))
	}
	port := "6379"
	if to.MasterName != "" {
		port = "26379"
	}
	for host := range strings.SplitSeq(u.Host, ",") {
		addr, err := address(host, port)
		errs = append(errs, err)
		to.Addrs = append(to.Addrs, addr)
	}
	if db := strings.Trim(u.Path, "/"); db != "" {
		var err error
		if to.DB, err = strconv.Atoi(db); err != nil || to.DB < 0 {
			errs = append(errs, fmt.Errorf("database %.20q: give a number, such as /0", db))
		}
	}
	clustered := u.Query().Get("cluster") == "true" || len(to.Addrs) > 1 && to.MasterName == ""
	if clustered && to.DB != 0 {
		errs = append(errs, errors.New("a Cluster has no databases; leave the number away"))
	}
	if clustered && to.MasterName != "" {
		errs = append(errs, errors.New("sentinel and cluster exclude each other"))
	}
	return to, errors.Join(errs...)
}

// address is a host with its port.
func address(host, port string) (string, error) {
	if host == "" {
		return "", errors.New("no host; give one, such as redis://localhost")
	}
	if name, p, err := net.SplitHostPort(host); err == nil {
		if n, err := strconv.ParseUint(p, 10, 16); name == "" || err != nil || n == 0 {
			return "", fmt.Errorf("host %.80q: give a name, and a port from 1 to 65535", host)
		}
		return host, nil
	}
	bare := strings.Trim(host, "[]")
	if strings.ContainsAny(bare, ":") && net.ParseIP(bare) == nil {
		return "", fmt.Errorf("host %.80q is none", host)
	}
	return net.JoinHostPort(bare, port), nil
}
