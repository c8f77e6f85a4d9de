package cascade_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/expediter-go/expediter/cascade"
)

// Whose failures are compared.
var (
	web  = cascade.Source{Tool: 1, Shares: []string{"vpn", "sso"}}
	mail = cascade.Source{Tool: 2, Shares: []string{"proxy", "sso"}}
	disk = cascade.Source{Tool: 3, Shares: []string{"nfs"}}
	bare = cascade.Source{Tool: 4}
)

// Between any two tools; within one tool or tools that share something; never.
var matching = map[cascade.Category]struct{ any, near bool }{
	cascade.Network:     {true, true},
	cascade.Filesystem:  {true, true},
	cascade.Permission:  {true, true},
	cascade.Resource:    {true, true},
	cascade.Auth:        {false, true},
	cascade.RateLimit:   {false, true},
	cascade.Timeout:     {false, true},
	cascade.Upstream:    {false, false},
	cascade.ToolMissing: {false, false},
	cascade.Unknown:     {false, false},
}

func TestMatchSection7(t *testing.T) {
	pairs := []struct {
		name string
		a, b cascade.Source
		near bool
	}{
		{"one tool", bare, bare, true},
		{"tools that share something", web, mail, true},
		{"tools that share nothing", web, disk, false},
		{"a tool that declares nothing", web, bare, false},
	}
	if len(matching) != len(cascade.Categories()) {
		t.Fatalf("the table has %d categories, want all %d", len(matching), len(cascade.Categories()))
	}
	for _, p := range pairs {
		for _, x := range cascade.Categories() {
			for _, y := range cascade.Categories() {
				want := x == y && (matching[x].any || matching[x].near && p.near)
				for _, texts := range [][2]string{{"", ""}, {"one", "other"}, {"one", ""}} {
					a, b := cascade.Failure{Category: x, Signature: texts[0]}, cascade.Failure{Category: y, Signature: texts[1]}
					if got := cascade.Match(a, p.a, b, p.b); got != want {
						t.Errorf("%s: %v %q and %v %q: got %v, want %v", p.name, x, texts[0], y, texts[1], got, want)
					}
					if got := cascade.Match(b, p.b, a, p.a); got != want {
						t.Errorf("%s, the other way round: %v and %v: got %v, want %v", p.name, y, x, got, want)
					}
				}
				a, b := cascade.Failure{Category: x, Signature: "same"}, cascade.Failure{Category: y, Signature: "same"}
				if !cascade.Match(a, p.a, b, p.b) {
					t.Errorf("%s: %v and %v with the same words do not match", p.name, x, y)
				}
			}
		}
	}
}

func TestCategoriesHaveNames(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range cascade.Categories() {
		text, err := json.Marshal(c)
		var back cascade.Category
		if err2 := json.Unmarshal(text, &back); err != nil || err2 != nil || back != c || seen[c.String()] {
			t.Errorf("%v is written %s and read as %v: %v, %v", c, text, back, err, err2)
		}
		seen[c.String()] = true
	}
	invalid := cascade.Category(len(cascade.Categories()))
	if _, err := invalid.MarshalText(); err == nil || invalid.String() != "category(10)" {
		t.Errorf("%v was written", invalid)
	}
	var c cascade.Category
	if err := c.UnmarshalText(nil); err != nil || c != cascade.Unknown {
		t.Errorf("no name: got %v, %v, want unknown", c, err)
	}
	if err := c.UnmarshalText([]byte("Network")); err == nil {
		t.Errorf("Network was read as %v", c)
	}
	if !slices.Equal(cascade.Categories()[:2], []cascade.Category{cascade.Unknown, cascade.Network}) {
		t.Errorf("categories begin %v, want unknown first", cascade.Categories()[:2])
	}
}

func TestOutcomesHaveNames(t *testing.T) {
	for want, o := range map[string]cascade.Outcome{"failure": cascade.Failed, "success": cascade.Succeeded, "ignored": cascade.Ignored} {
		text, err := o.MarshalText()
		var back cascade.Outcome
		if err2 := back.UnmarshalText(text); err != nil || err2 != nil || back != o || o.String() != want || string(text) != want {
			t.Errorf("%v is written %s and read as %v: %v, %v", o, text, back, err, err2)
		}
	}
	invalid := cascade.Outcome(3)
	if _, err := invalid.MarshalText(); err == nil || invalid.String() != "outcome(3)" {
		t.Errorf("%v was written", invalid)
	}
	if err := invalid.UnmarshalText([]byte("failed")); err == nil {
		t.Errorf("failed was read as %v", invalid)
	}
	var zero cascade.Outcome
	if zero != cascade.Failed {
		t.Errorf("the zero outcome is %v", zero)
	}
}
