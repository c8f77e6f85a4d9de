// Package simulate compares ways of working with tools that fail by stated
// models, in virtual time: retries, gobreaker, and the expediter engine. It
// sleeps nowhere and reads no clock; the same Config gives the same Result.
//
// Each agent is one process with its own breakers and works in order, so that
// its clock is a number; agents share the world, that is the faults of the
// tools.
package simulate
