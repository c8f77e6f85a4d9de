package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/expediter-go/expediter/internal/store"
)

// at is a standing with tools, at a second of the first minute of 1970.
func at(second int64, paused string, tools ...toolView) standing {
	return standing{Now: second * 1000, Paused: paused, Tools: tools, Budget: budgetView{Cycle: 1, Limit: 5},
		Session: sessionView{Agent: "codex", ID: "s1", Project: "/w", Began: 500, Seen: 1000}, Map: mapView{Source: "m.yaml"}}
}

func TestSince(t *testing.T) {
	closed := toolView{Tool: "Bash", State: "CLOSED", Health: "healthy"}
	open := toolView{Tool: "Bash", State: "OPEN", Health: "3 failures", Fails: 3, Next: &trialView{Attempts: 3, At: 40_000}}
	again := open
	again.FailedProbes = 1
	failing := toolView{Tool: "Bash", State: "CLOSED", Health: "1 failure — oops", Fails: 1}
	forced := toolView{Tool: "Bash", State: "OPEN", Health: "opened by an operator", Fails: 3, Forced: true, Next: &trialView{WaitsFor: "reset"}}
	incident := at(10, "systemic", open)
	incident.Incidents = []incidentView{{Line: "All fail", Active: true}}
	cycle := at(10, "", closed)
	cycle.Budget.Cycle = 2
	tests := []struct {
		name     string
		old, new standing
		want     []string
	}{
		{"nothing", at(9, "", open), at(10, "", open), nil},
		{"opened", at(9, "", closed), at(10, "", open),
			[]string{"00:00:10Z  Bash  CLOSED -> OPEN  3 failures; next trial: after 2 more requests, or any from 00:00:40Z (in 30 s) on"}},
		{"learnt and opened", at(9, ""), at(10, "", open),
			[]string{"00:00:10Z  Bash  CLOSED -> OPEN  3 failures; next trial: after 2 more requests, or any from 00:00:40Z (in 30 s) on"}},
		{"closed", at(9, "", open), at(10, "", closed), []string{"00:00:10Z  Bash  OPEN -> CLOSED"}},
		{"failed", at(9, "", closed), at(10, "", failing), []string{"00:00:10Z  Bash  1 failure — oops"}},
		{"failed trial", at(9, "", open), at(10, "", again),
			[]string{"00:00:10Z  Bash  its trial failed; next trial: after 2 more requests, or any from 00:00:40Z (in 30 s) on"}},
		{"forced", at(9, "", open), at(10, "", forced), []string{"00:00:10Z  Bash  OPEN  opened by an operator"}},
		{"paused", at(9, "", open), incident, []string{"00:00:10Z  PAUSED (systemic): All fail"}},
		{"resumed", incident, at(11, "", open), []string{"00:00:11Z  no longer paused"}},
		{"cycle", at(9, "", closed), cycle, []string{"00:00:10Z  Failure budget: 0 / 5 consumed in cycle 2"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, tt.new.since(tt.old)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// A later session begins with its own table, of all tools if that was asked for.
func TestChangesOfAnotherSession(t *testing.T) {
	first := at(9, "", toolView{Tool: "Bash", State: "CLOSED", Health: "healthy", idle: true})
	later := first
	later.Session.ID = "s2"
	for _, all := range []bool{false, true} {
		var out strings.Builder
		c := &changes{w: &out, all: all}
		if err := errors.Join(c.show(first), c.show(first), c.show(later)); err != nil {
			t.Fatal(err)
		}
		table := func(v standing) string { return strings.Join(v.text(layout{all: all}), "\n") + "\n" }
		if diff := cmp.Diff(table(first)+"\n"+table(later), out.String()); diff != "" {
			t.Errorf("all %v: -want +got\n%s", all, diff)
		}
	}
}

// script is a screen that notes what it is shown, and ends the watch after its
// last look.
type script struct {
	looks []error // what each look comes to
	left  func()
	seen  []string
}

func (s *script) look(now time.Time) (standing, error) {
	err := s.looks[0]
	if s.looks = s.looks[1:]; len(s.looks) == 0 {
		defer s.left()
	}
	return standing{Now: now.UnixMilli()}, err
}

func (s *script) show(v standing) error {
	s.seen = append(s.seen, fmt.Sprint(v.Now))
	return nil
}

func (s *script) busy(error) error {
	s.seen = append(s.seen, "busy")
	return nil
}

func TestWatch(t *testing.T) {
	gone := fmt.Errorf("x: %w", store.ErrNoSession)
	busy := fmt.Errorf("x: %w", store.ErrBusy)
	tests := []struct {
		name  string
		looks []error
		want  []string
		err   error
	}{
		{"looks at once and with each tick", []error{nil, nil, nil}, []string{"0", "1"}, nil},
		{"a session that is in use does not end it", []error{nil, busy, nil, nil}, []string{"0", "busy", "2"}, nil},
		{"one that is gone does", []error{nil, gone, nil}, []string{"0"}, store.ErrNoSession},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			ticks := make(chan time.Time, len(tt.looks))
			for i := range tt.looks {
				ticks <- time.UnixMilli(int64(i + 1))
			}
			s := &script{looks: tt.looks, left: cancel}
			err := watch(ctx, ticks, time.UnixMilli(0), s.look, s)
			if !errors.Is(err, tt.err) {
				t.Errorf("error %v, want %v", err, tt.err)
			}
			if diff := cmp.Diff(tt.want, s.seen); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// Each drawing goes up by as many lines as the one before it had, and none is
// higher than the terminal.
func TestBoardIsRedrawnInPlace(t *testing.T) {
	var b bytes.Buffer
	high := 30
	board := &board{w: &b, layout: layout{all: true, colours: true}, height: func() int { return high }}
	var tools []toolView
	for i := range 20 {
		tools = append(tools, toolView{Tool: fmt.Sprint("T", i), State: "OPEN", Health: "3 failures", Next: &trialView{Due: true}})
	}
	for _, room := range []int{30, 60, 12, 2, 1, 60} {
		high = room
		if err := board.show(at(1, "", tools...)); err != nil {
			t.Fatal(err)
		}
	}
	drawings := regexp.MustCompile(`(?s)\x1b\[\?7l(.*?)\x1b\[\?7h`).FindAllStringSubmatch(b.String(), -1)
	ups := regexp.MustCompile(`\x1b\[(\d+)A`).FindAllStringSubmatch(b.String(), -1)
	if len(drawings) != 6 || len(ups) != 5 {
		t.Fatalf("%d drawings, %d moves up, want 6 and 5", len(drawings), len(ups))
	}
	for i, up := range ups {
		if want := fmt.Sprint(strings.Count(drawings[i][1], "\n")); up[1] != want {
			t.Errorf("after drawing %d: up %s lines, want %s", i, up[1], want)
		}
	}
	for i, room := range []int{30, 60, 12, 2} {
		if got := strings.Count(drawings[i][1], "\n"); got >= room {
			t.Errorf("drawing %d has %d lines on a terminal of %d", i, got, room)
		}
	}
	if strings.Contains(drawings[0][1], "why:") || !strings.Contains(drawings[1][1], "why:") {
		t.Error("details are for terminals that have room for them, and only those")
	}
	if !strings.Contains(drawings[2][1], "more; make the terminal higher") {
		t.Errorf("nothing says that lines are missing: %q", drawings[2][1])
	}
}
