package main

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestVirtualTimeIsTheRealThing runs every way twice: in virtual time, as the
// program does, and with the libraries as they are, goroutines, timers and
// contexts, under the fake clock of a bubble. Every visit of every caller must
// be the same to the nanosecond.
func TestVirtualTimeIsTheRealThing(t *testing.T) {
	for _, w := range ways {
		t.Run(w.name, func(t *testing.T) {
			virtual, err := w.simulate(defaults)
			if err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				p := w.plan(defaults)
				real, err := w.live(t.Context(), defaults, func(ctx context.Context, r request) error {
					if !sleep(ctx, p.serves(r, time.Since(began))) {
						return ctx.Err()
					}
					return nil
				}, began)
				if err != nil {
					t.Fatal(err)
				}
				for i := range virtual {
					if virtual[i] != real[i] {
						t.Fatalf("caller %d (-real +virtual):\n%s", i, cmp.Diff(real[i], virtual[i], cmp.AllowUnexported(visit{})))
					}
				}
			})
		})
	}
}
