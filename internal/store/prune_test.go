package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var farFuture = time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)

func TestExcess(t *testing.T) {
	day := 24 * time.Hour
	now := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	tests := []struct {
		name   string
		limits Limits
		ages   []time.Duration // newest first
		size   int64
		keep   int
	}{
		{"nothing", Limits{}, nil, 0, 0},
		{"defaults", Limits{}, []time.Duration{0, day, 30 * day, 30*day + 1}, 1, 3},
		{"default count", Limits{}, make([]time.Duration, 250), 1, 200},
		{"default bytes", Limits{}, make([]time.Duration, 6), 100 << 20, 5},
		{"count", Limits{Count: 2}, make([]time.Duration, 4), 1, 2},
		{"bytes", Limits{Bytes: 10}, make([]time.Duration, 5), 4, 2},
		{"the newest is too big", Limits{Bytes: 10}, make([]time.Duration, 5), 11, 1},
		{"the newest is too old", Limits{Age: day}, []time.Duration{2 * day, 3 * day}, 1, 0},
		{"from the future", Limits{Age: day}, []time.Duration{-100 * day, 0}, 1, 2},
		{"limits that are none", Limits{Age: -1, Count: -1, Bytes: -1}, []time.Duration{0, day}, 1, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var all []candidate
			for _, age := range tt.ages {
				all = append(all, candidate{info: fakeInfo{size: tt.size, time: now.Add(-age)}})
			}
			if got := len(all) - len(tt.limits.orDefaults().excess(all, now)); got != tt.keep {
				t.Errorf("keeps %d, want %d", got, tt.keep)
			}
		})
	}
}

type fakeInfo struct {
	os.FileInfo
	size int64
	time time.Time
}

func (f fakeInfo) Size() int64        { return f.size }
func (f fakeInfo) ModTime() time.Time { return f.time }

func TestPrune(t *testing.T) {
	s := Open(folder(t))
	now := time.Now()
	for n := range 6 {
		id := ID{"codex", fmt.Sprint("s", n)}
		if err := s.Update(t.Context(), id, addLine("p-0")); err != nil {
			t.Fatal(err)
		}
		at := now.Add(-time.Duration(n) * time.Hour)
		if err := os.Chtimes(s.paths(id).session, at, at); err != nil {
			t.Fatal(err)
		}
	}
	foreign := s.paths(ID{"codex", "s5"}).session
	write(t, foreign, []byte("a letter"))
	if err := os.Chtimes(foreign, now.Add(-9*time.Hour), now.Add(-9*time.Hour)); err != nil {
		t.Fatal(err)
	}
	lonely := s.paths(ID{"codex", "lonely"})
	write(t, lonely.lock, nil)
	write(t, lonely.new, []byte("half a session"))

	if n, err := s.Prune(t.Context(), Limits{Age: 150 * time.Minute}, now); n != 2 || err != nil {
		t.Errorf("removed %d, %v, want 2", n, err)
	}
	all, _ := s.Sessions(t.Context())
	var got []string
	for _, info := range all {
		got = append(got, info.ID.Session)
	}
	if diff := cmp.Diff([]string{"s0", "s1", "s2"}, got); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
	var want []string
	for _, session := range []string{"s0", "s1", "s2", "s5"} {
		base := filepath.Base(s.paths(ID{"codex", session}).base)
		want = append(want, base+endLock, base+endSession)
	}
	slices.Sort(want)
	files, err := os.ReadDir(s.sessions())
	if err != nil {
		t.Fatal(err)
	}
	var have []string
	for _, f := range files {
		have = append(have, f.Name())
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if string(read(t, foreign)) != "a letter" {
		t.Error("what was no session was changed")
	}
}

// TestPruneBeside removes a session again and again while others work on it: each
// transaction finds all of a session or none, and none gets lost between.
func TestPruneBeside(t *testing.T) {
	s := Open(folder(t))
	done := make(chan struct{})
	removed := 0
	var pruner, workers sync.WaitGroup
	pruner.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
			}
			n, err := s.Prune(t.Context(), Limits{Age: 1}, farFuture)
			if err != nil {
				t.Errorf("prune: %v", err)
				return
			}
			removed += n
		}
	})
	for range 3 {
		workers.Go(func() {
			for range 30 {
				err := s.Update(t.Context(), theSession, func(tx *Tx) error {
					if tx.SegmentLen() != counted(tx) {
						return fmt.Errorf("%d lines, %d counted", tx.SegmentLen(), counted(tx))
					}
					return addLine("p-0")(tx)
				})
				if err != nil {
					t.Errorf("update: %v", err)
				}
				err = s.View(t.Context(), theSession, func(tx *Tx) error { return nil })
				if err != nil && !errors.Is(err, ErrNoSession) {
					t.Errorf("view: %v", err)
				}
			}
		})
	}
	workers.Wait()
	close(done)
	pruner.Wait()
	if removed == 0 {
		t.Error("nothing was removed meanwhile")
	}
	if aside, err := s.Aside(); len(aside) != 0 || err != nil {
		t.Errorf("set aside: %v, %v", aside, err)
	}
}
