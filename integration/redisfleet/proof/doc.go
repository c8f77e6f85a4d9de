// Package proof holds fleets of real processes to what docs/fleet.md says, under
// faults, and measures them. It has no code but tests: each member is the test
// binary, started again; the tools are a server of the test, which sees every call
// from the tools' side.
package proof
