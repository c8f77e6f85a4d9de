package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"pgregory.net/rapid"

	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/internal/session"
	"github.com/expediter-go/expediter/internal/store"
)

func TestToolNamed(t *testing.T) {
	st := expediter.Status{}
	for _, name := range []string{"Bash", "Bash/gh", "Bash/git", "github/search", "evil\x1b[2J tool"} {
		st.Tools = append(st.Tools, expediter.ToolStatus{Tool: name})
	}
	tests := []struct{ typed, want, says string }{
		{"Bash", "Bash", ""},
		{"Bash/gh", "Bash/gh", ""},
		{"github/search", "github/search", ""},
		{"evil tool", "evil\x1b[2J tool", ""},
		{"bash/gh", "", "did you mean Bash/gh?"},
		{"gh", "", "did you mean Bash/gh?"},
		{"github/serch", "", "did you mean github/search?"},
		{"git", "", "did you mean Bash/git, github/search?"},
		{"nothing like it", "", "'expediter status --all' lists"},
		{"", "", "'expediter status --all' lists"},
	}
	for _, tt := range tests {
		t.Run(tt.typed, func(t *testing.T) {
			got, err := toolNamed(st, tt.typed)
			if got != tt.want || (err == nil) != (tt.says == "") {
				t.Fatalf("got %q, %v, want %q", got, err, tt.want)
			}
			if err != nil && (!errors.Is(err, errNoTool) || !strings.Contains(err.Error(), tt.says)) {
				t.Errorf("error %q, want %q in it", err, tt.says)
			}
		})
	}
}

func TestToolToOpen(t *testing.T) {
	st := expediter.Status{Tools: []expediter.ToolStatus{{Tool: "Bash"}, {Tool: "github/search"}}}
	for typed, want := range map[string]string{"Bash": "Bash", "Bash/terraform": "Bash/terraform", "Bash/a/b": "Bash/a/b", "github/search": "github/search",
		"github/create": "", "github": "", "Bash/": "", "/Bash": "", "Bsh/gh": "", "": ""} {
		got, err := toolToOpen(st, typed)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: got %q, %v, want %q", typed, got, err, want)
		}
	}
}

// Every session can be named by its short id, unless another has the same id.
func TestShortIDs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ids := rapid.SliceOfNDistinct(rapid.StringMatching(`[ab]{1,4}(c[ab]{0,12})?`), 1, 12, rapid.ID[string]).Draw(t, "ids")
		var all []session.Summary
		for _, id := range ids {
			all = append(all, session.Summary{ID: store.ID{Session: id}, Meta: session.Meta{Session: id}})
		}
		for i, short := range shortIDs(all) {
			if found, err := (session.Wanted{Session: short}).Of(all); err != nil || found.Session != ids[i] {
				t.Errorf("%q of %q finds %q, %v", short, ids[i], found.Session, err)
			}
			if len(short) < min(leastID, len(ids[i])) {
				t.Errorf("%q is shorter than it need be", short)
			}
		}
	})
}

// printable leaves nothing for a terminal to obey, and says the same.
func FuzzPrintable(f *testing.F) {
	for _, seed := range []string{"plain", "\u009b2J", "\u202e\u2066", "\x7f\ufeff\U000e0001", "é—😀", "\ufffd"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		line, err := json.Marshal(map[string]string{"text": text})
		if err != nil {
			t.Fatal(err)
		}
		out := printable(line)
		for i, r := range string(out) {
			if unprintable(r) {
				t.Fatalf("%q has %q at %d", out, r, i)
			}
		}
		var was, is map[string]string
		if err := errors.Join(json.Unmarshal(line, &was), json.Unmarshal(out, &is)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(was, is); diff != "" {
			t.Errorf("-was +is\n%s", diff)
		}
	})
}

func TestUnjoin(t *testing.T) {
	a, b := errors.New("a"), fmt.Errorf("b: %w", store.ErrDamaged)
	want := []string{"a", "b: " + store.ErrDamaged.Error() + "; the next hook call of its agent sets it aside and begins anew"}
	if diff := cmp.Diff(want, unjoin(errors.Join(a, b))); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	two := fmt.Errorf("%w: %w", a, errors.New("c"))
	if diff := cmp.Diff([]string{"a: c"}, unjoin(two)); diff != "" {
		t.Errorf("of an error that wraps two: -want +got\n%s", diff)
	}
	if got := unjoin(nil); got != nil {
		t.Errorf("got %q of nothing", got)
	}
}

// A session that is in use is waited for: it may be the latest.
func TestFindWaits(t *testing.T) {
	dir := t.TempDir()
	st := store.Open(dir)
	made := func(id string, at time.Time, f func(*session.Session) error) error {
		return session.Update(t.Context(), st, store.ID{Agent: "codex", Session: id}, at, func(session.Setup) (session.Setup, error) { return session.Setup{Stamp: "x"}, nil }, f)
	}
	quick := func(s *session.Session) error { s.Project = "/w"; return nil }
	if err := errors.Join(made("late", time.Now(), quick), made("early", time.Now(), quick)); err != nil {
		t.Fatal(err)
	}
	held, release, done := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		done <- made("late", time.Now(), func(*session.Session) error {
			close(held)
			<-release
			return nil
		})
	}()
	<-held
	type finding struct {
		session string
		err     error
	}
	found := make(chan finding)
	go func() {
		f := sessionFlags{storeFlag: storeFlag{dir}, project: "/w"}
		c, err := f.find(&cobra.Command{})
		found <- finding{c.Session, err}
	}()
	select {
	case got := <-found:
		t.Errorf("got %q, %v before the latest one could be read", got.session, got.err)
		close(release)
	case <-time.After(2 * shortWait):
		close(release)
		if got := <-found; got.session != "late" || got.err != nil {
			t.Errorf("got %q, %v, want the latest", got.session, got.err)
		}
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// A session whose state cannot be read is listed, and said to be so.
func TestSessionsWithoutAState(t *testing.T) {
	dir := t.TempDir()
	err := store.Open(dir).Update(t.Context(), store.ID{Agent: "codex", Session: "thr_1"}, func(tx *store.Tx) error {
		return errors.Join(tx.Put("meta", []byte(`{"agent":"codex","session":"thr_1","project":"/w","began":1,"seen":2}`)), tx.Put("engine", []byte("[]")))
	})
	if err != nil {
		t.Fatal(err)
	}
	v, err := (&storeFlag{dir}).list(&cobra.Command{})
	if err != nil || len(v.Sessions) != 1 || len(v.Unreadable) != 1 {
		t.Fatalf("got %+v, %v, want one session and one that cannot be read", v, err)
	}
	if got := v.Sessions[0].words(); got != "not known" {
		t.Errorf("its state is %q", got)
	}
	if want := "codex session thr_1: "; !strings.HasPrefix(v.Unreadable[0], want) {
		t.Errorf("told %q, want %q before it", v.Unreadable[0], want)
	}
}
