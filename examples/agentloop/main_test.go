package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter"
)

func Example_decideAndRecord() {
	agent := newAgent(os.Stdout)
	agent.script = agent.script[:7]
	if err := decideAndRecord(context.Background(), agent, newTools()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// Grep   error: dial tcp 10.0.0.7:7700: connect: connection refused
	// Grep   error: dial tcp 10.0.0.7:7700: connect: connection refused
	// Grep   error: dial tcp 10.0.0.7:7700: connect: connection refused
	// Grep   skipped, use Bash: ACCEPTABLE, loses output formatting
	// Bash   2 lines with TODO
	// Grep   skipped, use Bash: ACCEPTABLE, loses output formatting
	// Bash   2 lines with TODO
	// Grep   2 matches of TODO
	// Grep   2 matches of TODO
}

func Example_execute() {
	agent := newAgent(os.Stdout)
	agent.script = agent.script[2:6]
	if err := execute(context.Background(), agent, newTools()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// Grep   error: dial tcp 10.0.0.7:7700: connect: connection refused
	// Grep   error: dial tcp 10.0.0.7:7700: connect: connection refused
	// Grep   error: dial tcp 10.0.0.7:7700: connect: connection refused
	// Grep   skipped, use Bash: ACCEPTABLE, loses output formatting
	// Bash   2 lines with TODO
}

const wantPause = `Deploy error: exec: "rsync": executable file not found in $PATH
Deploy error: exec: "rsync": executable file not found in $PATH
Deploy paused

Circuit Breaker State Table:
+------------+--------+-------------------+-------------------+------------------+
| Tool       | State  | Consecutive Fails | Last Failure      | Last Success     |
+------------+--------+-------------------+-------------------+------------------+
| Grep       | CLOSED | 0                 | step 3 00:00:00Z  | step 9 00:00:00Z |
| Bash       | CLOSED | 0                 | —                 | step 7 00:00:00Z |
| Deploy     | CLOSED | 2                 | step 11 00:00:00Z | —                |
+------------+--------+-------------------+-------------------+------------------+

Failure budget: 5 / 5 consumed
`

func TestBothLoopsPauseAlike(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		if err := run(t.Context(), &out); err != nil {
			t.Fatal(err)
		}
		_, both, _ := strings.Cut(out.String(), "== Decide and Record\n")
		first, second, _ := strings.Cut(both, "\n== executor.Do\n")
		if diff := cmp.Diff(first, second); diff != "" {
			t.Errorf("the loops differ (-decide +executor):\n%s", diff)
		}
		if !strings.Contains(first, wantPause) {
			t.Errorf("got\n%s\nwant in it\n%s", first, wantPause)
		}
	})
}

func TestOutcome(t *testing.T) {
	refused := errors.New("dial tcp 10.0.0.7:7700: connect: connection refused")
	tests := []struct {
		name        string
		err, ctxErr error
		want        cascade.Outcome
		category    cascade.Category
	}{
		{"answer", nil, nil, cascade.Succeeded, cascade.Unknown},
		{"refused connection", refused, nil, cascade.Failed, cascade.Network},
		{"cancelled", context.Canceled, context.Canceled, cascade.Ignored, cascade.Unknown},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := outcome(tt.err, tt.ctxErr)
			want := expediter.Outcome{Result: tt.want, Category: tt.category, Signature: got.Signature}
			if tt.err != nil {
				want.Text = tt.err.Error()
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("outcome (-want +got):\n%s", diff)
			}
		})
	}
}
