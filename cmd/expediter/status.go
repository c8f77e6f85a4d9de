package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/expediter-go/expediter/cascade/redact"
	"github.com/expediter-go/expediter/internal/session"
	"github.com/expediter-go/expediter/internal/store"
)

type statusOptions struct {
	sessionFlags
	watch, json, all bool
	fleet            fleetFlag
}

func statusCommand() *cobra.Command {
	var o statusOptions
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show how the tools of a coding agent's session stand",
		Long: `status prints the state table of a session: each tool's state, its failures in a
row, the class of the last failure, when it is tried next, and below an open tool
why, and what stands in. Then the failure budget, and what only you can do.

` + aboutSessions + `

--watch draws it anew each second until Ctrl-C. Where standard output is no
terminal it prints the table once, then a line for each change. Without --session
it goes on to a later session of the project.

--fleet shows what a fleet on Redis knows instead (docs/fleet.md), and joins
nothing: the tools that are not closed, since when, their generation, who may make
the trial, the incident, and how large the fleet and its log are. With --json:
format, now_ms, scope, exists, members, position, log_length, bytes (-1: not known),
closed, charges, tools (tool, state, since_ms, generation, by, class, text, run,
failed_probes, why), leases (tool, member, token, left_ms), incident, not_understood.

--json prints one object. Times are milliseconds since 1970, names end in _ms.

  format           1; fields may be added within it
  now_ms           when this was
  session          agent, id, project, began_ms, seen_ms, prompts, ended, client
  map              source; problem: why another one is not used
  paused           systemic, budget or empty
  observe_only     every call is let through
  fleet            leased (it was there when last asked), alone (away), or absent
  human_must_act   whether something waits for you; human_actions says what
  budget           cycle, consumed, limit (-1: none)
  policy           threshold, budget, pacing, own of a tool: in words
  tools            for each: tool, state (CLOSED, OPEN, HALF-OPEN), health,
                   consecutive_fails, failed_probes, opened_at_ms, last_success_ms,
                   forced, disabled, unverified, human_must_act, human_action, and
    next_trial     null: closed. due (the next request is the trial), in_flight,
                   waits_for (confirm, resume, reset, another_breaker),
                   attempts_left or steps_left, at_ms (any request from then on),
                   not_before_ms
    last_failure   null: never. class, text, at_ms, step
    route          null: closed. kind, label, to, method, degradation, ask
  incidents        cause, line, members, active (pausing; else recovering), at_ms
  suspicion        a common cause that pauses nothing: cause, members, line
  unverified       failed calls that may have taken effect: tool, verify, text, at_ms
  set_aside        files that stood in a session's place: path, why, at_ms
  hook_trouble     hook calls of the last day that had an error: at_ms, agent, error
  unreadable       other sessions that cannot be read`,
		Example: `  expediter status
  expediter status --watch
  expediter status --json | jq '.tools[] | select(.human_must_act)'
  expediter status --fleet 'redis://localhost/0?scope=team/audit'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd) },
	}
	o.register(cmd.Flags())
	flags := cmd.Flags()
	flags.StringVar((*string)(&o.fleet), "fleet", "", "show the fleet at this `URL` instead of a session: redis://host/0?scope=NAME")
	flags.BoolVar(&o.watch, "watch", false, "draw it anew each second, until Ctrl-C")
	flags.BoolVar(&o.json, "json", false, "print one JSON object")
	flags.BoolVar(&o.all, "all", false, "list the tools of the map that were never called, too")
	return cmd
}

func (o statusOptions) run(cmd *cobra.Command) error {
	if o.watch && o.json {
		return usagef("--watch and --json do not go together; call status --json again and again")
	}
	if o.fleet != "" {
		if err := o.fleet.with(cmd); err != nil {
			return err
		}
		return o.fleet.status(cmd, o.json)
	}
	c, err := o.find(cmd)
	if err != nil {
		return err
	}
	if o.watch {
		return o.follow(cmd, c)
	}
	v, err := c.standing(cmd, time.Now())
	if err != nil {
		return err
	}
	if o.json {
		return printJSON(cmd.OutOrStdout(), v)
	}
	_, colour := sheetOf(cmd.OutOrStdout())
	_, err = fmt.Fprintln(cmd.OutOrStdout(), strings.Join(v.text(layout{all: o.all, colours: colour}), "\n"))
	return err
}

// standing is how the session and its store stand now.
func (c chosen) standing(cmd *cobra.Command, now time.Time) (v standing, err error) {
	err = c.view(cmd, now, func(s *session.Session) error {
		v = look(s)
		return nil
	})
	if err != nil {
		return standing{}, err
	}
	v.Session.Ended = v.Session.Ended || c.Mirrored() && c.Ended
	v.Trouble = troubles(c.dir, v.Session.Agent, now)
	v.Unreadable = append(v.Unreadable, unjoin(c.unread)...)
	if v.Aside, err = setAside(c.store); err != nil {
		v.Unreadable = append(v.Unreadable, redact.Text(err.Error(), maxPath))
	}
	return v, nil
}

// setAside lists what the store has set aside, never nil.
func setAside(st *store.Store) ([]asideView, error) {
	list := []asideView{}
	aside, err := st.Aside()
	for _, a := range aside {
		list = append(list, asideView{Path: redact.Text(a.Path, maxPath), Why: redact.Text(a.Why, maxWhy), At: a.Modified.UnixMilli()})
	}
	return list, err
}

// printJSON writes a value as one indented object, in one write, fit for a
// terminal too.
func printJSON(w io.Writer, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}
