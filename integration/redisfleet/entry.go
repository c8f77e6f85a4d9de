package redisfleet

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/expediter-go/expediter/expediter"
)

// version is what this package writes before everything that it keeps. Entries of
// other versions are skipped.
const version = "1"

// maxText bounds what one entry may hold, in bytes.
const maxText = 64 << 10

// maxName bounds a tool's name, in bytes. Engines have no longer ones.
const maxName = 512

// place is a place in the log, the id of a stream's entry. The zero place is
// before all others.
type place struct{ ms, seq uint64 }

// String is Redis's form; empty for the zero place.
func (p place) String() string {
	if p == (place{}) {
		return ""
	}
	return strconv.FormatUint(p.ms, 10) + "-" + strconv.FormatUint(p.seq, 10)
}

func (p place) before(q place) bool {
	return p.ms < q.ms || p.ms == q.ms && p.seq < q.seq
}

// parsePlace reads Redis's form, or the empty text.
func parsePlace(text string) (place, error) {
	if text == "" {
		return place{}, nil
	}
	ms, seq, _ := strings.Cut(text, "-")
	var p place
	var err, err2 error
	p.ms, err = strconv.ParseUint(ms, 10, 64)
	p.seq, err2 = strconv.ParseUint(seq, 10, 64)
	if err != nil || err2 != nil || p.String() != text {
		return place{}, fmt.Errorf("%.40q is no place in a log", text)
	}
	return p, nil
}

// entry is what the fleet keeps of a tool, or of its incident: the latest change,
// and the generation that began with it.
type entry struct {
	kind   expediter.ChangeKind
	gen    place
	member string           // who came to it
	inc    place            // where its incident was flagged; zero: it belongs to none
	change expediter.Change // of a closed tool: its kind and name alone
}

func (e entry) open() bool {
	return e.kind == expediter.ChangeOpened || e.kind == expediter.ChangeProbeFailed
}

// plain reports whether the tool is CLOSED and under no control.
func (e entry) plain() bool {
	return e.kind == "" || e.kind == expediter.ChangeClosed || e.kind == expediter.ChangeReset
}

// control is the operator's control that the tool is under; empty: none.
func (e entry) control() expediter.ChangeKind {
	if e.kind == expediter.ChangeForcedOpen || e.kind == expediter.ChangeDisabled {
		return e.kind
	}
	return ""
}

// errVersion is an entry that another version of this package wrote.
var errVersion = errors.New("written by another version")

// parseEntry reads an entry of the scripts' form. An incident's has no tool.
func parseEntry(tool, text string) (entry, error) {
	if len(tool) > maxName {
		return entry{}, fmt.Errorf("a name of %d bytes; a tool has at most %d", len(tool), maxName)
	}
	if len(text) > maxText+1024 {
		return entry{}, fmt.Errorf("%d bytes; an entry has at most %d", len(text), maxText)
	}
	part := strings.SplitN(text, " ", 6)
	if part[0] != version {
		return entry{}, fmt.Errorf("%w: %.20q", errVersion, part[0])
	}
	if len(part) != 6 {
		return entry{}, errors.New("not of six parts")
	}
	e := entry{kind: expediter.ChangeKind(part[1]), member: part[3]}
	if len(e.member) > 64 || named(e.member) != e.member {
		return entry{}, fmt.Errorf("%.70q is no member's name", e.member)
	}
	var errs [3]error
	e.gen, errs[0] = parsePlace(part[2])
	if part[4] != "-" {
		e.inc, errs[1] = parsePlace(part[4])
	}
	e.change, errs[2] = e.parseChange(tool, part[5])
	if err := errors.Join(errs[:]...); err != nil {
		return entry{}, err
	}
	if e.gen == (place{}) {
		return entry{}, errors.New("no generation")
	}
	return e, nil
}

// parseChange reads the change of an entry and holds it to the entry's kind.
func (e entry) parseChange(tool, text string) (expediter.Change, error) {
	if tool != "" && (e.kind == expediter.ChangeClosed || e.kind == expediter.ChangeReset) {
		return expediter.Change{Kind: e.kind, Tool: tool}, nil
	}
	c, err := parseChange(text)
	if err != nil {
		return c, err
	}
	want := e.kind
	if tool == "" && want == expediter.ChangeConfirmed {
		want = expediter.ChangeIncident // it keeps what was flagged
	}
	if c.Kind != want || tool != "" && c.Tool != tool || tool == "" && c.Kind != expediter.ChangeIncident {
		return c, fmt.Errorf("kind %.20q of %.40q is not what its place says", string(c.Kind), c.Tool)
	}
	return c, nil
}

// parseChange reads a change that somebody else wrote.
func parseChange(text string) (expediter.Change, error) {
	var c expediter.Change
	if len(text) > maxText {
		return c, fmt.Errorf("%d bytes; a change has at most %d", len(text), maxText)
	}
	if !utf8.ValidString(text) {
		return c, errors.New("not of UTF-8")
	}
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		return expediter.Change{}, err
	}
	return c, c.Validate()
}

// writeChange is a change as it travels, cut to what an entry may hold.
func writeChange(c expediter.Change) (string, error) {
	for {
		data, err := json.Marshal(c)
		if err != nil || len(data) <= maxText {
			return string(data), err
		}
		if len(c.Members) < 2 {
			return "", fmt.Errorf("%d bytes of one change; at most %d travel", len(data), maxText)
		}
		c.Members = c.Members[:len(c.Members)/2]
	}
}

// told is one entry of the log.
type told struct {
	at     place
	prev   place // the entry before it
	member string
	serial string
	change expediter.Change
}

// parseTold reads an entry of the log. Where err says what is wrong with the
// change, at and prev hold all the same: every version writes them.
func parseTold(id string, fields map[string]any) (told, error) {
	field := func(name string) string {
		s, _ := fields[name].(string)
		return s
	}
	var t told
	var err error
	if t.at, err = parsePlace(id); err != nil {
		return told{}, err
	}
	prev, ok := fields["p"].(string)
	if t.prev, err = parsePlace(prev); err != nil || !ok || !t.prev.before(t.at) {
		return told{}, errors.New("an entry does not say what it follows")
	}
	if v := field("v"); v != version {
		return t, fmt.Errorf("%w: %.20q", errVersion, v)
	}
	t.member, t.serial = field("m"), field("s")
	t.change, err = parseChange(field("c"))
	return t, err
}

// parseCharge reads an entry of the shared budget: "VERSION PLACE SERIAL JSON".
func parseCharge(text string) (told, error) {
	part := strings.SplitN(text, " ", 4)
	if part[0] != version {
		return told{}, fmt.Errorf("%w: %.20q", errVersion, part[0])
	}
	if len(part) != 4 {
		return told{}, errors.New("not of four parts")
	}
	t := told{serial: part[2]}
	var err, err2 error
	t.at, err = parsePlace(part[1])
	t.change, err2 = parseChange(part[3])
	if err == nil && err2 == nil && t.change.Kind != expediter.ChangeCharged {
		err = fmt.Errorf("kind %.20q is no charge", string(t.change.Kind))
	}
	return t, errors.Join(err, err2)
}
