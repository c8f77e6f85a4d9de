package breaker

// Anchor is where the distance to an open tool's next probe is counted from:
// its opening, or its last failed probe (SPEC section 3).
type Anchor struct {
	Step     int64 `json:"step"`
	At       int64 `json:"at"`       // milliseconds
	Attempts int64 `json:"attempts"` // requests since
}

// Due reports whether a trial is due at (step, at). interval is Every, as
// lengthened by a backoff; afterMS is AfterMS likewise (Off: never by time
// alone). Step and at are not before the anchor's.
func (p *Pacing) Due(a Anchor, interval, afterMS, step, at int64) bool {
	switch p.Unit {
	case Steps:
		return step-a.Step >= interval
	case Time:
		return at-a.At >= interval
	}
	if at-a.At < p.NotBeforeMS {
		return false
	}
	return a.Attempts >= interval || afterMS > 0 && at-a.At >= afterMS
}

// Left returns the distance to the trial in the pacing's unit: at least 1
// while it is not due by its count. In unit attempts it is the number of
// further requests, the last of which is the probe.
func (p *Pacing) Left(a Anchor, interval, step, at int64) int64 {
	var gone int64
	switch p.Unit {
	case Attempts:
		gone = a.Attempts
	case Steps:
		gone = step - a.Step
	case Time:
		gone = at - a.At
	}
	return max(interval-gone, 1)
}
