// Package sonybreaker puts Expediter on top of breakers of sony/gobreaker that a
// program already has.
//
// A Guard stands in front of one tool and has a gobreaker behind it. The
// executor asks it after the engine has answered CALL or PROBE. The guard lets
// one trial through at a time, takes each call's end once, gives up a trial
// that does not come back, and tells the engine of every change of state, so
// that routes, incidents and reports know of it. Settings makes of a policy a
// gobreaker that follows seed 000 to the letter.
//
// docs/sonybreaker.md lists where a plain gobreaker differs from SPEC section 2,
// and why.
package sonybreaker
