package budget_test

import (
	"errors"
	"fmt"

	"github.com/expediter-go/expediter/budget"
)

// The minimal model: no circuits, only a count of failures and a pause.
func Example() {
	ledger, err := budget.New(budget.Default, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	refused := errors.New("connection refused")
	run := func(tool string) error {
		if tool == "Read" {
			return nil
		}
		return refused
	}
	for step, tool := range []string{"Read", "Web", "Bash", "Web", "Read", "Bash", "Web", "Read"} {
		if ledger.Exhausted() {
			fmt.Printf("step %d: PAUSE, %s failures\n", step, ledger)
			break
		}
		if err := run(tool); err != nil {
			ledger.Charge(budget.Charge{Tool: tool, Step: int64(step), Text: err.Error()})
		}
	}
	for _, c := range ledger.Charges()[:2] {
		fmt.Printf("%s at step %d: %s\n", c.Tool, c.Step, c.Text)
	}
	ledger.Begin()
	fmt.Printf("cycle %d: %s\n", ledger.Cycle(), ledger)
	// Output:
	// step 7: PAUSE, 5/5 failures
	// Web at step 1: connection refused
	// Bash at step 2: connection refused
	// cycle 2: 0/5
}
