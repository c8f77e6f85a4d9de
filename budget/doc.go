// Package budget is the failure ledger of one cycle (SPEC section 6): every
// failure is a charge, and an exhausted budget is a pause. It works alone, as
// the minimal model of counting and pausing.
package budget
