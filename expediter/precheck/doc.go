// Package precheck asks, before a tool is called, whether it can answer at all
// (SPEC section 9), so that a missing program or an unreachable server is
// routed around without spending the failure budget. Its scores are advice:
// the breaker stays the authority, and a check that fails by itself counts as
// available.
//
// A Checker lives beside one engine. Build it first, let it hear the engine's
// events through Observe, and Apply it at the beginning of each step.
package precheck
