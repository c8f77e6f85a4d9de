// Package document reads one strict YAML or JSON document and remembers where
// every value stands, so that whoever checks a file can report all that is
// wrong with it at once, each with its place:
//
//	map.yaml:12:5: unknown key "tol"; did you mean "tool"?
//
// Parse gives a tree of Nodes, Node.Decode fills Go values from it by their
// json tags. Lines and columns count from 1; a column is one character (a
// Unicode code point, so a tab is one too). Where a YAML alias stands, the
// values have the places of the anchor they repeat.
//
// The input may be hostile: its size, depth, number of values and the growth
// by aliases are bounded, and every text quoted in a message is cut and
// escaped. Nodes are immutable and safe for concurrent use.
package document
