// Package replay runs recorded events again: the events of one breaker (seed
// 000), the scenarios of an engine, the journal of a whole run, and sessions of
// any agent under a policy that they did not have (WhatIf). All of them go
// through the real breaker.Machine and the real expediter.Engine; the times are
// those of the events, no clock is read.
//
// What is read here may come from anywhere. Lines are bounded by MaxLine,
// errors name the place (a line, or the index of an event, counted from 0) and
// quote what they found cut and escaped.
package replay
