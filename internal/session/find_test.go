package session

import (
	"errors"
	"testing"

	"github.com/expediter-go/expediter/internal/store"
)

func TestWantedOf(t *testing.T) {
	var all []Summary // the latest first
	for _, m := range []Meta{
		{Agent: "codex", Session: "4f3c-b", Project: "/w/p"},
		{Agent: "claude-code", Session: "4f3c-a", Project: "/w"},
		{Agent: "claude-code", Session: "4f3c-ab", Project: "/x"},
		{Agent: "codex", Session: "twin", Project: "/x"},
		{Agent: "gemini", Session: "twin", Project: "/y"},
		{Agent: "gemini", Session: "evil\x1b[2J\u202eid", Project: ""},
		{Agent: "gemini", Session: "", Project: "/w/p2"},
	} {
		all = append(all, Summary{ID: store.ID{Agent: m.Agent, Session: m.Session}, Meta: m})
	}
	tests := []struct {
		name   string
		wanted Wanted
		want   int // index
		err    error
	}{
		{"any: the latest", Wanted{}, 0, nil},
		{"of an agent", Wanted{Agent: "claude-code"}, 1, nil},
		{"of the project that a folder is in", Wanted{Project: "/w/p/deep"}, 0, nil},
		{"of the folder itself, with a slash", Wanted{Project: "/w/"}, 1, nil},
		{"of another folder that begins so", Wanted{Project: "/w/p3"}, 1, nil},
		{"not of a folder in the project's folder", Wanted{Project: "/x/..", Agent: "codex"}, -1, store.ErrNoSession},
		{"by its id", Wanted{Session: "4f3c-b"}, 0, nil},
		{"by an id that others begin with", Wanted{Session: "4f3c-a"}, 1, nil},
		{"by the beginning of its id", Wanted{Session: "4f3c-ab"}, 2, nil},
		{"several begin so", Wanted{Session: "4f3c"}, -1, ErrAmbiguous},
		{"several begin so, one of them of the agent", Wanted{Session: "4f3c", Agent: "codex"}, 0, nil},
		{"two of one id", Wanted{Session: "twin"}, -1, ErrAmbiguous},
		{"two of one id, by project", Wanted{Session: "twin", Project: "/y"}, 4, nil},
		{"as it is printed", Wanted{Session: "evilid"}, 5, nil},
		{"as it begins when printed", Wanted{Session: "evili"}, 5, nil},
		{"none", Wanted{Session: "9"}, -1, store.ErrNoSession},
		{"none of the project", Wanted{Project: "/z"}, -1, store.ErrNoSession},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.wanted.Of(all)
			if !errors.Is(err, tt.err) {
				t.Fatalf("error %v, want %v", err, tt.err)
			}
			if tt.err == nil && got.ID != all[tt.want].ID {
				t.Errorf("got %q, want %q", got.ID, all[tt.want].ID)
			}
		})
	}
}
