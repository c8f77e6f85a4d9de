package mcpproxy

import (
	"time"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/capability/document"
	"github.com/expediter-go/expediter/expediter"
)

// Config is what a proxy is made of; ReadConfig reads it from a file
// (docs/proxy.md). The zero Config has no servers.
type Config struct {
	Servers  []Server         // in the order of the file; names are unique
	Tools    capability.Map   // names are SERVER/TOOL, or the tool's shown name
	Policy   expediter.Policy // effective
	Strict   bool             // tools without an entry in Tools are skipped
	Proxy    Options
	Warnings document.Problems // what may be a mistake in a file that works
}

// Server is one server of the configuration: a process that speaks on stdio
// (Command) or one that listens to Streamable HTTP (URL).
type Server struct {
	Name     string // as in the file
	Command  string
	Args     []string
	Env      map[string]string // added to the proxy's own
	Dir      string            // empty: the proxy's
	URL      string
	Header   map[string]string
	OAuth    *OAuth        // of URL; nil: the proxy does not log in
	Timeout  time.Duration // of one call; 0: Options.Deadline
	Disabled bool          // not started, its tools not shown
}

// OAuth is how the proxy gets tokens for a server over HTTP. The zero OAuth has
// the human log in, as a client that registers itself with the authorization
// server.
type OAuth struct {
	ClientID     string   // empty: the proxy registers itself; an https URL is a client id metadata document
	ClientSecret string   // empty: a public client
	Scopes       []string // nil: those that the server asks for
	Redirect     string   // http URL of this machine to which the browser comes back; empty: a free port of 127.0.0.1
	Unattended   bool     // the secret is enough (client credentials): no human logs in
}

// Options are the limits of the proxy, the section `proxy` of its file. Zero
// fields mean the defaults.
type Options struct {
	Deadline        time.Duration `json:"deadline,omitempty"`         // of one call; default 10 minutes
	ProgressExtends bool          `json:"progress_extends,omitempty"` // each sign of progress begins the deadline anew
	IdleGap         time.Duration `json:"idle_gap,omitempty"`         // without a call, after which a new cycle begins; default 5 minutes
	ListenToken     string        `json:"listen_token,omitempty"`     // bearer token of HTTP clients; empty: none, loopback only
	MaxSessions     int           `json:"max_sessions,omitempty"`     // clients at a time; default 1,000
	MaxInFlight     int           `json:"max_in_flight,omitempty"`    // calls at a time; default 16,384
	MaxResult       int64         `json:"max_result,omitempty"`       // bytes of one message from a server; default 100 MiB
	Fleet           string        `json:"fleet,omitempty"`            // URL of a fleet on Redis (docs/fleet.md), for whoever makes Env.Fleet; empty: none
	RecordArguments bool          `json:"record_arguments,omitempty"` // keep the calls' arguments in the journal
}

// Defaults of Options.
const (
	defaultDeadline  = 10 * time.Minute
	defaultIdleGap   = 5 * time.Minute
	defaultSessions  = 1000
	defaultInFlight  = 1 << 14
	defaultMaxResult = 100 << 20
)

// filled is o with the defaults in the place of zero fields.
func (o Options) filled() Options {
	fill(&o.Deadline, defaultDeadline)
	fill(&o.IdleGap, defaultIdleGap)
	fill(&o.MaxSessions, defaultSessions)
	fill(&o.MaxInFlight, defaultInFlight)
	fill(&o.MaxResult, defaultMaxResult)
	return o
}

func fill[T int | int64 | time.Duration](v *T, otherwise T) {
	if *v <= 0 {
		*v = otherwise
	}
}
