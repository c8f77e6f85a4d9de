package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/expediter-go/expediter/internal/control"
	"github.com/expediter-go/expediter/internal/operator"
	"github.com/expediter-go/expediter/internal/session"
)

// forHumans is the part of a help that all commands for humans share.
const forHumans = `It is for you, not for the agent: it asks for a terminal, unless
EXPEDITER_OPERATOR=1 says that a program of yours runs it.`

// order is what a human's command asks for.
type order struct {
	op        control.Op
	tool, why string // tool: as it was typed
	// do does it to a session, and may print what else there is to say. known: the
	// tool has its own name already.
	do func(s *session.Session, tool string, known bool, said io.Writer) error
}

// control lets a human's command happen to the session, and prints what has
// changed and what the agent will see.
func (f *sessionFlags) control(cmd *cobra.Command, o order) error {
	if err := operator.Require(cmd.Name(), os.Getenv); err != nil {
		return err
	}
	f.changing = true
	c, err := f.find(cmd)
	if err != nil {
		return err
	}
	c.warn(cmd)
	var before, after standing
	var said strings.Builder
	if c.Mirrored() {
		before, after, err = c.remote(cmd, o, &said)
	} else {
		err = c.update(cmd, time.Now(), func(s *session.Session) error {
			said.Reset()
			before = look(s)
			err := o.do(s, o.tool, false, &said)
			after = look(s)
			return err
		})
	}
	if err != nil {
		return err
	}
	lines := append([]string{fmt.Sprintf("%s session %s", after.Session.Agent, after.Session.ID)}, after.changed(before)...)
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\n%s", strings.Join(lines, "\n"), said.String())
	return err
}

// errSessionOver: the proxy of a session is gone, and the engine with it.
var errSessionOver = errors.New("the session has ended, with its client or its proxy, and cannot be changed; a new one begins with closed circuits")

// remote has a running proxy do it to one of its sessions. What there is to say
// about it, and what is wrong with it, is found out on a copy first.
func (c chosen) remote(cmd *cobra.Command, o order, said io.Writer) (before, after standing, err error) {
	ctx, cancel := patient(cmd, storeWait)
	defer cancel()
	fail := func(err error) (standing, standing, error) {
		if errors.Is(err, control.ErrGone) || errors.Is(err, control.ErrNoSession) {
			err = fmt.Errorf("mcp session %.8s: %w", c.Name(), errSessionOver)
		}
		return standing{}, standing{}, err
	}
	if c.Ended {
		return fail(control.ErrGone)
	}
	proxy, err := control.Reach(c.store, c.Socket)
	if err != nil {
		return fail(err)
	}
	req := control.Request{Op: o.op, Session: c.Session, Tool: o.tool, Why: o.why}
	if o.op == control.Reset || o.op == control.Open {
		if req.Tool, err = proxy.Tool(ctx, c.Session, o.tool); err != nil {
			return fail(err)
		}
	}
	err = c.view(cmd, time.Now(), func(s *session.Session) error {
		before = look(s)
		return o.do(s, req.Tool, true, said)
	})
	if err == nil {
		err = proxy.Do(ctx, req)
	}
	if err != nil {
		return fail(err)
	}
	err = c.view(cmd, time.Now(), func(s *session.Session) error {
		after = look(s)
		return nil
	})
	return before, after, err
}

// changed says in lines what is other than before, and what the agent gets for
// its next request for each tool that is open or has changed.
func (v standing) changed(before standing) []string {
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	for _, t := range v.Tools {
		i := slices.IndexFunc(before.Tools, func(old toolView) bool { return old.Tool == t.Tool })
		was := toolView{State: "CLOSED"}
		if i >= 0 {
			was = before.Tools[i]
		}
		if t.State != was.State {
			add("%s: %s -> %s", t.Tool, was.State, t.State)
		}
		if t.State != was.State || t.Forced != was.Forced || t.Disabled != was.Disabled || v.Paused != before.Paused && t.State != "CLOSED" {
			add("  a request for %s is now %s", t.Tool, v.answer(t))
		}
	}
	if v.Budget.Consumed != before.Budget.Consumed || v.Budget.Cycle != before.Budget.Cycle {
		add("%s (before: %d)", v.spent(), before.Budget.Consumed)
	}
	switch {
	case v.Paused == "" && before.Paused != "":
		add("The pause is over: other tools are called again")
	case v.Paused != "":
		add("Paused (%s): %s", v.Paused, v.HumanActions[0])
	}
	return lines
}

// answer is what a request for a tool gets.
func (v standing) answer(t toolView) string {
	switch {
	case v.Paused != "":
		return "PAUSE"
	case t.State == "CLOSED" || t.Disabled:
		return "CALL"
	case t.Next.Due:
		return "PROBE: it is the trial"
	}
	text := "SKIP"
	if t.Route != nil {
		text += "; instead: " + t.Route.words()
	}
	return text + "; next trial: " + v.trial(t)
}
