package redisfleet_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
	"github.com/expediter-go/expediter/integration/redisfleet"
	"github.com/expediter-go/expediter/integration/redisfleet/redistest"
)

func TestLookLeavesNoTrace(t *testing.T) {
	t.Parallel()
	client := redistest.Start(t).Client()
	v, err := redisfleet.Look(t.Context(), client, redisfleet.Options{Scope: "nobody"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(redisfleet.View{Scope: "nobody"}, v); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if n := client.DBSize(t.Context()).Val(); n != 0 {
		t.Errorf("%d keys are there, want none", n)
	}
}

func TestLook(t *testing.T) {
	t.Parallel()
	client := redistest.Start(t).Client()
	agents := joinAll(t, 2, client, hasty("look"))
	agents[0].fail("Grep", 2, cascade.Network)
	agents[0].fail("Fetch", 2, cascade.Upstream)
	allAre(t, agents, "Fetch", breaker.Open)
	call := agents[1].trial("Fetch")
	v, err := redisfleet.Look(t.Context(), client, redisfleet.Options{Scope: "look"})
	if err != nil {
		t.Fatal(err)
	}
	if len(v.Leases) != 1 || v.Leases[0].Tool != "Fetch" || v.Leases[0].Member != agents[1].fleet.Status().Member || v.Leases[0].Left <= 0 {
		t.Errorf("leases: got %+v, want that of Fetch", v.Leases)
	}
	var tools []string
	for _, tool := range v.Tools {
		tools = append(tools, string(tool.Change.Kind)+" "+tool.Change.Tool)
		if tool.By != agents[0].fleet.Status().Member || tool.Since.IsZero() {
			t.Errorf("%s: by %q at %v, want by the engine that opened it", tool.Change.Tool, tool.By, tool.Since)
		}
	}
	if diff := cmp.Diff([]string{"opened Fetch", "opened Grep"}, tools); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
	if !v.Exists || v.Members != 2 || v.LogLength != 2 || v.Incident != nil {
		t.Errorf("got %+v, want two members, two entries and no incident", v)
	}
	agents[1].record(call, expediter.Success())
	agents[1].fail("Read", 2, cascade.Network)
	await(t, "the incident", func() bool {
		v, err = redisfleet.Look(t.Context(), client, redisfleet.Options{Scope: "look"})
		return err == nil && v.Active
	})
	if v.Closed != 1 || !cmp.Equal(v.Incident.Change.Members, []string{"Grep", "Read"}) {
		t.Errorf("got %d closed and incident %+v, want 1, and Grep and Read", v.Closed, v.Incident)
	}
}

func TestControl(t *testing.T) {
	t.Parallel()
	client := redistest.Start(t).Client()
	o := hasty("control")
	if err := redisfleet.Control(t.Context(), client, o, expediter.Change{Kind: expediter.ChangeForcedOpen, Tool: "Grep"}); !errors.Is(err, redisfleet.ErrNoFleet) {
		t.Errorf("before anybody joined: got %v, want %v", err, redisfleet.ErrNoFleet)
	}
	agents := joinAll(t, 2, client, o)
	refused := []expediter.Change{{Kind: expediter.ChangeReset, Tool: "Grep"}, {Kind: expediter.ChangeConfirmed}}
	for _, c := range refused {
		if err := redisfleet.Control(t.Context(), client, o, c); !errors.Is(err, redisfleet.ErrRefused) {
			t.Errorf("%s: got %v, want %v", c.Kind, err, redisfleet.ErrRefused)
		}
	}
	if err := redisfleet.Control(t.Context(), client, o, expediter.Change{Kind: expediter.ChangeClosed, Tool: "Grep"}); err == nil {
		t.Error("a closing is no control, and was accepted")
	}
	do := func(c expediter.Change) {
		t.Helper()
		if err := redisfleet.Control(t.Context(), client, o, c); err != nil {
			t.Fatal(err)
		}
	}
	do(expediter.Change{Kind: expediter.ChangeForcedOpen, Tool: "Grep", Why: "maintenance"})
	allAre(t, agents, "Grep", breaker.Open)
	if row, _ := agents[1].Tool("Grep"); !row.Forced || row.Reason != "maintenance" {
		t.Errorf("got %+v, want it forced, and why", row)
	}
	do(expediter.Change{Kind: expediter.ChangeReset, Tool: "Grep"})
	allAre(t, agents, "Grep", breaker.Closed)
	for _, tool := range []string{"A", "B", "C"} {
		agents[0].fail(tool, 2, cascade.Network)
		if agents[0].Status().Paused != expediter.NoReason {
			break
		}
	}
	await(t, "the pause", func() bool { return agents[1].Status().Paused == expediter.Systemic })
	do(expediter.Change{Kind: expediter.ChangeConfirmed, Why: "the net is back"})
	await(t, "the end of the pause", func() bool { return agents[1].Status().Paused == expediter.NoReason })
}
