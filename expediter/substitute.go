package expediter

// Substitute is a value that callers got instead of a tool's own, for reports.
// The engine knows of routes alone; whoever puts the value in the tool's place
// tells (see executor.Executor.Substitutes).
type Substitute struct {
	Tool     string
	Used     string // what stood in: alternative, last_good or default
	Label    string // of the latest: how far it can be trusted
	Lost     string // what the value lacks
	Cause    string // why the tool's own is not there; of the latest, hostile
	Step, At int64  // of the latest; At in milliseconds
	Times    int    // for this tool and kind
}
