package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// smallKeep is the bound of the journal in the model, so that it is reached.
const smallKeep = 3000

// model is what a session is to be.
type model struct {
	values   map[string]string
	segments []segment // the last is the present one
	next     uint64    // number of the next segment
}

type segment struct {
	number uint64
	lines  []string
}

func (s segment) bytes() (n int) {
	for _, line := range s.lines {
		n += len(line) + overhead
	}
	return n
}

func (m *model) clone() *model {
	c := &model{values: map[string]string{}, next: m.next}
	for k, v := range m.values {
		c.values[k] = v
	}
	for _, s := range m.segments {
		c.segments = append(c.segments, segment{s.number, append([]string{}, s.lines...)})
	}
	return c
}

func (m *model) newSegment() {
	n := len(m.segments)
	if n > 0 && len(m.segments[n-1].lines) == 0 {
		return
	}
	closed := 0
	for _, s := range m.segments {
		closed += s.bytes()
	}
	for closed > smallKeep {
		closed -= m.segments[0].bytes()
		m.segments = m.segments[1:]
	}
	m.next++
	m.segments = append(m.segments, segment{number: m.next})
}

// seen is what a transaction shows, in the shape of the model.
func seen(tx *Tx, keys []string) *model {
	m := &model{values: map[string]string{}}
	for _, k := range keys {
		if v := tx.Get(k); v != nil {
			m.values[k] = string(v)
		}
	}
	for n, lines := range tx.Segments() {
		s := segment{number: n}
		for line := range lines {
			s.lines = append(s.lines, string(line))
		}
		m.segments = append(m.segments, s)
	}
	return m
}

// visible is the model without what a transaction does not show.
func (m *model) visible() *model {
	c := m.clone()
	c.next = 0
	if n := len(c.segments); n > 0 && len(c.segments[n-1].lines) == 0 {
		c.segments = c.segments[:n-1]
	}
	return c
}

type machine struct {
	dir      string
	s        *Store
	sessions map[ID]*model
}

var (
	modelKeys = []string{"meta", "a", "b", "long", "e", "f"}
	modelIDs  = []ID{{"claude-code", "1"}, {"claude-code", "../2\x00"}, {"", ""}}
	errFailed = errors.New("f failed")
)

func (m *machine) open() {
	m.s = Open(m.dir)
	m.s.keep = smallKeep
}

// change draws what a transaction does, and does it to the model and, with the
// function that it returns, to the store.
func change(t *rapid.T, m *model) func(*Tx) error {
	var steps []func(*Tx) error
	step := func(f func(*Tx) error) { steps = append(steps, f) }
	for range rapid.IntRange(0, 12).Draw(t, "steps") {
		switch rapid.IntRange(0, 6).Draw(t, "step") {
		case 0, 1:
			k := rapid.SampledFrom(modelKeys).Draw(t, "key")
			v := rapid.StringN(0, 20, 2000).Draw(t, "value")
			if k == "long" {
				v = fmt.Sprintf("%*s", rapid.IntRange(0, 30_000).Draw(t, "length"), v)
			}
			m.values[k] = v
			step(func(tx *Tx) error { return tx.Put(k, []byte(v)) })
		case 2:
			k := rapid.SampledFrom(modelKeys).Draw(t, "deleted")
			delete(m.values, k)
			step(func(tx *Tx) error { return tx.Put(k, nil) })
		case 3:
			m.newSegment()
			step((*Tx).NewSegment)
		default:
			line := fmt.Sprintf("%*d", rapid.IntRange(0, 900).Draw(t, "width"), rapid.Int().Draw(t, "line"))
			if len(m.segments) == 0 {
				m.newSegment()
				step((*Tx).NewSegment)
			}
			last := &m.segments[len(m.segments)-1]
			last.lines = append(last.lines, line)
			want := len(last.lines)
			step(func(tx *Tx) error {
				err := tx.Append([]byte(line))
				if err == nil && tx.SegmentLen() != want {
					err = fmt.Errorf("segment has %d lines, want %d", tx.SegmentLen(), want)
				}
				return err
			})
		}
	}
	return func(tx *Tx) error {
		for _, step := range steps {
			if err := step(tx); err != nil {
				return err
			}
		}
		return nil
	}
}

func (m *machine) now(id ID) *model {
	if old := m.sessions[id]; old != nil {
		return old.clone()
	}
	return &model{values: map[string]string{}}
}

func same(t *rapid.T, what string, want *model, tx *Tx) {
	if diff := cmp.Diff(want.visible(), seen(tx, modelKeys), cmp.AllowUnexported(model{}, segment{}), cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("%s (-want +got):\n%s", what, diff)
	}
}

func (m *machine) Update(t *rapid.T) {
	id := rapid.SampledFrom(modelIDs).Draw(t, "id")
	before, after := m.now(id), m.now(id)
	f := change(t, after)
	err := m.s.Update(t.Context(), id, func(tx *Tx) error {
		same(t, "before", before, tx)
		if err := f(tx); err != nil {
			return err
		}
		same(t, "within", after, tx)
		m.beside(t, id)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	m.sessions[id] = after
}

// beside looks at other sessions, and tries this one, amid a transaction of it.
func (m *machine) beside(t *rapid.T, held ID) {
	for _, id := range modelIDs {
		if id != held {
			m.view(t, id)
			continue
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		err := m.s.View(ctx, id, func(*Tx) error { t.Fatal("a view amid an update"); return nil })
		if cancel(); !errors.Is(err, ErrBusy) && !errors.Is(err, ErrNoSession) {
			t.Fatalf("a view amid an update: %v, want ErrBusy", err)
		}
	}
}

func (m *machine) Fail(t *rapid.T) {
	id := rapid.SampledFrom(modelIDs).Draw(t, "id")
	f, panics := change(t, m.now(id)), rapid.Bool().Draw(t, "panics")
	var err error
	func() {
		defer func() {
			if p := recover(); p != nil {
				err = p.(error)
			}
		}()
		err = m.s.Update(t.Context(), id, func(tx *Tx) error {
			if err := f(tx); err != nil {
				return err
			}
			if panics {
				panic(errFailed)
			}
			return errFailed
		})
	}()
	if !errors.Is(err, errFailed) {
		t.Fatalf("%v, want that f failed", err)
	}
}

func (m *machine) View(t *rapid.T) { m.view(t, rapid.SampledFrom(modelIDs).Draw(t, "id")) }

func (m *machine) view(t *rapid.T, id ID) {
	want := m.sessions[id]
	err := m.s.View(t.Context(), id, func(tx *Tx) error {
		same(t, "view", want, tx)
		if tx.Put("a", nil) == nil || tx.Append(nil) == nil || tx.NewSegment() == nil {
			t.Fatal("a view can write")
		}
		return nil
	})
	if want == nil && !errors.Is(err, ErrNoSession) || want != nil && err != nil {
		t.Fatalf("view: %v", err)
	}
}

func (m *machine) Reopen(*rapid.T) { m.open() }

// Doubt makes the next transaction check the file.
func (m *machine) Doubt(t *rapid.T) {
	for id := range m.sessions {
		path := m.s.paths(id).session
		if err := os.Chtimes(path, time.Time{}, time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
}

func (m *machine) Check(t *rapid.T) {
	infos, err := m.s.Sessions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := map[ID]string{}
	for _, info := range infos {
		got[info.ID] = string(info.Meta)
	}
	want := map[ID]string{}
	for id, s := range m.sessions {
		want[id] = s.values["meta"]
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("sessions (-want +got):\n%s", diff)
	}
	if aside, err := m.s.Aside(); len(aside) != 0 || err != nil {
		t.Fatalf("set aside: %v, %v", aside, err)
	}
}

func TestModel(t *testing.T) {
	t.Parallel()
	root := folder(t)
	rapid.Check(t, func(r *rapid.T) {
		dir, err := os.MkdirTemp(root, "")
		if err != nil {
			r.Fatal(err)
		}
		m := &machine{dir: dir, sessions: map[ID]*model{}}
		m.open()
		r.Repeat(map[string]func(*rapid.T){
			"":       m.Check,
			"update": m.Update,
			"fail":   m.Fail,
			"view":   m.View,
			"reopen": m.Reopen,
			"doubt":  m.Doubt,
		})
	})
}
