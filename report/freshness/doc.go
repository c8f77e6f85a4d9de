// Package freshness says which results may be old (SPEC section 11): the four
// labels, and a Tracker that remembers results well enough to choose one. A
// label stands beside the data, never inside it; fresh data has none.
package freshness
