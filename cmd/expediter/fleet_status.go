package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/expediter-go/expediter/cascade/redact"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/integration/redisfleet"
)

// fleetWait bounds a command that asks a fleet something.
const fleetWait = 10 * time.Second

// fleetView is how a fleet stands, with all texts cleaned. Times are milliseconds
// since 1970, by Redis's clock.
type fleetView struct {
	Format     int            `json:"format"` // statusFormat
	Now        int64          `json:"now_ms"` // by this machine's clock
	Scope      string         `json:"scope"`
	Exists     bool           `json:"exists"`
	Members    int            `json:"members"`
	Position   string         `json:"position"`
	LogLength  int            `json:"log_length"`
	Bytes      int64          `json:"bytes"` // -1: not known
	Closed     int            `json:"closed"`
	Charges    int            `json:"charges"`
	Tools      []fleetTool    `json:"tools"`
	Leases     []fleetLease   `json:"leases"`
	Incident   *fleetIncident `json:"incident"`
	Unreadable []string       `json:"not_understood"`
}

type fleetTool struct {
	Tool         string `json:"tool"`
	State        string `json:"state"`
	Since        int64  `json:"since_ms"`
	Generation   string `json:"generation"`
	By           string `json:"by"`
	Class        string `json:"class,omitempty"`
	Text         string `json:"text,omitempty"`
	Run          int    `json:"run,omitempty"`
	FailedProbes int    `json:"failed_probes,omitempty"`
	Why          string `json:"why,omitempty"`
}

type fleetLease struct {
	Tool   string `json:"tool"`
	Member string `json:"member"`
	Token  string `json:"token"`
	Left   int64  `json:"left_ms"`
}

type fleetIncident struct {
	Cause   string   `json:"cause"`
	Members []string `json:"members"`
	Active  bool     `json:"active"`
	Since   int64    `json:"since_ms"`
	By      string   `json:"by"`
	Text    string   `json:"text,omitempty"`
}

// look reads the fleet and joins nothing.
func (f fleetFlag) look(ctx context.Context) (redisfleet.View, error) {
	client, o, err := redisfleet.Parse(string(f))
	if err != nil {
		return redisfleet.View{}, usagef("--fleet: %v", err)
	}
	defer func() { _ = client.Close() }()
	ctx, cancel := context.WithTimeout(ctx, fleetWait)
	defer cancel()
	return redisfleet.Look(ctx, client, o)
}

// status prints how a fleet stands.
func (f fleetFlag) status(cmd *cobra.Command, asJSON bool) error {
	w, err := f.look(contextOf(cmd))
	if err != nil {
		return fmt.Errorf("%w; is Redis there, and may this user read it?", err)
	}
	v := fleetViewOf(w, time.Now())
	if asJSON {
		return printJSON(cmd.OutOrStdout(), v)
	}
	_, colour := sheetOf(cmd.OutOrStdout())
	_, err = fmt.Fprintln(cmd.OutOrStdout(), strings.Join(v.text(colour), "\n"))
	return err
}

func fleetViewOf(w redisfleet.View, now time.Time) fleetView {
	v := fleetView{Format: statusFormat, Now: now.UnixMilli(), Scope: redact.Text(w.Scope, maxTool), Exists: w.Exists, Members: w.Members,
		Position: w.Position, LogLength: w.LogLength, Bytes: w.Bytes, Closed: w.Closed, Charges: w.Charges,
		Tools: []fleetTool{}, Leases: []fleetLease{}, Unreadable: []string{}}
	for _, t := range w.Tools {
		v.Tools = append(v.Tools, fleetToolOf(t))
	}
	for _, l := range w.Leases {
		v.Leases = append(v.Leases, fleetLease{redact.Text(l.Tool, maxTool), redact.Text(l.Member, maxToolName*2), redact.Text(l.Token, maxToolName), l.Left.Milliseconds()})
	}
	if i := w.Incident; i != nil {
		v.Incident = &fleetIncident{Cause: redact.Text(i.Change.Cause, maxToolName), Active: w.Active, Since: i.Since.UnixMilli(),
			By: redact.Text(i.By, maxToolName*2), Text: redact.Text(i.Change.Text, maxWhy), Members: []string{}}
		for _, m := range i.Change.Members {
			v.Incident.Members = append(v.Incident.Members, redact.Text(m, maxTool))
		}
	}
	for _, c := range w.Comments {
		v.Unreadable = append(v.Unreadable, redact.Text(c, maxWhy))
	}
	return v
}

func fleetToolOf(t redisfleet.ToolView) fleetTool {
	c := t.Change
	v := fleetTool{Tool: redact.Text(c.Tool, maxTool), State: "OPEN", Since: t.Since.UnixMilli(), Generation: t.Generation, By: redact.Text(t.By, maxToolName*2),
		Text: redact.Text(c.Text, maxWhy), Run: c.Run, FailedProbes: c.FailedProbes, Why: redact.Text(c.Why, maxWhy)}
	switch c.Kind {
	case expediter.ChangeForcedOpen:
		v.State = "FORCED"
	case expediter.ChangeDisabled:
		v.State = "DISABLED"
	default:
		v.Class = c.Failure.Category.String()
	}
	return v
}

// text is the view as lines.
func (v fleetView) text(colour bool) []string {
	if !v.Exists {
		return []string{"Fleet of scope " + v.Scope + ": nobody has joined it yet"}
	}
	clock := standing{Now: v.Now}
	memory := "memory not known (MEMORY USAGE is not allowed)"
	if v.Bytes >= 0 {
		memory = fmt.Sprintf("%d kB of memory", (v.Bytes+1023)/1024)
	}
	lines := []string{
		fmt.Sprintf("Fleet of scope %s: %s seen lately", v.Scope, count(v.Members, "member")),
		fmt.Sprintf("Log: %d changes, the latest %s; %s", v.LogLength, orDash(v.Position), memory),
	}
	if i := v.Incident; i != nil {
		state := "recovering, or over"
		if i.Active {
			state = "active, pauses all; 'expediter confirm --fleet' ends it"
		}
		lines = append(lines, "", fmt.Sprintf("Incident (%s) since %s: %s (%s)", i.Cause, clock.when(i.Since), strings.Join(i.Members, ", "), state))
	}
	lines = append(lines, "")
	lines = append(lines, v.table(clock, colour)...)
	if v.Charges > 0 {
		lines = append(lines, "", "Shared failure budget: "+count(v.Charges, "failure")+" in this cycle")
	}
	if len(v.Unreadable) > 0 {
		lines = append(lines, "", "Not understood, and left alone:")
	}
	for _, u := range v.Unreadable {
		lines = append(lines, "  - "+u)
	}
	return lines
}

func orDash(s string) string {
	if s == "" {
		return "—"
	}
	return s
}

// table lists the tools that are not plainly closed.
func (v fleetView) table(clock standing, colour bool) []string {
	if len(v.Tools) == 0 {
		return []string{"No tool is open."}
	}
	rows := [][]string{{"Tool", "State", "Since", "Generation", "Trial"}}
	var below [][]string
	for _, t := range v.Tools {
		trial := "—"
		for _, l := range v.Leases {
			if l.Tool == t.Tool {
				trial = fmt.Sprintf("%s may make it, for %s", l.Member, rough(l.Left))
			}
		}
		rows = append(rows, []string{redact.Text(t.Tool, maxShown), t.State, clock.when(t.Since), t.Generation, trial})
		below = append(below, t.details())
	}
	return interleave(columns(rows, colour), below)
}

func (t fleetTool) details() []string {
	by := "by " + t.By
	if t.Why != "" {
		by += ": " + t.Why
	}
	if t.Class != "" && t.Text != "" {
		by += ": " + t.Class + ", " + t.Text
	}
	if t.FailedProbes > 0 {
		by += "; " + count(t.FailedProbes, "failed trial") + " since"
	}
	return []string{by}
}
