package redisfleet

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/expediter-go/expediter/expediter"
)

// FuzzEntry reads what others may have written: entries of tools, of the log, of the
// incident, of the budget. What is read has to be fit for an engine, and to be
// written and read again as the same.
func FuzzEntry(f *testing.F) {
	f.Add("Grep", `1 opened 5-0 m - {"kind":"opened","tool":"Grep","failure":{"category":"network"},"text":"x","run":3}`)
	f.Add("Grep", `1 probe_failed 18446744073709551615-1 host_1_AB 5-0 {"kind":"probe_failed","tool":"Grep","failed_probes":2,"incident_probes":1}`)
	f.Add("Grep", "1 closed 5-1 m - -")
	f.Add("", "1 closed 5-1 m - -")
	f.Add("", `1 incident 5-0 m 5-0 {"kind":"incident","cause":"mixed","members":["A","B"]}`)
	f.Add("", `1 confirmed 6-0 m 5-0 {"kind":"incident","cause":"mixed","members":["A","B"]}`)
	f.Add("Grep", "2 opened 5-0 m - {}")
	f.Add("5-1", `{"kind":"charged","tool":"Grep"}`)
	f.Add("1", "1 5-0 serial {\"kind\":\"charged\",\"tool\":\"Grep\"}")
	f.Add("Grep", "1 opened 05-0 m - {}")
	f.Fuzz(func(t *testing.T, tool, text string) {
		if e, err := parseEntry(tool, text); err == nil {
			sound(t, e.change, tool == "" && e.kind == expediter.ChangeConfirmed || e.change.Kind == e.kind)
			again(t, tool, e)
		}
		if c, err := parseTold("9-9", map[string]any{"v": "1", "p": tool, "m": "m", "s": "s", "c": text}); err == nil {
			sound(t, c.change, c.prev.before(c.at) && c.prev.String() == tool)
		}
		if c, err := parseTold(tool, map[string]any{"v": "1", "p": "", "c": text}); err == nil {
			sound(t, c.change, c.at.String() == tool)
		}
		if c, err := parseCharge(text); err == nil {
			sound(t, c.change, c.change.Kind == expediter.ChangeCharged)
		}
	})
}

// sound fails unless a change is one that an engine takes.
func sound(t *testing.T, c expediter.Change, fits bool) {
	t.Helper()
	if err := c.Validate(); err != nil || !fits || !utf8.ValidString(c.Text) {
		t.Errorf("%+v was read: valid: %v, fits its place: %v", c, err, fits)
	}
	x, err := expediter.New(expediter.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := x.Adopt(c, expediter.NoStep, time.Time{}); err != nil {
		t.Errorf("%+v was read, and the engine says %v", c, err)
	}
}

// again writes an entry as the scripts do, and reads it.
func again(t *testing.T, tool string, e entry) {
	t.Helper()
	inc, json := "-", "-"
	if e.inc != (place{}) {
		inc = e.inc.String()
	}
	if !e.plain() {
		var err error
		if json, err = writeChange(e.change); err != nil {
			return // larger than what was read: escapes
		}
	}
	text := strings.Join([]string{version, string(e.kind), e.gen.String(), e.member, inc, json}, " ")
	got, err := parseEntry(tool, text)
	if err != nil || got.kind != e.kind || got.gen != e.gen || got.inc != e.inc || got.member != e.member {
		t.Errorf("%+v, written as %q: got %+v, %v", e, text, got, err)
	}
}
