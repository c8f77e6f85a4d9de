package executor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/report/freshness"
)

// Fallback is what stands in for a call of a tool that was skipped, refused by
// its bulkhead or guard, or failed. Its parts are tried in this order: the
// alternative, the last good result, the default. None stands in while the
// engine pauses, for a call that may have taken effect, for one that is refused
// before that is verified, for a cancelled one, for an answer that its caller does
// not like, or for a tool that is declared no_substitute; a panic goes on whatever
// is declared.
type Fallback struct {
	// Alternative is the same work done by AlternativeTool. To give it says that
	// it takes the same input. It runs as a call of that tool, and only where the
	// engine's route of a SKIP names it: never after a call that failed.
	Alternative     func(context.Context) (any, error)
	AlternativeTool string
	// LastGood keeps the tool's results and gives the last one to the same
	// question: see Asking. The value itself is kept and given, not a copy. An
	// executor keeps 1,000, and of strings and bytes 64 MiB in all and none above
	// 1 MiB; those that were not used for longest go first.
	LastGood bool
	MaxAge   time.Duration // of a last good result; 0: any
	Default  any           // nil: none
}

// Used is whose value the caller of Do got.
type Used uint8

const (
	UsedNothing     Used = iota // nobody's: there is an error
	UsedTool                    // the tool's own
	UsedAlternative             // that of Fallback.Alternative
	UsedLastGood                // an earlier one of the tool
	UsedDefault                 // Fallback.Default
)

var usedNames = [...]string{UsedNothing: "nothing", UsedTool: "tool", UsedAlternative: "alternative", UsedLastGood: "last_good", UsedDefault: "default"}

// String returns nothing, tool, alternative, last_good or default.
func (u Used) String() string {
	if int(u) < len(usedNames) {
		return usedNames[u]
	}
	return fmt.Sprintf("used(%d)", uint8(u))
}

// Degraded is the error beside a value that Wrap's fn did not return itself.
type Degraded struct {
	Tool    string
	Receipt Receipt
}

// Error tells what the value is, what it lacks, and why.
func (d *Degraded) Error() string {
	r := d.Receipt
	return fmt.Sprintf("%s %.64q gave no result of its own, %s stands in for it; lost: %s; %s", r.Label, d.Tool, r.Used, r.Lost, plain(text(r.Cause)))
}

// Unwrap returns the tool's error, or *Refused.
func (d *Degraded) Unwrap() error { return d.Receipt.Cause }

func validFallbacks(fallbacks map[string]Fallback, entries map[string]entry) error {
	var errs []error
	for tool, f := range fallbacks {
		name, _ := capability.Nearest(entries, tool)
		for _, fault := range f.faults(tool, entries[name]) {
			errs = append(errs, fmt.Errorf("executor: Fallbacks[%.64q]: %s", tool, fault))
		}
	}
	return errors.Join(errs...)
}

func (f Fallback) faults(tool string, in entry) []string {
	var faults []string
	fault := func(wrong bool, text string) {
		if wrong {
			faults = append(faults, text)
		}
	}
	fault(f.Alternative == nil && !f.LastGood && f.Default == nil, "nothing stands in; give an alternative, LastGood or a Default, or no entry")
	fault((f.Alternative == nil) != (f.AlternativeTool == ""), "Alternative and AlternativeTool go together; give both or neither")
	fault(f.AlternativeTool != "" && !slices.ContainsFunc(in.alternatives, func(a capability.Alternative) bool { return a.Tool == f.AlternativeTool }),
		fmt.Sprintf("the capability map does not declare AlternativeTool %.64q, so no route leads there; declare it", f.AlternativeTool))
	fault(f.MaxAge < 0, fmt.Sprintf("MaxAge %v is below zero; give 0 for any age", f.MaxAge))
	fault(f.MaxAge > 0 && !f.LastGood, "MaxAge without LastGood; set that too")
	fault(in.noSubstitute, "the capability map says no_substitute: nothing may stand in for it; remove one of them")
	return faults
}

// orElse is what follows an attempt that gave value and err.
func orElse[T any](ctx context.Context, e *Executor, tool string, value T, err error, r *Receipt) (T, error) {
	f, ok := e.fallback(tool)
	switch {
	case ok && err == nil && f.LastGood:
		e.keepGood(ctx, tool, value)
	case ok && err != nil && wanting(r, err):
		s := stand{e: e, tool: tool, f: f, r: *r, err: err}
		instead := value
		s.accept = func(v any) (ok bool) {
			instead, ok = v.(T)
			return ok || v == nil && any(instead) == nil // a nil of an interface
		}
		err = s.find(ctx)
		*r = s.r
		if err == nil {
			return instead, nil
		}
	}
	return value, err
}

// fallback is the tool's own, or its parent's; ok is false if nothing may stand in.
func (e *Executor) fallback(tool string) (f Fallback, ok bool) {
	name, ok := capability.Nearest(e.cfg.Fallbacks, tool)
	return e.cfg.Fallbacks[name], ok && !e.entry(tool).noSubstitute
}

// wanting reports whether something may stand in for the call: it failed, or it
// was refused, by this executor or by another one within the tool.
func wanting(r *Receipt, err error) bool {
	if r.Decision.Verb.Go() && r.Outcome.Result == cascade.Failed {
		return !r.MayHaveTakenEffect
	}
	refused := refusal(err)
	return refused != nil && refused.Decision.Verb == expediter.Skip && !refused.Decision.Unverified
}

// refusal finds a refusal in an error of whatever kind; nil: there is none.
func refusal(err error) (refused *Refused) {
	defer func() {
		if recover() != nil { // methods of err
			refused = nil
		}
	}()
	refused, _ = errors.AsType[*Refused](err)
	return refused
}

// stand looks for what stands in for one call.
type stand struct {
	e      *Executor
	tool   string
	f      Fallback
	accept func(any) bool // takes a value; false: it is of another type
	r      Receipt
	err    error
}

// find returns nil if something stands in, else the error to return.
func (s *stand) find(ctx context.Context) error {
	cause := s.err
	if !s.alternative(ctx) && (s.r.MayHaveTakenEffect || !s.lastGood(ctx) && !s.byDefault()) {
		return s.err
	}
	s.r.Cause = cause
	s.e.substitutes.add(s.tool, s.r, s.e.step(), s.e.now())
	return nil
}

func (s *stand) alternative(ctx context.Context) bool {
	route := s.r.Decision.Route
	if s.f.Alternative == nil || route == nil || route.Kind != capability.UseAlternative || route.Tool != s.f.AlternativeTool {
		return false
	}
	r := new(Receipt)
	v, err := attempt(ctx, s.e, s.f.AlternativeTool, s.f.Alternative, r)
	s.r.Instead = r
	if err != nil {
		s.r.MayHaveTakenEffect = r.MayHaveTakenEffect
		s.err = errors.Join(s.err, fmt.Errorf("%.64q in its place: %w", s.f.AlternativeTool, err))
		return false
	}
	lost := plain(route.Degradation)
	if lost == "" {
		lost = "not declared"
	}
	return s.use(UsedAlternative, v, route.Label.String(), lost)
}

func (s *stand) lastGood(ctx context.Context) bool {
	if !s.f.LastGood {
		return false
	}
	v, at, ok := s.e.lastGood(ctx, s.tool)
	age := max(s.e.now().Sub(at), 0)
	if !ok || s.f.MaxAge > 0 && age > s.f.MaxAge || !s.use(UsedLastGood, v, string(freshness.Stale(at)), "what has changed since") {
		return false
	}
	s.r.Age = age
	return true
}

func (s *stand) byDefault() bool {
	if s.f.Default == nil {
		return false
	}
	return s.use(UsedDefault, s.f.Default, "[DEGRADED — "+plain(s.tool)+" gave no result; this is its declared default]", "the tool's own answer")
}

func (s *stand) use(used Used, v any, label, lost string) bool {
	if !s.accept(v) {
		s.r.Err = errors.Join(s.r.Err, fmt.Errorf("executor: %s of %.64q is %T, which its caller does not take; give the type that Do is called with", used, s.tool, v))
		return false
	}
	s.r.Used, s.r.Label, s.r.Lost = used, label, lost
	return true
}
