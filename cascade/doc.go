// Package cascade recognises one root cause behind several failures (SPEC
// section 7): the categories and outcomes that classify names, which failures
// match, the detector that reads the table when a circuit opens, and the
// backoff that a recovering incident's members share. All of it is pure.
package cascade
