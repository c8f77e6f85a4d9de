package breaker_test

import (
	"fmt"

	"github.com/expediter-go/expediter/expediter/breaker"
)

// Two failures open the breaker until t=12; what comes before is rejected.
func ExampleMachine() {
	m, err := breaker.New(2, 1, 10)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, t := range []int64{1, 2, 3} {
		if !m.Admit(t) {
			fmt.Printf("t=%d: rejected\n", t)
			continue
		}
		m.Fail(t)
		fmt.Printf("t=%d: %s\n", t, m.State())
	}
	if m.Admit(12) {
		fmt.Printf("t=12: %s\n", m.State())
		m.Succeed()
		fmt.Printf("t=12: %s\n", m.State())
	}
	// Output:
	// t=1: CLOSED
	// t=2: OPEN
	// t=3: rejected
	// t=12: HALF_OPEN
	// t=12: CLOSED
}
