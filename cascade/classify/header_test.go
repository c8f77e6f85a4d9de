package classify

import (
	"net/http"
	"testing"
	"time"
)

func header(pairs ...string) headers {
	h := http.Header{}
	for i := 0; i < len(pairs); i += 2 {
		h.Set(pairs[i], pairs[i+1])
	}
	return headers(h)
}

func TestHeaderWait(t *testing.T) {
	at := time.Date(2026, 8, 1, 10, 0, 0, 0, time.UTC)
	tests := []struct {
		name string
		h    headers
		at   time.Time
		want time.Duration
	}{
		{"none", nil, at, 0},
		{"seconds", header("Retry-After", "120"), time.Time{}, 2 * time.Minute},
		{"parts of a second", header("Retry-After", "1.5"), time.Time{}, 1500 * time.Millisecond},
		{"a date", header("Retry-After", "Sat, 01 Aug 2026 10:00:30 GMT"), at, 30 * time.Second},
		{"a date without a clock", header("Retry-After", "Sat, 01 Aug 2026 10:00:30 GMT"), time.Time{}, 0},
		{"a date that has passed", header("Retry-After", "Sat, 01 Aug 2026 09:00:00 GMT"), at, 0},
		{"milliseconds first", header("Retry-After-Ms", "250", "Retry-After", "9"), at, 250 * time.Millisecond},
		{"an epoch", header("X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "1785578460"), at, time.Minute},
		{"an epoch in milliseconds", header("X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "1785578460000"), at, time.Minute},
		{"quota left", header("X-RateLimit-Remaining", "3", "X-RateLimit-Reset", "60"), at, 0},
		{"a span", header("RateLimit-Remaining", "0", "RateLimit-Reset", "50"), at, 50 * time.Second},
		{"one header", header("RateLimit", "limit=100, remaining=0, reset=50"), at, 50 * time.Second},
		{"one header, newer", header("RateLimit", `"default";r=0;t=40`), at, 40 * time.Second},
		{"a duration", header("x-ratelimit-remaining-tokens", "0", "x-ratelimit-reset-tokens", "6m0s"), at, 6 * time.Minute},
		{"RFC 3339", header("anthropic-ratelimit-tokens-remaining", "0", "anthropic-ratelimit-tokens-reset", "2026-08-01T10:00:05Z"), at, 5 * time.Second},
		{"the longest", header("anthropic-ratelimit-tokens-remaining", "0", "anthropic-ratelimit-tokens-reset", "5",
			"anthropic-ratelimit-requests-remaining", "0", "anthropic-ratelimit-requests-reset", "7"), at, 7 * time.Second},
		{"too much", header("Retry-After", "99999999"), at, maxRetryAfter},
		{"far too much", header("Retry-After", "1e300"), at, 0},
		{"not a number", header("Retry-After", "NaN"), at, 0},
		{"negative", header("Retry-After", "-5"), at, 0},
		{"nonsense", header("Retry-After", "soon", "RateLimit", ";;=;r"), at, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := headerWait(tt.h, tt.at); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func TestHeadersDecideA403(t *testing.T) {
	tests := []struct {
		name   string
		status int
		h      headers
		want   string
	}{
		{"plain", 403, nil, "permission"},
		{"quota left", 403, header("X-RateLimit-Remaining", "41"), "permission"},
		{"quota used up", 403, header("X-RateLimit-Remaining", "0"), "rate_limit"},
		{"come back later", 403, header("Retry-After", "60"), "rate_limit"},
		{"a 404 stays one", 404, header("X-RateLimit-Remaining", "0"), "invalid_input"},
		{"maintenance", 503, header("Retry-After", "60"), "upstream"},
		{"expired token", 400, header("WWW-Authenticate", `Bearer error="invalid_token"`), "auth"},
		{"more scope", 403, header("WWW-Authenticate", `Bearer error="insufficient_scope"`), "permission"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Observe(Observation{HTTPStatus: tt.status, Header: tt.h}); got.Class != tt.want {
				t.Errorf("got %s by %s, want %s", got.Class, got.Rule, tt.want)
			}
		})
	}
	got := Observe(Observation{HTTPStatus: 503, Header: header("Retry-After", "60")}).RetryAfter
	if got != time.Minute {
		t.Errorf("the wait of a 503: got %v, want 1m", got)
	}
}
