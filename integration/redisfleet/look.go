package redisfleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/expediter-go/expediter/expediter"
)

// View is what a fleet knows, for displays. Texts are as others wrote them,
// bounded but not escaped.
type View struct {
	Scope     string
	Exists    bool        // false: nobody has joined this scope yet
	Members   int         // processes that were there lately
	Position  string      // the latest entry of the log
	LogLength int         // entries that the log holds
	Tools     []ToolView  // that are not plainly CLOSED, sorted by name
	Closed    int         // CLOSED tools whose generation is kept
	Incident  *ToolView   // the latest that was flagged; nil: none. See Active
	Active    bool        // the incident pauses the fleet; else it is recovering, or over
	Charges   int         // of the shared budget, in its cycle
	Leases    []LeaseView // sorted by tool
	Bytes     int64       // of Redis's memory that the scope takes; -1: not known, MEMORY USAGE is not allowed
	Comments  []string    // what was not understood
}

// ToolView is the fleet's word on a tool, or on its incident.
type ToolView struct {
	Change     expediter.Change
	By         string    // the member that came to it
	Since      time.Time // by Redis's clock
	Generation string    // its place in the log
}

// LeaseView is the lease of a trial that may be under way.
type LeaseView struct {
	Tool, Member, Token string
	Left                time.Duration
}

// Look reads what the fleet of a scope knows, without joining it and without a
// trace. It is of use to displays; an engine joins.
func Look(ctx context.Context, client redis.UniversalClient, o Options) (View, error) {
	o, err := o.filled()
	if err != nil {
		return View{}, fmt.Errorf("redisfleet: %w", err)
	}
	wire := newWire(client, o)
	found, err := wire.join(ctx, "", "")
	if err != nil {
		return View{}, fmt.Errorf("redisfleet: scope %s: %w", o.Scope, err)
	}
	w := View{Bytes: wire.memory(ctx), Scope: o.Scope, Exists: found.epoch != "", Members: found.members, Position: found.last.String(),
		LogLength: int(found.length), Charges: len(found.charges)}
	v := read(found, o, func(where string, err error) {
		if len(w.Comments) < maxComments {
			w.Comments = append(w.Comments, where+": "+err.Error())
		}
	})
	for _, e := range v.tools {
		if e.plain() {
			w.Closed++
		} else {
			w.Tools = append(w.Tools, e.view())
		}
	}
	slices.SortFunc(w.Tools, func(a, b ToolView) int { return cmp.Compare(a.Change.Tool, b.Change.Tool) })
	if v.incident.kind != "" {
		flagged := v.incident.view()
		w.Incident, w.Active = &flagged, v.incident.kind == expediter.ChangeIncident
	}
	w.Leases = readLeases(found)
	return w, nil
}

func (e entry) view() ToolView {
	return ToolView{Change: e.change, By: e.member, Generation: e.gen.String(), Since: time.UnixMilli(int64(min(e.gen.ms, 1<<53)))}
}

// memory is how much of Redis's memory the scope takes, or -1.
func (w *wire) memory(ctx context.Context) int64 {
	k := w.keys
	all, err := within(ctx, w.commands, w.o.Timeout, func(ctx context.Context) (int64, error) {
		var sum int64
		for _, key := range []string{k.fleet, k.log, k.tools, k.closed, k.leases, k.charges, k.members} {
			n, err := w.client.MemoryUsage(ctx, key).Result()
			if err != nil && !errors.Is(err, redis.Nil) {
				return -1, err
			}
			sum += n
		}
		return sum, nil
	})
	if err != nil {
		return -1
	}
	return all
}

// readLeases lists the leases that are not over.
func readLeases(found scene) []LeaseView {
	var leases []LeaseView
	for i := 0; i+1 < len(found.leases); i += 2 {
		part := strings.Fields(found.leases.text(i + 1))
		if len(part) != 4 {
			continue
		}
		expiry, err := strconv.ParseInt(part[2], 10, 64)
		if err == nil && expiry > found.now && expiry-found.now <= longestLease.Milliseconds() {
			leases = append(leases, LeaseView{Tool: found.leases.text(i), Member: part[1], Token: part[0],
				Left: time.Duration(expiry-found.now) * time.Millisecond})
		}
	}
	slices.SortFunc(leases, func(a, b LeaseView) int { return cmp.Compare(a.Tool, b.Tool) })
	return leases
}

// read parses a scope. What is not understood is left out and said.
func read(found scene, o Options, comment func(string, error)) view {
	v := view{epoch: found.epoch, last: found.last, tools: map[string]entry{}}
	most := 2 * (o.MaxTools + o.MaxClosed)
	for i := 0; i+1 < len(found.tools) && i < most; i += 2 {
		tool := found.tools.text(i)
		e, err := parseEntry(tool, found.tools.text(i+1))
		if err != nil {
			comment("tool "+tool, err)
			continue
		}
		v.tools[tool] = e
	}
	if len(found.tools) > most {
		comment("tools", errFull)
	}
	if found.incident != "" {
		var err error
		if v.incident, err = parseEntry("", found.incident); err != nil {
			comment("incident", err)
			v.incident = entry{}
		}
	}
	return v
}
