//go:build race

package main

// The race detector makes memory and time another matter.
const (
	withRace    = true
	largeResult = 5_000_000
)
