package budget_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/expediter-go/expediter/budget"
)

func newLedger(t *testing.T, limit, perTool int) *budget.Ledger {
	t.Helper()
	l, err := budget.New(limit, perTool)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestNew(t *testing.T) {
	tests := []struct {
		limit     int
		want      int
		remaining int
		text      string
		bad       bool
	}{
		{limit: 0, want: 5, remaining: 5, text: "0/5"},
		{limit: 1, want: 1, remaining: 1, text: "0/1"},
		{limit: budget.Unlimited, want: budget.Unlimited, remaining: budget.Unlimited, text: "0/unlimited"},
		{limit: -2, bad: true},
	}
	for _, tt := range tests {
		l, err := budget.New(tt.limit, 0)
		if tt.bad {
			if err == nil || !strings.Contains(err.Error(), "give 1 or more, or budget.Unlimited") {
				t.Errorf("a budget of %d: got %v", tt.limit, err)
			}
			continue
		}
		if err != nil || l.Limit() != tt.want || l.Remaining() != tt.remaining || l.String() != tt.text || l.Cycle() != 1 || l.Exhausted() {
			t.Errorf("a budget of %d: got %v, %v", tt.limit, l, err)
		}
	}
}

// Exhausted is a fact about the numbers, not a latch: late charges take it past
// the limit, folding may bring it back.
func TestExhaustedSection6(t *testing.T) {
	l := newLedger(t, 2, 0)
	for i, want := range []bool{false, true, true} {
		l.Charge(budget.Charge{Tool: "Web", Category: "network"})
		if l.Exhausted() != want || l.Consumed() != i+1 || l.Remaining() != max(1-i, 0) {
			t.Errorf("after %d charges: %v, %d remaining", i+1, l, l.Remaining())
		}
	}
	l.Fold(func(*budget.Charge) bool { return true })
	if l.Exhausted() || l.String() != "1/2" {
		t.Errorf("folded: %v", l)
	}
}

func TestChargesAreBounded(t *testing.T) {
	l := newLedger(t, budget.Unlimited, 0)
	const n = 3 * budget.MaxCharges
	for i := range n {
		l.Charge(budget.Charge{Tool: "Web", Step: int64(i)})
	}
	kept := l.Charges()
	if len(kept) > budget.MaxCharges || len(kept) < budget.MaxCharges/2 || kept[len(kept)-1].Step != n-1 {
		t.Errorf("%d charges are kept, the last of step %d", len(kept), kept[len(kept)-1].Step)
	}
	if l.Consumed() != n {
		t.Errorf("consumed: got %d, want %d", l.Consumed(), n)
	}
}

func TestChargesAreACopy(t *testing.T) {
	l := newLedger(t, 5, 0)
	l.Charge(budget.Charge{Tool: "Web"})
	l.Charges()[0].Tool = "Evil"
	saved := l.Save()
	saved.Charges[0].Tool, saved.ByTool["Web"] = "Evil", 99
	if got := l.Charges()[0].Tool; got != "Web" || l.Save().ByTool["Web"] != 1 {
		t.Errorf("what was handed out changes the ledger: %s", got)
	}
}

func TestLoadTakesNothingNegative(t *testing.T) {
	l := newLedger(t, 5, 0)
	l.Load(budget.Saved{Cycle: -3, Consumed: -4})
	if l.Cycle() != 1 || l.Consumed() != 0 {
		t.Errorf("got cycle %d, consumed %d", l.Cycle(), l.Consumed())
	}
}

// account is the model of a ledger: every charge that was taken, with the fold
// that it belongs to. All numbers are counted from it anew.
type account struct {
	limit, perTool, cycle int
	charges               []entry
	folds                 int
}

type entry struct {
	tool, category string
	declared       bool
	fold           int // 0: none
}

func (a *account) ofTool(tool string) (n int) {
	for _, e := range a.charges {
		if e.tool == tool {
			n++
		}
	}
	return n
}

// consumed counts each fold once.
func (a *account) consumed() int {
	seen := map[int]bool{}
	n := 0
	for _, e := range a.charges {
		if e.fold == 0 || !seen[e.fold] {
			n++
		}
		seen[e.fold] = true
	}
	return n
}

var (
	names      = []string{"Web", "Mail", "Bash"}
	categories = []string{"network", "timeout"}
)

func (a *account) charge(t *rapid.T, l *budget.Ledger) {
	e := entry{tool: rapid.SampledFrom(names).Draw(t, "tool"), category: rapid.SampledFrom(categories).Draw(t, "category"), declared: rapid.IntRange(0, 4).Draw(t, "declared") == 0}
	want := a.perTool <= 0 || e.declared || a.ofTool(e.tool) < a.perTool
	if got := l.Charge(budget.Charge{Tool: e.tool, Category: e.category, Declared: e.declared}); got != want {
		t.Fatalf("charge %+v: got %v, want %v", e, got, want)
	}
	if want {
		a.charges = append(a.charges, e)
	}
}

func (a *account) foldOf(t *rapid.T, l *budget.Ledger) {
	category := rapid.SampledFrom(categories).Draw(t, "category")
	members := rapid.SliceOfDistinct(rapid.SampledFrom(names), rapid.ID[string]).Draw(t, "members")
	l.Fold(func(c *budget.Charge) bool { return c.Category == category && slices.Contains(members, c.Tool) })
	a.folds++
	for i, e := range a.charges {
		if e.fold == 0 && !e.declared && e.category == category && slices.Contains(members, e.tool) {
			a.charges[i].fold = a.folds
		}
	}
}

func (a *account) check(t *rapid.T, l *budget.Ledger) {
	consumed := a.consumed()
	if l.Consumed() != consumed || l.Cycle() != a.cycle || l.Limit() != a.limit {
		t.Fatalf("got %v of cycle %d, want %d/%d of cycle %d", l, l.Cycle(), consumed, a.limit, a.cycle)
	}
	unlimited := a.limit == budget.Unlimited
	if want := !unlimited && consumed >= a.limit; l.Exhausted() != want {
		t.Fatalf("exhausted at %v: got %v", l, l.Exhausted())
	}
	if want := max(a.limit-consumed, 0); !unlimited && l.Remaining() != want || unlimited && l.Remaining() != budget.Unlimited {
		t.Fatalf("remaining at %v: got %d", l, l.Remaining())
	}
	if want := fmt.Sprintf("%d/%d", consumed, a.limit); !unlimited && l.String() != want {
		t.Fatalf("text: got %v, want %s", l, want)
	}
	paid := 0
	for i, c := range l.Charges() {
		e := a.charges[i]
		if c.Tool != e.tool || c.Declared != e.declared || c.Folded != (e.fold != 0) {
			t.Fatalf("charge %d: got %+v, want %+v", i, c, e)
		}
		if !c.Free {
			paid++
		}
	}
	if paid != consumed || len(l.Charges()) != len(a.charges) {
		t.Fatalf("%d of %d charges count, want %d of %d", paid, len(l.Charges()), consumed, len(a.charges))
	}
}

func TestLedgerAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := &account{cycle: 1,
			limit:   rapid.SampledFrom([]int{budget.Unlimited, 1, 2, 5, 40}).Draw(t, "limit"),
			perTool: rapid.SampledFrom([]int{-1, 0, 1, 3}).Draw(t, "per tool")}
		l, err := budget.New(a.limit, a.perTool)
		if err != nil {
			t.Fatal(err)
		}
		t.Repeat(map[string]func(*rapid.T){
			"charge":  func(t *rapid.T) { a.charge(t, l) },
			"charge2": func(t *rapid.T) { a.charge(t, l) },
			"fold":    func(t *rapid.T) { a.foldOf(t, l) },
			"begin": func(t *rapid.T) {
				l.Begin()
				a.cycle, a.charges = a.cycle+1, nil
			},
			"restored": func(t *rapid.T) {
				text, err := json.Marshal(l.Save())
				if err != nil {
					t.Fatal(err)
				}
				var saved budget.Saved
				if err := json.Unmarshal(text, &saved); err != nil {
					t.Fatal(err)
				}
				if l, err = budget.New(a.limit, a.perTool); err != nil {
					t.Fatal(err)
				}
				l.Load(saved)
			},
			"": func(t *rapid.T) { a.check(t, l) },
		})
	})
}

// A declared charge is neither capped nor folded; all else folds into one.
func TestFoldSection7(t *testing.T) {
	l := newLedger(t, 50, 2)
	for _, c := range []budget.Charge{
		{Tool: "Web", Category: "network"}, {Tool: "Web", Category: "network"}, {Tool: "Web", Category: "network"},
		{Tool: "Web", Category: "network", Declared: true}, {Tool: "Mail", Category: "network"}, {Tool: "Bash", Category: "timeout"},
	} {
		l.Charge(c)
	}
	if l.Consumed() != 5 {
		t.Errorf("charged: got %d, want 5: the third of Web is past its limit, the declared one is not", l.Consumed())
	}
	fold := func() { l.Fold(func(c *budget.Charge) bool { return c.Category == "network" }) }
	fold()
	if l.Consumed() != 3 {
		t.Errorf("folded: got %d, want 3: one for the network, the declared one, one for Bash", l.Consumed())
	}
	fold()
	l.Charge(budget.Charge{Tool: "Mail", Category: "network"})
	fold()
	if l.Consumed() != 4 {
		t.Errorf("folded again: got %d, want 4: what is folded stays, and a fold of one is one", l.Consumed())
	}
	var free []bool
	for _, c := range l.Charges() {
		free = append(free, c.Free)
	}
	if diff := cmp.Diff([]bool{false, true, false, true, false, false}, free); diff != "" {
		t.Errorf("charges that do not count (-want +got):\n%s", diff)
	}
}
