package trace

import (
	"cmp"
	"container/list"
	"fmt"
	"hash/fnv"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/expediter-go/expediter/cascade/classify"
	"github.com/expediter-go/expediter/cascade/redact"
)

// Bounds of what a source may keep in memory at a time.
const (
	maxSessions  = 1 << 14 // live ones; the one not heard of for longest ends
	maxOpen      = 1 << 16 // calls without a result; the oldest is given up
	maxOpenBytes = 32 << 20
	maxHeld      = 1 << 14 // events that wait for the end of their turn
	maxName      = 200     // of a session or tool, in bytes
)

// sink is what a decoder speaks to. It joins results to calls and hands entries
// on, session by session in order.
type sink struct {
	file, format string
	stats        *Stats
	take         func(*entry) error
	judge        func(classify.Observation) classify.Verdict
	err          error // of take; nothing is told after it
	sessions     map[string]*session
	recent       *list.List // of *session, the one not heard of for longest first
	born         int
	open         *list.List // of *call, the oldest first
	openBytes    int
	held         int
}

// entry is an event and what tells whether it was told before.
type entry struct {
	Event
	id   uint64 // of the call or prompt; 0: not known
	turn *turn  // of a result
}

func newSink(file, format string, stats *Stats, take func(*entry) error) *sink {
	return &sink{file: file, format: format, stats: stats, take: take, judge: classify.Observe,
		sessions: map[string]*session{}, recent: list.New(), open: list.New()}
}

// session returns the session of a name, a new one on first use.
func (k *sink) session(name string) *session {
	if s := k.sessions[name]; s != nil {
		k.recent.MoveToBack(s.place)
		return s
	}
	if len(k.sessions) >= maxSessions {
		k.recent.Front().Value.(*session).end()
	}
	k.born++
	s := &session{sink: k, key: name, name: sessionName(name), born: k.born}
	s.place = k.recent.PushBack(s)
	k.sessions[name] = s
	return s
}

// sessionName is the name, fit to keep. One that had to be changed says which it
// was, so that no two become one.
func sessionName(name string) string {
	clipped := clip(name)
	if clipped == name {
		return name
	}
	h := fnv.New32a()
	_, _ = io.WriteString(h, name)
	return fmt.Sprintf("%s~%08x", clipped, h.Sum32())
}

// foreign is a record of no known kind.
func (k *sink) foreign() { k.stats.Foreign++ }

func (k *sink) tell(e *entry) {
	if k.err != nil {
		return
	}
	e.File, e.Format = k.file, k.format
	if err := k.take(e); err != nil {
		k.err = stopped{err}
	}
}

// end ends all sessions, in the order of their beginnings.
func (k *sink) end() error {
	var all []*session
	for _, s := range k.sessions {
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b *session) int { return cmp.Compare(a.born, b.born) })
	for _, s := range all {
		s.end()
	}
	return k.err
}

// clip makes a name from outside fit to keep.
func clip(name string) string {
	for i := 0; i < len(name); i++ {
		if c := name[i]; c < ' ' || c > '~' || i >= maxName {
			return redact.Text(name, maxName)
		}
	}
	return name
}

// Bounds of a text that an event carries: what is looked at, and what is kept.
const (
	maxLooked = 2 << 10 // bytes
	maxText   = 300     // runes
)

// excerpt is the beginning of a text, fit to keep. To look at more than can be
// printed costs more than all else.
func excerpt(text string) string {
	if len(text) > maxLooked {
		text = text[:maxLooked]
		if i := strings.LastIndexAny(text, " \t\r\n"); i > maxLooked/2 {
			text = text[:i] // not half of a word that may be a secret
		}
		text += " …"
	}
	return redact.Text(text, maxText)
}

// problem is an error as one clean line.
func problem(err error) string {
	text := err.Error()
	if !utf8.ValidString(text) || len(text) > maxName {
		text = redact.Text(text, maxName)
	}
	return text
}
