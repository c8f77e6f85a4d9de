package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/expediter-go/expediter/internal/store"
)

// refind is after how many looks a watch looks for a later session.
const refind = 5

// follow is --watch: it ends with Ctrl-C, which is no error.
func (o statusOptions) follow(cmd *cobra.Command, c chosen) error {
	ctx, stop := interruptible(cmd.Context(), func() {})
	defer stop()
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	looks := 0
	next := func(now time.Time) (standing, error) {
		if looks++; looks%refind == 0 && o.session == "" {
			if later, err := o.find(cmd); err == nil {
				c = later
			}
		}
		return c.standing(cmd, now)
	}
	return watch(ctx, ticker.C, time.Now(), next, o.screen(cmd.OutOrStdout()))
}

// screen is what shows a watched session on w.
func (o statusOptions) screen(w io.Writer) screen {
	f := redrawable(w)
	if f == nil {
		return &changes{w: w, all: o.all}
	}
	return &board{w: w, layout: layout{all: o.all, colours: colours()}, height: func() int { return rows(f) }}
}

// screen shows one standing after the other.
type screen interface {
	show(standing) error
	busy(error) error // the session is in use for longer than a look waits
}

// watch looks at once and then with each tick, until ctx is done or a look
// fails. A session that is in use does not end it.
func watch(ctx context.Context, ticks <-chan time.Time, now time.Time, next func(time.Time) (standing, error), to screen) error {
	for {
		v, err := next(now)
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, store.ErrBusy):
			err = to.busy(err)
		case err == nil:
			err = to.show(v)
		}
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case now = <-ticks:
		}
	}
}

// board is drawn over itself on a terminal.
type board struct {
	w      io.Writer
	layout layout
	height func() int // of the terminal, in lines
	drawn  int        // lines of the last drawing
}

func (b *board) show(v standing) error {
	room := max(b.height()-1, 1)
	lines := v.text(b.layout)
	if len(lines) > room {
		brief := b.layout
		brief.brief = true
		lines = v.text(brief)
	}
	if n := len(lines) - room; n > 0 {
		lines = append(lines[:room-1:room-1], fmt.Sprintf("… %s more; make the terminal higher", count(n+1, "line")))
	}
	return b.draw(lines)
}

func (b *board) busy(err error) error { return b.draw([]string{"expediter: " + err.Error()}) }

func (b *board) draw(lines []string) error {
	back := ""
	if b.drawn > 0 {
		back = up(b.drawn)
	}
	b.drawn = len(lines)
	_, err := io.WriteString(b.w, back+clearBelow+noWrap+strings.Join(lines, "\n")+"\n"+wrap)
	return err
}

// changes prints the table once for each session, and from then on what has
// changed.
type changes struct {
	w    io.Writer
	all  bool
	last *standing
}

func (c *changes) show(v standing) error {
	lines := v.text(layout{all: c.all})
	switch {
	case c.last == nil:
	case v.Session.Agent == c.last.Session.Agent && v.Session.ID == c.last.Session.ID:
		lines = v.since(*c.last)
	default:
		lines = append([]string{""}, lines...)
	}
	c.last = &v
	if len(lines) == 0 {
		return nil
	}
	_, err := fmt.Fprintln(c.w, strings.Join(lines, "\n"))
	return err
}

func (c *changes) busy(err error) error {
	_, err = fmt.Fprintln(c.w, "expediter:", err)
	return err
}

// since says in lines what is other than before in the same session.
func (v standing) since(old standing) []string {
	var lines []string
	add := func(format string, args ...any) {
		lines = append(lines, v.clock(v.Now)+"  "+fmt.Sprintf(format, args...))
	}
	before := make(map[string]toolView, len(old.Tools))
	for _, t := range old.Tools {
		before[t.Tool] = t
	}
	for _, t := range v.Tools {
		was, known := before[t.Tool]
		if !known {
			was = toolView{State: "CLOSED"}
		}
		switch {
		case t.State != was.State && t.State == "CLOSED":
			add("%s  %s -> %s", t.Tool, was.State, t.State)
		case t.State != was.State:
			add("%s  %s -> %s  %s; next trial: %s", t.Tool, was.State, t.State, t.Health, v.trial(t))
		case t.FailedProbes > was.FailedProbes:
			add("%s  its trial failed; next trial: %s", t.Tool, v.trial(t))
		case t.Fails > was.Fails:
			add("%s  %s", t.Tool, t.Health)
		case t.Forced != was.Forced || t.Disabled != was.Disabled || t.Unverified != was.Unverified:
			add("%s  %s  %s", t.Tool, t.State, t.Health)
		}
	}
	if v.Paused != old.Paused {
		add("%s", v.pauseChange())
	}
	if v.Budget.Cycle != old.Budget.Cycle {
		add("%s", v.spent())
	}
	return lines
}

func (v standing) pauseChange() string {
	if v.Paused == "" {
		return "no longer paused"
	}
	text := "PAUSED (" + v.Paused + ")"
	for _, i := range v.Incidents {
		if i.Active {
			text += ": " + i.Line
		}
	}
	return text
}
