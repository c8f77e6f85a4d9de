package session

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/expediter-go/expediter/internal/store"
)

// Without a choice there is nothing to make a session of, even where a
// file is in its place that holds none.
func TestUpdateMakesNoSessionWithoutAChoice(t *testing.T) {
	dir := t.TempDir()
	st, id := store.Open(dir), store.ID{Agent: "codex", Session: "s"}
	touched := func(*Session) error { t.Error("f ran"); return nil }
	err := Update(t.Context(), st, id, time.UnixMilli(1), nil, touched)
	if !errors.Is(err, store.ErrNoSession) {
		t.Errorf("error %v, want %v", err, store.ErrNoSession)
	}
	if files, _ := filepath.Glob(filepath.Join(dir, "sessions", "*.session")); len(files) > 0 {
		t.Errorf("%q were made", files)
	}
	err = st.Update(t.Context(), id, func(tx *store.Tx) error { return nil }) // a file with nothing of ours in it
	if err != nil {
		t.Fatal(err)
	}
	if err := Update(t.Context(), st, id, time.UnixMilli(1), nil, touched); !errors.Is(err, store.ErrNoSession) {
		t.Errorf("error %v, want %v", err, store.ErrNoSession)
	}
}
