package cascade

import "fmt"

// Category is the class of a failure (SPEC section 1). It decides which
// failures may share one root cause (SPEC section 7) and which advice a report
// gives. The zero value is Unknown, which correlates with nothing.
type Category uint8

// The categories of SPEC section 1.
const (
	Unknown     Category = iota // no known class; never correlates by category
	Network                     // the way to the tool: DNS, connect, reset, TLS
	Timeout                     // no answer in time
	RateLimit                   // refused for now: quota, 429, overload
	Auth                        // credentials missing, expired or refused
	Permission                  // the system denies the action
	Filesystem                  // disk full, read-only, I/O error
	Resource                    // memory, processes, descriptors
	Upstream                    // the service behind the tool answers 5xx
	ToolMissing                 // the tool or its program does not exist
)

var categoryNames = [...]string{
	Unknown:     "unknown",
	Network:     "network",
	Timeout:     "timeout",
	RateLimit:   "rate_limit",
	Auth:        "auth",
	Permission:  "permission",
	Filesystem:  "filesystem",
	Resource:    "resource",
	Upstream:    "upstream",
	ToolMissing: "tool_missing",
}

// Categories returns every category, Unknown first.
func Categories() []Category {
	all := make([]Category, len(categoryNames))
	for i := range all {
		all[i] = Category(i)
	}
	return all
}

// String returns the name that files, journals and reports use.
func (c Category) String() string {
	if int(c) < len(categoryNames) {
		return categoryNames[c]
	}
	return fmt.Sprintf("category(%d)", uint8(c))
}

// MarshalText writes the name; an invalid category is an error.
func (c Category) MarshalText() ([]byte, error) {
	if int(c) >= len(categoryNames) {
		return nil, fmt.Errorf("cascade: invalid category %d", uint8(c))
	}
	return []byte(categoryNames[c]), nil
}

// UnmarshalText reads a name. The empty text is Unknown.
func (c *Category) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*c = Unknown
		return nil
	}
	for i, name := range categoryNames {
		if string(text) == name {
			*c = Category(i)
			return nil
		}
	}
	return fmt.Errorf("unknown category %q; use one of %v", text, categoryNames)
}
