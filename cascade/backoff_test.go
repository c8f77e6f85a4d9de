package cascade_test

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/expediter-go/expediter/cascade"
)

// The largest interval that a policy may have.
const largest = 1_000_000_000_000

// closed is min(max, every·2^k) in numbers that cannot overflow.
func closed(every, max int64, k int) int64 {
	n := new(big.Int).Lsh(big.NewInt(every), uint(k))
	if n.Cmp(big.NewInt(max)) > 0 {
		return max
	}
	return n.Int64()
}

func ExampleBackoff() {
	b := cascade.NewBackoff(3, 20)
	for k := range 5 {
		fmt.Print(b.Interval(k), " ")
	}
	// Output: 3 6 12 20 20
}

func TestBackoffIsTheClosedForm(t *testing.T) {
	tests := []struct{ every, max int64 }{
		{1, 1}, {1, 2}, {3, 20}, {3, 3}, {7, 1000}, {5, 2}, {20, 1},
		{30_000, 200_000}, {1, 1 << 39}, {1, largest}, {3, largest}, {999_999_999_999, largest}, {largest, largest}, {largest, 1},
		{333_333_333_333, 999_999_999_999}, {499_999_999_999, largest},
	}
	for _, tt := range tests {
		b := cascade.NewBackoff(tt.every, tt.max)
		for k := range 41 {
			if got, want := b.Interval(k), closed(tt.every, tt.max, k); got != want {
				t.Errorf("every %d, max %d, k %d: got %d, want %d", tt.every, tt.max, k, got, want)
			}
		}
		if got, want := b.Interval(math.MaxInt), tt.max; got != want {
			t.Errorf("every %d, max %d, k at its end: got %d, want %d", tt.every, tt.max, got, want)
		}
		if got, want := b.Interval(-1), min(tt.every, tt.max); got != want {
			t.Errorf("every %d, max %d, k -1: got %d, want %d", tt.every, tt.max, got, want)
		}
	}
	if got := (cascade.Backoff{}).Interval(3); got != 0 {
		t.Errorf("the zero Backoff: got %d, want 0", got)
	}
}

func TestBackoffProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		every := rapid.Int64Range(1, largest).Draw(t, "every")
		max := rapid.Int64Range(1, largest).Draw(t, "max")
		k := rapid.IntRange(0, 80).Draw(t, "k")
		if got, want := cascade.NewBackoff(every, max).Interval(k), closed(every, max, k); got != want {
			t.Fatalf("got %d, want %d", got, want)
		}
	})
}
