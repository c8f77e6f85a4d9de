package trace

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

// heard reads calls that tell says to a sink, and counts what comes of them.
func heard(t *testing.T, tell func(k *sink)) (Stats, map[Kind]int, *sink) {
	t.Helper()
	kinds := map[Kind]int{}
	ta := newTally("test", nil, func(e *Event) error { kinds[e.Kind]++; return nil })
	var stats Stats
	k := newSink("test", "plain", &stats, ta.take)
	tell(k)
	if err := k.end(); err != nil {
		t.Fatal(err)
	}
	return ta.finish(stats), kinds, k
}

func TestManySessions(t *testing.T) {
	const n = maxSessions + 1000
	stats, kinds, k := heard(t, func(k *sink) {
		for i := range n {
			k.session(fmt.Sprint(i)).issue(issued{tool: "T"})
			if len(k.sessions) > maxSessions {
				t.Fatalf("%d sessions are kept", len(k.sessions))
			}
		}
		k.session("0").result(resulted{}) // ended long ago
	})
	if stats.Sessions != n || stats.Open != n || stats.Orphans != 1 || kinds[End] != n {
		t.Errorf("got %+v, %d ends", stats, kinds[End])
	}
	if len(k.sessions) != 0 || k.open.Len() != 0 || k.openBytes != 0 || k.held != 0 {
		t.Errorf("left behind: %d sessions, %d calls, %d bytes, %d events", len(k.sessions), k.open.Len(), k.openBytes, k.held)
	}
}

func TestManyOpenCalls(t *testing.T) {
	input := json.RawMessage(quote(strings.Repeat("x", maxInput-2)))
	stats, _, _ := heard(t, func(k *sink) {
		for i := range 2 * maxOpenHere {
			k.session("a").issue(issued{id: fmt.Sprint(i), tool: "T"})
		}
		if n := len(k.session("a").open); n != maxOpenHere {
			t.Errorf("%d calls of a session are open, want %d", n, maxOpenHere)
		}
		for i := range 2 * maxOpenBytes / maxInput {
			k.session(fmt.Sprint(i % 100)).issue(issued{tool: "T", input: input})
		}
		if k.openBytes > maxOpenBytes {
			t.Errorf("inputs of %d bytes are kept, want at most %d", k.openBytes, maxOpenBytes)
		}
		k.session("a").result(resulted{id: fmt.Sprint(2*maxOpenHere - 1)})
	})
	if stats.Orphans != 1 { // the oldest ones are given up, of whatever session
		t.Errorf("got %+v, want 1 orphan", stats)
	}
}

func TestLongInput(t *testing.T) {
	long := json.RawMessage(fmt.Sprintf(`{"command":"git status","more":%q}`, strings.Repeat("x", maxInput)))
	var keys []string
	k := newSink("test", "plain", new(Stats), func(e *entry) error { keys = append(keys, e.Key); return nil })
	s := k.session("a")
	s.issue(issued{tool: "Bash", input: long})
	s.result(resulted{how: Flagged})
	s.end()
	if got, want := fmt.Sprint(keys), "[Bash/git Bash/git ]"; got != want {
		t.Errorf("keys: got %s, want %s", got, want)
	}
}

func TestSeen(t *testing.T) {
	var s Seen
	for id := range uint64(maxSeen + 10) {
		if s.add(id + 1) {
			t.Fatalf("%d was not seen before", id+1)
		}
	}
	if !s.add(1) || !s.add(maxSeen+5) {
		t.Error("a recent id is forgotten")
	}
	for id := range uint64(2 * maxSeen) {
		s.add(id + 10*maxSeen)
	}
	if s.add(2) {
		t.Error("an id of three generations ago is remembered")
	}
	if n := len(s.ids.young) + len(s.ids.old); n > 2*maxSeen {
		t.Errorf("%d ids are kept, want at most %d", n, 2*maxSeen)
	}
}

func TestIdentity(t *testing.T) {
	at := time.UnixMilli(1)
	const long = "toolu_0123456789"
	tests := []struct {
		name string
		a, b told
		same bool
	}{
		{"a long id in another session", told{"a", long, "T", []byte("x"), at}, told{"b", long, "T", []byte("x"), time.Time{}}, true},
		{"a long id of other arguments", told{"a", long, "T", []byte("x"), at}, told{"a", long, "T", []byte("y"), at}, false},
		{"a long id of another tool", told{"a", long, "T", nil, at}, told{"a", long, "U", nil, at}, false},
		{"a short id in another session", told{"a", "call_1", "T", nil, at}, told{"b", "call_1", "T", nil, at}, false},
		{"a short id again", told{"a", "call_1", "T", nil, at}, told{"a", "call_1", "T", nil, at}, true},
		{"a short id at another time", told{"a", "call_1", "T", nil, at}, told{"a", "call_1", "T", nil, at.Add(1)}, false},
		{"the parts of a name moved", told{"a", long + "b", "c", nil, at}, told{"a", long, "bc", nil, at}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.a.identity() == tt.b.identity(); got != tt.same || tt.a.identity() == 0 {
				t.Errorf("same: got %v, want %v", got, tt.same)
			}
		})
	}
	if id := (told{session: "a", id: "call_1", tool: "T"}).identity(); id != 0 {
		t.Error("a short id without a time tells a copy from a second try")
	}
}

// TestNamesStayApart: what is clipped does not make two sessions one.
func TestNamesStayApart(t *testing.T) {
	names := map[string]bool{}
	for _, name := range []string{"a\x00b", "a\x01b", "ab", strings.Repeat("x", 300), strings.Repeat("x", 301), strings.Repeat("x", 200)} {
		names[sessionName(name)] = true
	}
	if len(names) != 6 {
		t.Errorf("got %d names, want 6: %v", len(names), names)
	}
}
