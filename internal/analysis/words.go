package analysis

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/expediter-go/expediter/budget"
	"github.com/expediter-go/expediter/expediter/breaker"
)

// words says what a policy sets.
func words(p Policy) string {
	q := p.Config.Policy
	var w []string
	if q.Trip.Policy == breaker.Rate {
		w = append(w, fmt.Sprintf("rate above %.0f %% of %d", q.Trip.Rate*100, q.Trip.Window))
	} else {
		w = append(w, fmt.Sprintf("threshold %d", q.FailureThreshold))
	}
	limit := "unlimited"
	if q.Budget != budget.Unlimited {
		limit = fmt.Sprint(q.Budget)
	}
	w = append(w, "budget "+limit)
	if q.ChargePerTool > 0 {
		w = append(w, fmt.Sprintf("at most %d per tool", q.ChargePerTool))
	}
	w = append(w, fmt.Sprintf("probe every %d", q.Probe.Every))
	if q.Probe.Backoff == breaker.On {
		w[len(w)-1] += " with backoff"
	}
	if q.HalfOpenSuccesses > 1 {
		w = append(w, fmt.Sprintf("%d good probes to close", q.HalfOpenSuccesses))
	}
	if p.Keys != FullKeys {
		w = append(w, "keys "+p.Keys.String())
	}
	if p.Filter != Judged {
		w = append(w, "failures "+p.Filter.String())
	}
	return strings.Join(w, ", ")
}

// policyYAML is the policy as the section expediter of a map or task file.
// What no file can set is said in a comment.
func policyYAML(p Policy) string {
	q := p.Config.Policy
	var b bytes.Buffer
	if p.Keys != FullKeys || p.Filter != Judged {
		fmt.Fprintf(&b, "# for comparison only: keys %s, failures %s, which no file can set\n", p.Keys, p.Filter)
	}
	b.WriteString("expediter:\n  policy: faithful\n")
	fmt.Fprintf(&b, "  failure_threshold: %d\n  half_open_successes: %d\n", q.FailureThreshold, q.HalfOpenSuccesses)
	if q.Trip.Policy == breaker.Rate {
		fmt.Fprintf(&b, "  trip:\n    policy: rate\n    window: %d\n    min_calls: %d\n    rate: %v\n", q.Trip.Window, q.Trip.MinCalls, q.Trip.Rate)
	}
	fmt.Fprintf(&b, "  budget: %d\n  charge_per_tool: %d\n", q.Budget, max(q.ChargePerTool, 0))
	fmt.Fprintf(&b, "  charge_stale: %t\n  batch: %t\n", q.ChargeStale.Or(true), q.Batch.Or(false))
	fmt.Fprintf(&b, "  probe:\n    every: %d\n    max: %d\n    backoff: %t\n    not_before_ms: %d\n", q.Probe.Every, q.Probe.Max, q.Probe.Backoff.Or(false), max(q.Probe.NotBeforeMS, 0))
	if q.Cascade.OneOutage == breaker.On {
		b.WriteString("  cascade:\n    one_outage: true\n")
	}
	return b.String()
}
