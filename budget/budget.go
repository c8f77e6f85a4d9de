package budget

// Limits of a ledger.
const (
	Default   = 5  // failures per cycle (SPEC section 6)
	Unlimited = -1 // counts, never exhausts
)
