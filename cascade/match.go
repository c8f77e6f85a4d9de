package cascade

import "slices"

// Failure is what correlation looks at: the class of a failure and its
// normalised text.
type Failure struct {
	Category  Category `json:"category,omitempty"`
	Signature string   `json:"signature,omitempty"` // empty: no signature
}

// Source is the tool a failure belongs to, as far as matching cares: any
// value that identifies the tool, and the things it declares to share.
type Source struct {
	Tool   int
	Shares []string
}

// Match reports whether two failures count as the same trouble (SPEC section
// 7): the same non-empty signature; or the same category, where network,
// filesystem, permission and resource match between any tools, auth,
// rate_limit and timeout only within one tool or between tools that share
// something, and upstream, tool_missing and unknown never.
func Match(a Failure, from Source, b Failure, other Source) bool {
	if a.Signature != "" && a.Signature == b.Signature {
		return true
	}
	if a.Category != b.Category {
		return false
	}
	switch a.Category {
	case Network, Filesystem, Permission, Resource:
		return true
	case Auth, RateLimit, Timeout:
		return from.Tool == other.Tool || shareAny(from.Shares, other.Shares)
	default:
		return false
	}
}

func shareAny(a, b []string) bool {
	for _, s := range a {
		if slices.Contains(b, s) {
			return true
		}
	}
	return false
}
