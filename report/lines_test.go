package report

import (
	"testing"

	"github.com/expediter-go/expediter/expediter"
)

// A caller without steps leaves them at zero: the time alone says when.
func TestWhenWithoutSteps(t *testing.T) {
	for _, tt := range []struct {
		m    Moment
		want string
	}{
		{Moment{Step: 3, At: 70_000}, "step 3 1970-01-01 00:01:10Z"},
		{Moment{Step: 0, At: 70_000}, "1970-01-01 00:01:10Z"},
		{Moment{Step: 0}, "step 0"},
		{Moment{Step: expediter.NoStep}, "—"},
	} {
		if got := (Report{}).when(tt.m); got != tt.want {
			t.Errorf("%+v: got %q, want %q", tt.m, got, tt.want)
		}
	}
}
