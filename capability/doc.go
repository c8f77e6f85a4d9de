// Package capability is the declared map from tools to what may stand in for
// them: entries in Go literals, YAML or JSON (SPEC section 13), routing (SPEC
// section 8), and the graph. Routing is pure; only Read and its relatives
// touch bytes, and none touches a file.
package capability
