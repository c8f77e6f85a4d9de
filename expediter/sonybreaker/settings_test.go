package sonybreaker_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sony/gobreaker/v2"

	"github.com/expediter-go/expediter/expediter/breaker"
	"github.com/expediter-go/expediter/expediter/executor"
	"github.com/expediter-go/expediter/expediter/sonybreaker"
)

func TestSettingsAreTheSeedsOwn(t *testing.T) {
	st, err := sonybreaker.Settings(sonybreaker.Policy{FailureThreshold: 2, HalfOpenSuccesses: 3, Cooldown: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if st.Timeout != 10*time.Second-1 || st.MaxRequests != 3 || st.Interval != 0 || st.BucketPeriod != 0 {
		t.Errorf("got %+v", st)
	}
	for failures, want := range map[uint32]bool{1: false, 2: true, 3: true} {
		if got := st.ReadyToTrip(gobreaker.Counts{ConsecutiveFailures: failures}); got != want {
			t.Errorf("%d failures in a row: trips %v, want %v", failures, got, want)
		}
	}
	if st.IsSuccessful != nil || st.OnStateChange != nil || st.Name != "" {
		t.Error("set what belongs to the caller")
	}
}

func TestSettingsRefuses(t *testing.T) {
	good := sonybreaker.Policy{FailureThreshold: 1, HalfOpenSuccesses: 1, Cooldown: 2}
	if _, err := sonybreaker.Settings(good); err != nil {
		t.Fatalf("the smallest policy: %v", err)
	}
	tests := []struct {
		name   string
		change func(*sonybreaker.Policy)
		want   string
	}{
		{"no cooldown", func(p *sonybreaker.Policy) { p.Cooldown = 0 }, "Cooldown is 0s; gobreaker cannot let a trial through at once (it makes 60s of it), give 2ns or more"},
		{"cooldown of 1 ns", func(p *sonybreaker.Policy) { p.Cooldown = 1 }, "Cooldown is 1ns"},
		{"negative cooldown", func(p *sonybreaker.Policy) { p.Cooldown = -time.Second }, "Cooldown is -1s"},
		{"no threshold", func(p *sonybreaker.Policy) { p.FailureThreshold = 0 }, "FailureThreshold is 0; give 1 to 4294967295"},
		{"threshold past counting", func(p *sonybreaker.Policy) { p.FailureThreshold = math.MaxUint32 + 1 }, "FailureThreshold is 4294967296"},
		{"no successes", func(p *sonybreaker.Policy) { p.HalfOpenSuccesses = -1 }, "HalfOpenSuccesses is -1"},
		{"successes past counting", func(p *sonybreaker.Policy) { p.HalfOpenSuccesses = math.MaxInt }, "HalfOpenSuccesses is 9223372036854775807"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := good
			tt.change(&p)
			st, err := sonybreaker.Settings(p)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q in it", err, tt.want)
			}
			if st.ReadyToTrip != nil {
				t.Error("settings beside an error")
			}
		})
	}
	_, err := sonybreaker.Settings(sonybreaker.Policy{})
	if got := strings.Count(fmt.Sprint(err), "\n"); got != 2 {
		t.Errorf("an empty policy has three faults, got:\n%v", err)
	}
}

func TestPolicyOf(t *testing.T) {
	inTime := breaker.Pacing{Unit: breaker.Time}
	tests := []struct {
		name  string
		in    breaker.Policy
		want  sonybreaker.Policy
		fault string
	}{
		{"defaults in time", breaker.Policy{Probe: inTime},
			sonybreaker.Policy{FailureThreshold: 3, HalfOpenSuccesses: 1, Cooldown: 30 * time.Second}, ""},
		{"its own", breaker.Policy{FailureThreshold: 5, HalfOpenSuccesses: 2, Probe: breaker.Pacing{Unit: breaker.Time, Every: 1500}},
			sonybreaker.Policy{FailureThreshold: 5, HalfOpenSuccesses: 2, Cooldown: 1500 * time.Millisecond}, ""},
		{"the longest", breaker.Policy{Probe: breaker.Pacing{Unit: breaker.Time, Every: breaker.MaxInterval, Max: breaker.MaxInterval}},
			sonybreaker.Policy{FailureThreshold: 3, HalfOpenSuccesses: 1, Cooldown: breaker.MaxInterval * time.Millisecond}, ""},
		{"attempts", breaker.Policy{}, sonybreaker.Policy{}, "probe.unit: attempts: gobreaker has no cooldown but one of time; set time"},
		{"steps", breaker.Policy{Probe: breaker.Pacing{Unit: breaker.Steps}}, sonybreaker.Policy{}, "probe.unit: steps"},
		{"backoff", breaker.Policy{Probe: breaker.Pacing{Unit: breaker.Time, Backoff: breaker.On}}, sonybreaker.Policy{}, "probe.backoff: gobreaker has no cooldown that grows"},
		{"rate", breaker.Policy{Probe: inTime, Trip: breaker.Trip{Policy: breaker.Rate}}, sonybreaker.Policy{}, "trip.policy: rate"},
		{"slow calls", breaker.Policy{Probe: inTime, SlowCallMS: 10}, sonybreaker.Policy{}, "slow_call_ms"},
		{"no policy at all", breaker.Policy{FailureThreshold: -2, Probe: inTime}, sonybreaker.Policy{}, "failure_threshold: -2 is below 1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := sonybreaker.PolicyOf(tt.in)
			if (err != nil) != (tt.fault != "") || err != nil && !strings.Contains(err.Error(), tt.fault) {
				t.Errorf("got error %v, want %q", err, tt.fault)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("policy (-want +got):\n%s", diff)
			}
			if _, err := sonybreaker.Settings(got); tt.fault == "" && err != nil {
				t.Errorf("its settings: %v", err)
			}
		})
	}
}

func TestIgnored(t *testing.T) {
	for err, want := range map[error]bool{
		nil: false, errors.New("down"): false, context.DeadlineExceeded: false,
		context.Canceled: true, fmt.Errorf("search: %w", context.Canceled): true, sonybreaker.ErrTrialLost: true,
		&sonybreaker.Refusal{Tool: "other", Reason: gobreaker.ErrOpenState}: true, &executor.Refused{Tool: "other"}: true,
	} {
		if got := sonybreaker.Ignored(err); got != want {
			t.Errorf("%v: got %v", err, got)
		}
	}
}
