package main

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
	"github.com/expediter-go/expediter/report"
)

func TestNextTrial(t *testing.T) {
	const now = 100_000
	open := expediter.ToolStatus{State: breaker.Open, Next: 3, NextAt: now + 30_000, NotBefore: now + 1000}
	with := func(change func(*expediter.ToolStatus)) expediter.ToolStatus {
		t := open
		change(&t)
		return t
	}
	tests := []struct {
		name   string
		paused expediter.Reason
		tool   expediter.ToolStatus
		want   trialView
		words  string
	}{
		{"requests, or the time", 0, open, trialView{Attempts: 3, At: now + 30_000, NotBefore: now + 1000},
			"after 2 more requests, or any from 00:02:10Z (in 30 s) on, not before 00:01:41Z (in 1 s)"},
		{"the time has come since", 0, with(func(t *expediter.ToolStatus) { t.NextAt, t.NotBefore = now, now }),
			trialView{Due: true, Attempts: 3, At: now}, "the next request"},
		{"the next request, but not yet", 0, with(func(t *expediter.ToolStatus) { t.Next, t.NextAt = 1, 0 }),
			trialView{Attempts: 1, NotBefore: now + 1000}, "the next request, not before 00:01:41Z (in 1 s)"},
		{"the time has come, but not yet", 0, with(func(t *expediter.ToolStatus) { t.NextAt = now - 1 }),
			trialView{Attempts: 3, At: now - 1, NotBefore: now + 1000}, "the next request, not before 00:01:41Z (in 1 s)"},
		{"steps", 0, expediter.ToolStatus{State: breaker.Open, Unit: breaker.Steps, Next: 2}, trialView{Steps: 2}, "in 2 steps"},
		{"steps that are over", 0, expediter.ToolStatus{State: breaker.Open, Unit: breaker.Steps}, trialView{Due: true}, "the next request"},
		{"time", 0, expediter.ToolStatus{State: breaker.Open, Unit: breaker.Time, Next: 5000, NextAt: now + 4000}, trialView{At: now + 4000},
			"any from 00:01:44Z (in 4 s) on"},
		{"half-open", 0, expediter.ToolStatus{State: breaker.HalfOpen}, trialView{Due: true}, "the next request"},
		{"under way", 0, expediter.ToolStatus{State: breaker.HalfOpen, ProbeInFlight: true}, trialView{InFlight: true}, "under way"},
		{"forced", 0, expediter.ToolStatus{State: breaker.Open, Forced: true}, trialView{WaitsFor: "reset"}, "waits for 'expediter reset'"},
		{"an incident", expediter.Systemic, with(func(t *expediter.ToolStatus) { t.Next = 1 }),
			trialView{Attempts: 1, At: now + 30_000, NotBefore: now + 1000, WaitsFor: "confirm"}, "waits for 'expediter confirm'"},
		{"the budget", expediter.Budget, expediter.ToolStatus{State: breaker.HalfOpen}, trialView{WaitsFor: "resume"}, "waits for 'expediter resume'"},
		{"another breaker", 0, expediter.ToolStatus{State: breaker.Open, External: &expediter.External{}}, trialView{WaitsFor: "another_breaker"},
			"another breaker decides"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := nextTrial(&expediter.Status{Paused: tt.paused}, &tt.tool, now)
			if diff := cmp.Diff(&tt.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
			if words := (standing{Now: now}).trial(toolView{Next: got}); words != tt.words {
				t.Errorf("got %q, want %q", words, tt.words)
			}
		})
	}
}

func TestToolAction(t *testing.T) {
	failing := func(c cascade.Category) expediter.ToolStatus {
		return expediter.ToolStatus{Tool: "Bash/gh", State: breaker.Open, Run: 3, Trip: cascade.Failure{Category: c},
			RunFailures: []expediter.Moment{{Category: c}, {Category: c}, {Category: c}}, LastFailure: &expediter.Moment{Category: c}}
	}
	tests := []struct {
		name string
		tool expediter.ToolStatus
		want string
	}{
		{"closed", expediter.ToolStatus{Tool: "Bash/gh", State: breaker.Closed}, ""},
		{"network", failing(cascade.Network), ""},
		{"unknown", failing(cascade.Unknown), ""},
		{"auth", failing(cascade.Auth), "Renew the credentials of Bash/gh"},
		{"permission", failing(cascade.Permission), "Check the permissions of Bash/gh"},
		{"missing", failing(cascade.ToolMissing), "Install Bash/gh or the program it needs"},
		{"forced", expediter.ToolStatus{Tool: "Bash/gh", State: breaker.Open, Forced: true}, "Run 'expediter reset Bash/gh' when Bash/gh may be used again"},
		{"a name that a shell would obey", expediter.ToolStatus{Tool: "x; rm -rf ~", State: breaker.Open, Forced: true},
			"Run 'expediter reset' with its name when x; rm -rf ~ may be used again"},
		{"may have taken effect", expediter.ToolStatus{Tool: "Bash/gh", State: breaker.Closed, Unverified: 2},
			"Find out what the 2 failed calls of Bash/gh did that may have taken effect, then run 'expediter reset Bash/gh'"},
		{"in an incident", expediter.ToolStatus{Tool: "Web", State: breaker.Open}, confirmAction},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			st := &expediter.Status{Incidents: []expediter.Incident{{Active: true, Members: []string{"Web"}}, {Members: []string{"Bash/gh"}}}}
			row := report.New(report.Input{Status: &expediter.Status{Tools: []expediter.ToolStatus{tt.tool}}}).Tools[0]
			if got := toolAction(st, &tt.tool, &row); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestTroubles(t *testing.T) {
	now := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	entry := func(at time.Time, agent, text string) string {
		return `{"level":"error","ts":"` + at.Format(time.RFC3339) + `","msg":"hook","agent":"` + agent + `","error":"` + text + `"}` + "\n"
	}
	hour := now.Add(-time.Hour)
	tests := []struct {
		name, log string
		want      []troubleView
	}{
		{"none", "", []troubleView{}},
		{"no entries", "panic: x\n{}\n[1]\n", []troubleView{}},
		{"of late, of this agent", entry(now.Add(-25*time.Hour), "codex", "old") + entry(hour, "gemini", "other") + entry(hour, "codex", `bad\u001b[2Jinput`) + entry(now, "auto", "who"),
			[]troubleView{{hour.UnixMilli(), "codex", "badinput"}, {now.UnixMilli(), "auto", "who"}}},
		{"a long log", strings.Repeat(entry(hour, "codex", "many"), 5000) + entry(now, "codex", "last"),
			append(repeat(troubleView{hour.UnixMilli(), "codex", "many"}, maxTrouble-1), troubleView{now.UnixMilli(), "codex", "last"})},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			if tt.log != "" {
				if err := os.WriteFile(filepath.Join(dir, "hook.log"), []byte(tt.log), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(tt.want, troubles(dir, "codex", now)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func repeat[T any](v T, n int) []T {
	list := make([]T, n)
	for i := range list {
		list[i] = v
	}
	return list
}

func TestRough(t *testing.T) {
	for ms, want := range map[int64]string{-5: "0 s", 1: "1 s", 1000: "1 s", 119_000: "119 s", 120_000: "2 min", 7_199_000: "119 min",
		7_200_000: "2 h", 200_000_000: "2 days"} {
		if got := rough(ms); got != want {
			t.Errorf("%d: got %q, want %q", ms, got, want)
		}
	}
}

// The help of status names every field of its JSON.
func TestStatusHelpHasEveryField(t *testing.T) {
	help := statusCommand().Long
	var walk func(reflect.Type)
	walk = func(typ reflect.Type) {
		switch typ.Kind() {
		case reflect.Pointer, reflect.Slice:
			walk(typ.Elem())
		case reflect.Struct:
			for _, f := range reflect.VisibleFields(typ) {
				if !f.IsExported() {
					continue
				}
				name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
				if !regexp.MustCompile(`\b` + name + `\b`).MatchString(help) {
					t.Errorf("%s.%s: the help does not name %s", typ.Name(), f.Name, name)
				}
				walk(f.Type)
			}
		}
	}
	walk(reflect.TypeFor[standing]())
}
