package report

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
)

func doubtful(tools []expediter.ToolStatus, calls ...expediter.Unverified) *expediter.Status {
	return &expediter.Status{User: true, Tools: tools, Unverified: calls}
}

func closedTool(name string, e capability.Entry, unverified int) expediter.ToolStatus {
	return expediter.ToolStatus{Tool: name, State: breaker.Closed, Entry: e, Unverified: unverified}
}

// Calls that may have taken effect: which tool, when, and what to find out.
func TestVerifyBeforeRepeatingSection12(t *testing.T) {
	call := func(tool, text string) expediter.Unverified {
		return expediter.Unverified{Tool: tool, Moment: expediter.Moment{Step: 4, Category: cascade.Timeout, Text: text}}
	}
	pay := capability.Entry{Provides: "payments", SideEffects: capability.Destructive}
	const find, or = "      Find out whether it took effect", " before it is repeated or another tool does it"
	tests := []struct {
		name string
		st   *expediter.Status
		want string // the section; empty: none
		do   string
	}{
		{"none", doubtful([]expediter.ToolStatus{closedTool("Pay", pay, 0)}), "", ""},
		{"destructive", doubtful([]expediter.ToolStatus{closedTool("Pay", pay, 1)}, call("Pay", "no answer")),
			"  Pay at step 4: no answer\n" + find + " (payments)" + or + "; a repeat may do harm\n", "Pay"},
		{"idempotent, no text", doubtful([]expediter.ToolStatus{closedTool("Put", capability.Entry{SideEffects: capability.Idempotent}, 1)}, call("Put", "")),
			"  Put at step 4: timeout\n" + find + or + "; a repeat changes nothing more\n", "Put"},
		{"not declared, and gone from the table", doubtful(nil, call("Else", "reset")),
			"  Else at step 4: reset\n" + find + or + "; what a repeat does is not declared\n", "Else"},
		{"more than are listed", doubtful([]expediter.ToolStatus{closedTool("Pay", pay, 3), closedTool("Old", pay, 1)}, call("Pay", "no answer")),
			"  (2 older calls of Pay not listed)\n  (1 older call of Old not listed)\n  Pay at step 4: no answer\n" + find + " (payments)" + or + "; a repeat may do harm\n", "Pay and Old"},
		{"hostile", doubtful([]expediter.ToolStatus{closedTool("Pay", capability.Entry{Provides: "pay\x1b[2J\nments"}, 1)}, call("Pay", "a\x1b[31mb\nc token=ghp_0123456789abcdefghijABCDEFGHIJ012345")),
			"", "Pay"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var text, pause strings.Builder
			r := New(Input{Status: tt.st})
			if err := r.Text(&text); err != nil {
				t.Fatal(err)
			}
			if err := Pause(&pause, Input{Status: tt.st}); err != nil {
				t.Fatal(err)
			}
			for name, all := range map[string]string{"report": text.String(), "pause": pause.String()} {
				_, section, found := strings.Cut(all, unverifiedTitle+":\n")
				section, _, _ = strings.Cut(section, "\n\n")
				section = strings.TrimSuffix(section, "\n") + "\n"
				if tt.want != "" && section != tt.want {
					t.Errorf("%s (-want +got):\n%s", name, cmp.Diff(tt.want, section))
				}
				if found != (tt.do != "") || strings.ContainsAny(all, "\x1b") || strings.Contains(all, "ghp_") {
					t.Errorf("%s: section %v in:\n%s", name, found, all)
				}
			}
			if want := "Verify what the failed calls of " + tt.do + " did"; tt.do != "" && !strings.Contains(text.String(), want) {
				t.Errorf("no advice %q", want)
			}
		})
	}
}

// What another breaker says, and what guards refused, in words.
func TestGuardsInWords(t *testing.T) {
	row := closedTool("Bash", capability.Entry{}, 0)
	row.State, row.External = breaker.Open, &expediter.External{State: breaker.Open, Why: "5 failures"}
	r := New(Input{Status: &expediter.Status{Tools: []expediter.ToolStatus{row}, Counts: expediter.Counts{Calls: 3, Skips: 1, Refused: 1}}})
	got := r.Tools[0]
	if got.Health != "OPEN by another breaker — 5 failures" || got.External != "OPEN" || got.Unblock[0] != "another breaker decides when it is tried" {
		t.Errorf("got %+v", got)
	}
	if got, want := r.Decisions.words(), "3 CALL, 0 PROBE, 1 SKIP, 0 PAUSE; 1 allowed call refused by a guard, and skipped"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
