// Package breaker is the three-state circuit breaker on an integer clock: the
// machine of seed 000 (SPEC section 2), the rules by which a live one trips,
// and the pacing of its probes (SPEC section 3). It is pure: no clock, no
// goroutine, no lock. One machine serves both the replay and the engine; a
// caller that shares one between goroutines brings the lock.
package breaker
