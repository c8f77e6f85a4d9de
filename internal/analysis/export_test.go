package analysis

// The bounds of an outage, for the page that tells them.
const (
	MinOutage = minOutage
	MaxOutage = maxOutage
)
