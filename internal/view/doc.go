// Package view shows an analysis: as text for a terminal, as one page of HTML
// that needs nothing else, as JSON and as CSV. It cleans every text that comes
// from a recording (cascade/redact); its functions are pure and safe for
// concurrent use as long as nobody changes the result.
package view
