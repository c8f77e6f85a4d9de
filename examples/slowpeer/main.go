// Command slowpeer shows that a slow peer is worse than a dead one, and what
// helps. An orchestrator with 20 worker slots has five peers; one of them takes
// ten seconds instead of 50 ms for a while. The run is made with no breaker,
// with gobreaker, with failsafe-go and with Expediter, and measured:
//
//	go run ./examples/slowpeer
//
// Runs are made in virtual time: a list of events in place of goroutines and
// clocks, with the real libraries at every decision. A test holds them against
// the same libraries as they are, to the nanosecond. With -real the callers are
// goroutines and the peers are A2A servers on loopback.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "slowpeer:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, w io.Writer) error {
	flags := flag.NewFlagSet("slowpeer", flag.ContinueOnError)
	svg := flags.String("svg", "", "also draw the chart into this `file`")
	seed := flags.Uint64("seed", defaults.seed, "of the callers' arrivals")
	inReal := flags.Bool("real", false, "run by the clock, against A2A servers on loopback")
	times := flags.Float64("times", 10, "with -real: how many times faster than the plan, from 1 to 50")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return nil
	case err != nil:
		return err
	case flags.NArg() > 0:
		return fmt.Errorf("%q is no flag; try -help", flags.Arg(0))
	}
	if !(*times >= 1 && *times <= 50) {
		return fmt.Errorf("-times %g: a machine keeps up with 1 to 50; 10 takes half a minute a row at most", *times)
	}
	p := defaults
	p.seed = *seed
	mode, visits := "in virtual time", way.simulate
	if *inReal {
		mode = fmt.Sprintf("by the clock, %g times faster, against A2A servers on loopback", *times)
		visits = func(w way, p plan) ([]visit, error) {
			fmt.Fprintf(os.Stderr, "%s: %.0f s\n", w.name, p.length.Seconds() / *times)
			return w.real(ctx, p, *times)
		}
	}
	runs, err := measured(p, visits)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "Every row was made %s.\n", mode)
	write(w, p, runs)
	if *inReal {
		lateness(w, runs)
	}
	if *svg != "" {
		return os.WriteFile(*svg, draw(p, runs), 0o644)
	}
	return nil
}

// measured makes all runs and measures each by the first, that without an
// outage.
func measured(p plan, visitsOf func(way, plan) ([]visit, error)) ([]figures, error) {
	var runs []figures
	for _, w := range ways {
		visits, err := visitsOf(w, p)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", w.name, err)
		}
		f := measure(w.name, p, visits)
		if len(runs) == 0 {
			f.share = 1
		} else {
			f.share = float64(f.healthy) / float64(max(runs[0].healthy, 1))
		}
		runs = append(runs, f)
	}
	return runs, nil
}
