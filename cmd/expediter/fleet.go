package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/pflag"

	"github.com/expediter-go/expediter/cascade/redact"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/integration/redisfleet"
	"github.com/expediter-go/expediter/report"
)

// fleetFlag is where the fleet is that a command belongs to; empty: to none.
type fleetFlag string

const fleetUsage = "share how tools stand with a fleet on Redis at this `URL`: redis://[user:password@]host[:port][/database][?scope=NAME]; rediss:// for TLS (docs/fleet.md)"

func (f *fleetFlag) register(flags *pflag.FlagSet) {
	flags.StringVar((*string)(f), "fleet", "", fleetUsage)
}

// check reports what is wrong with the URL.
func (f fleetFlag) check() error {
	if f == "" {
		return nil
	}
	client, _, err := redisfleet.Parse(string(f))
	if err != nil {
		return usagef("--fleet: %v", err)
	}
	return client.Close()
}

// membership is an engine's place in a fleet. The nil membership is none.
type membership struct {
	fleet  *redisfleet.Fleet
	client io.Closer
}

// join makes an engine a member. A Redis that is away is no error.
func (f fleetFlag) join(ctx context.Context, engine *expediter.Engine) (*membership, error) {
	if f == "" {
		return nil, nil
	}
	client, o, err := redisfleet.Parse(string(f))
	if err != nil {
		return nil, usagef("--fleet: %v", err)
	}
	fleet, err := redisfleet.Join(ctx, client, engine, o)
	if err != nil {
		_ = client.Close()
		return nil, err
	}
	return &membership{fleet: fleet, client: client}, nil
}

// line says how the engine stands to its fleet; empty: it belongs to none.
func (m *membership) line() string {
	if m == nil {
		return ""
	}
	s := m.fleet.Status()
	scope := redact.Text(s.Scope, maxToolName)
	if s.Connected {
		return fmt.Sprintf("fleet: scope %s, %s", scope, count(max(s.Members, 1), "member"))
	}
	return fmt.Sprintf("fleet: scope %s, alone since %s: %s", scope, report.Clock(s.Since.UnixMilli()), redact.Text(s.Why, maxWhy))
}

// leave ends the membership, and returns what a report says of it. Where the end
// cannot be told to Redis, leases end by themselves.
func (m *membership) leave() []string {
	if m == nil {
		return nil
	}
	line := m.line()
	_ = m.fleet.Close()
	_ = m.client.Close()
	s := m.fleet.Status()
	if told, heard := s.Counts.Published, s.Counts.Adopted; told+heard > 0 {
		line += fmt.Sprintf("; told it %s, heard of %s", count(int(told), "change"), count(int(heard), "change"))
	}
	notes := []string{line}
	for _, c := range s.Comments {
		notes = append(notes, "fleet: not understood: "+redact.Text(c, maxWhy))
	}
	return notes
}
