package redisfleet

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"go.uber.org/zap"
)

// Options say which fleet an engine joins, and how. The zero value joins the scope
// "default" with what is said of each field.
type Options struct {
	// Scope names the fleet: engines of one scope share a view, those of different
	// scopes know nothing of each other. Put what must not mix into it, such as
	// "team/project/tenant". At most 200 bytes of printable text.
	Scope string
	// Prefix begins every key; empty: "expediter:". At most 100 bytes, no braces.
	Prefix string
	// Member names this process in its fleet; two must never have one name. Letters,
	// digits, '.', '_' and '-', at most 64. Empty: the host, the process and a random
	// part. Give one only to processes that follow each other, see Brief.
	Member string

	// LeaseTTL is how long the fleet waits for a trial whose process has died, from
	// 200 ms to 5 min; zero: 5 s. A process that lives renews its lease.
	LeaseTTL time.Duration
	// LeaseHold is how long the first lease of a generation may go unused, up to 10
	// min; zero: 10 s. Each that went unused doubles it, up to 10 min.
	LeaseHold time.Duration
	// Timeout is how long one command may take before Redis counts as away, from 10
	// ms to 1 min; zero: 1 s. Join waits no longer.
	Timeout time.Duration
	// BeatEvery is how often the process says that it is there and looks whether it
	// has missed something, from 50 ms to 1 min; zero: 2 s. A large fleet does it
	// less often: 500 times a second in all.
	BeatEvery time.Duration

	// LogLength is about how many changes the log keeps, from 100 to a million; zero:
	// 10,000. Who has missed more reads the whole view again.
	LogLength int
	// MaxTools is how many tools the view may hold that are not CLOSED, and how many
	// are read of what others wrote, from 1 to 100,000; zero: 10,000.
	MaxTools int
	// MaxClosed is how many CLOSED tools keep their generation, from 1 to 100,000;
	// zero: 1,000.
	MaxClosed int

	// SharedBudget makes the failure budget and its cycle those of the whole fleet.
	// Else each process has its own.
	SharedBudget bool
	// Brief is for a process that does one thing and ends, while its engine and its
	// Member live on in the next one: Close then keeps the leases of trials in flight,
	// which end LeaseTTL later.
	Brief bool
	// Memory is that of the process before, where the engine goes on from one process
	// to the next. Without it the engine is a joiner like any other: what it came to
	// before gives way to whatever the fleet knows.
	Memory Memory
	// Private reports tools that are this process's own affair: they are not shared
	// and need no lease. It is called from the engine's observers and must not block;
	// nil: none is.
	Private func(tool string) bool
	// Reader is shared by the engines of one process that have one client and one
	// scope, so that one connection waits for news and not one for each; nil: this
	// engine is the only one.
	Reader *Reader
	Log    *zap.Logger      // nil: silent
	Now    func() time.Time // the clock that the engine's callers use; nil: time.Now

	skew time.Duration // tests move Redis's clock
}

const (
	longestHold  = 10 * time.Minute
	longestLease = 10 * time.Minute // prelude.lua has it too: one that ends later is over
	maxCharges   = 256
)

// filled validates the options and puts the defaults in.
func (o Options) filled() (Options, error) {
	var errs []error
	if o.Scope == "" {
		o.Scope = "default"
	}
	if o.Prefix == "" {
		o.Prefix = "expediter:"
	}
	if len(o.Scope) > 200 || !printable(o.Scope) {
		errs = append(errs, fmt.Errorf("scope %.40q: at most 200 bytes of printable text", o.Scope))
	}
	if len(o.Prefix) > 100 || !printable(o.Prefix) || strings.ContainsAny(o.Prefix, "{}") {
		errs = append(errs, fmt.Errorf("prefix %.40q: at most 100 bytes of printable text without braces", o.Prefix))
	}
	if o.Member == "" {
		o.Member = ownName()
	}
	if o.Member != named(o.Member) || len(o.Member) > 64 {
		errs = append(errs, fmt.Errorf("member %.70q: 1 to 64 letters, digits, '.', '_' and '-'", o.Member))
	}
	span(&errs, "lease TTL", &o.LeaseTTL, 5*time.Second, 200*time.Millisecond, 5*time.Minute)
	span(&errs, "lease hold", &o.LeaseHold, 10*time.Second, time.Millisecond, longestHold)
	span(&errs, "timeout", &o.Timeout, time.Second, 10*time.Millisecond, time.Minute)
	span(&errs, "beat", &o.BeatEvery, 2*time.Second, 50*time.Millisecond, time.Minute)
	span(&errs, "log length", &o.LogLength, 10_000, 100, 1_000_000)
	span(&errs, "max tools", &o.MaxTools, 10_000, 1, 100_000)
	span(&errs, "max closed", &o.MaxClosed, 1_000, 1, 100_000)
	if o.Log == nil {
		o.Log = zap.NewNop()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o, errors.Join(errs...)
}

// span gives a field its default, or reports that it is out of bounds.
func span[N int | time.Duration](errs *[]error, name string, v *N, byDefault, least, most N) {
	if *v == 0 {
		*v = byDefault
	}
	if *v < least || *v > most {
		*errs = append(*errs, fmt.Errorf("%s %v: from %v to %v", name, *v, least, most))
	}
}

func printable(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsGraphic(r) })
}

// ownName is a name that no other process has.
func ownName() string {
	host, _ := os.Hostname()
	return fmt.Sprintf("%.32s_%d_%s", named(host), os.Getpid(), rand.Text()[:8])
}

// named makes a text fit for a member's name, but for its length.
func named(s string) string {
	return strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("._-", r) {
			return r
		}
		return '-'
	}, s)
}

// keys are the names of what a scope has in Redis. They have one hash tag, so that
// in a Cluster they are in one place.
type keys struct {
	fleet, log, tools, closed, leases, charges, members string
}

func (o Options) keys() keys {
	base := o.Prefix + "{" + strings.NewReplacer("%", "%25", "{", "%7B", "}", "%7D").Replace(o.Scope) + "}:"
	return keys{fleet: base + "fleet", log: base + "log", tools: base + "tools", closed: base + "closed",
		leases: base + "leases", charges: base + "charges", members: base + "members"}
}
