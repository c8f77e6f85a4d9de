package expediter_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
)

// FuzzRestore: whatever a snapshot says, Restore refuses it or gives an engine
// that works.
func FuzzRestore(f *testing.F) {
	x, err := expediter.New(expediter.Config{Tools: modelMap()})
	if err != nil {
		f.Fatal(err)
	}
	for i, tool := range []string{"Grep", "Grep", "Grep", "Bash", "Else", "Read"} {
		d := x.Decide(tool, int64(i), time.UnixMilli(int64(i)))
		if i != 3 {
			_, _ = x.Record(d.Call, expediter.Failure(cascade.Network, "refused"), int64(i), time.UnixMilli(int64(i)))
		}
	}
	raw, err := json.Marshal(x.Snapshot())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Add([]byte(`{"format":1,"last_call":3,"pending":[3],"tools":[{"tool":"a","idx":7,"machine":{"state":"HALF_OPEN"}}]}`))
	f.Add([]byte(`{"format":1,"tools":[{"tool":"Grep","machine":{"state":"HALF_OPEN"},"external":{"state":"HALF_OPEN","why":"5 failures"},"unverified":3}],"unverified":[{"tool":"Grep","step":1,"text":"no answer"}]}`))
	f.Add([]byte(`{"format":1,"last_call":4,"tools":[{"tool":"Grep","machine":{"state":"CLOSED"},"disabled":true,"external":{"state":"OPEN"},"counted":{"last_call":9,"failure":{"category":"network"},"at":{"step":-5,"at":-1},"stepless":true}}]}`))
	f.Add([]byte(`{"format":1,"incidents":[{"cause":"x","members":["Grep"],"active":true}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var s expediter.Snapshot
		if json.Unmarshal(raw, &s) != nil {
			return
		}
		x, err := expediter.Restore(expediter.Config{Tools: modelMap(), MaxTools: 3}, &s)
		if err != nil {
			return
		}
		for i, tool := range []string{"Grep", "Else", "New", "Newer", "Newest"} {
			d := x.Decide(tool, int64(i), time.UnixMilli(int64(i)))
			if d.Verb.Go() {
				if _, err := x.Record(d.Call, expediter.Failure(cascade.Network, "refused"), int64(i), time.UnixMilli(int64(i))); err != nil {
					t.Fatalf("the restored engine's own call %v: %v", d.Call, err)
				}
			}
		}
		_, _ = x.ConfirmRecovery("", 9, time.UnixMilli(9))
		x.BeginCycle(9, time.UnixMilli(9))
		_ = x.External("Else", breaker.HalfOpen, "", 9, time.UnixMilli(9))
		_ = x.External("Grep", breaker.Closed, "", 9, time.UnixMilli(9))
		if d := x.Decide("Bash", 9, time.UnixMilli(9)); d.Call != 0 {
			if _, err := x.Refuse(d.Call, "", 9, time.UnixMilli(9)); err != nil {
				t.Fatalf("the restored engine's own call %v: %v", d.Call, err)
			}
		}
		_ = x.Verified("Grep", "", 9, time.UnixMilli(9))
		_ = x.Reset("Grep", "", 9, time.UnixMilli(9))
		if _, err := expediter.Restore(expediter.Config{Tools: modelMap()}, x.Snapshot()); err != nil {
			t.Fatalf("the snapshot of a restored engine is refused: %v", err)
		}
	})
}
