// Command agentloop shows an agent's loop around an engine, twice: around
// Decide and Record, and around executor.Do. Its model and its tools are
// scripted, so it needs no key and no network:
//
//	go run ./examples/agentloop
package main

import (
	"context"
	"fmt"
	"io"
	"os"
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "agentloop:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, w io.Writer) error {
	fmt.Fprintln(w, "== Decide and Record")
	if err := decideAndRecord(ctx, newAgent(w), newTools()); err != nil {
		return err
	}
	fmt.Fprintln(w, "\n== executor.Do")
	return execute(ctx, newAgent(w), newTools())
}
