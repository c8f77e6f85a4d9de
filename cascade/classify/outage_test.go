package classify

import (
	"errors"
	"net/http"
	"syscall"
	"testing"

	"github.com/expediter-go/expediter/cascade"
)

func TestOutage(t *testing.T) {
	odd := errors.New("odd")
	tests := []struct {
		name  string
		o     Observation
		local bool
		want  cascade.Category
	}{
		{"nothing is known", Observation{}, false, cascade.Network},
		{"nothing is known of a process", Observation{}, true, cascade.Upstream},
		{"odd", Observation{Err: odd, Result: "odd"}, false, cascade.Network},
		{"an odd process", Observation{Err: odd, Result: "odd"}, true, cascade.Upstream},
		{"refused", Observation{Err: syscall.ECONNREFUSED}, false, cascade.Network},
		{"a process whose pipe broke", Observation{Err: syscall.EPIPE}, true, cascade.Upstream},
		{"login", Observation{HTTPStatus: http.StatusUnauthorized, Err: odd}, false, cascade.Auth},
		{"overloaded", Observation{HTTPStatus: http.StatusTooManyRequests}, false, cascade.RateLimit},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Outage(tt.o, tt.local); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}
