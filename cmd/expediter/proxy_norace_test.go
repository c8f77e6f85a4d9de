//go:build !race

package main

const (
	withRace    = false
	largeResult = 50_000_000 // bytes
)
