package session

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/expediter-go/expediter/cascade/redact"
	"github.com/expediter-go/expediter/internal/store"
)

// Summary is one session of a store.
type Summary struct {
	Meta
	ID    store.ID
	Bytes int64
}

// List is the sessions of a store, the latest first. Those that cannot be read
// are joined in the error; the others are there all the same.
func List(ctx context.Context, st *store.Store) ([]Summary, error) {
	infos, err := st.Sessions(ctx)
	out := make([]Summary, 0, len(infos))
	for _, info := range infos {
		s := Summary{ID: info.ID, Bytes: info.Bytes}
		if json.Unmarshal(info.Meta, &s.Meta) != nil {
			s.Meta = Meta{Agent: info.ID.Agent, Session: info.ID.Session, Seen: info.Modified.UnixMilli()}
		}
		out = append(out, s)
	}
	// A mirrored session may be written long after its latest event.
	slices.SortStableFunc(out, func(a, b Summary) int { return cmp.Compare(b.Seen, a.Seen) })
	return out, err
}

// Wanted says which session a command is about.
type Wanted struct {
	Session string // the agent's id of it, or its beginning; empty: the latest
	Agent   string // empty: any
	Project string // a folder: sessions of it, or of a folder that it is in; empty: any
}

// ErrAmbiguous: several sessions begin so.
var ErrAmbiguous = errors.New("several sessions begin so")

// Of returns the session of a list, the latest first, that is wanted. Without one
// the error is store.ErrNoSession; if several begin as w.Session says,
// ErrAmbiguous. An id that is given whole goes before those that begin so.
func (w Wanted) Of(all []Summary) (Summary, error) {
	var found, whole []Summary
	for _, s := range all {
		if !w.holds(s) {
			continue
		}
		found = append(found, s)
		if w.Session != "" && (s.Session == w.Session || s.Name() == w.Session) {
			whole = append(whole, s)
		}
	}
	if len(whole) > 0 {
		found = whole
	}
	switch {
	case len(found) == 0:
		return Summary{}, fmt.Errorf("%w%s; see 'expediter sessions'", store.ErrNoSession, w.words())
	case len(whole) > 1:
		return Summary{}, fmt.Errorf("%.64q: %w; give its agent or project too, see 'expediter sessions'", w.Session, ErrAmbiguous)
	case len(found) > 1 && w.Session != "":
		return Summary{}, fmt.Errorf("%.64q: %w; give more of its id, see 'expediter sessions'", w.Session, ErrAmbiguous)
	}
	return found[0], nil
}

func (w Wanted) holds(s Summary) bool {
	return (strings.HasPrefix(s.Session, w.Session) || strings.HasPrefix(s.Name(), w.Session)) &&
		(w.Agent == "" || w.Agent == s.Agent) && (w.Project == "" || within(w.Project, s.Project))
}

// Name is the agent's id of the session as it may be printed, and typed.
func (m Meta) Name() string { return redact.Text(m.Session, maxID) }

func (w Wanted) words() string {
	var b strings.Builder
	for _, part := range [...]struct{ label, value string }{{" of agent ", w.Agent}, {" with an id like ", w.Session}, {" for ", w.Project}} {
		if part.value != "" {
			fmt.Fprintf(&b, "%s%.200q", part.label, part.value)
		}
	}
	return b.String()
}

// within reports whether folder is project or lies in it.
func within(folder, project string) bool {
	if project == "" {
		return false
	}
	rel, err := filepath.Rel(filepath.Clean(project), filepath.Clean(folder))
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
