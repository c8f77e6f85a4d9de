package hookproc

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"time"

	"github.com/expediter-go/expediter/integration/hook"
	"github.com/expediter-go/expediter/internal/store"
)

const (
	// wait bounds how long a hook waits for others, and limit how long it takes
	// at all: agents give it five seconds.
	wait  = 3 * time.Second
	limit = 4 * time.Second
)

// What the flags of a hook are for.
const (
	StoreUsage = "`folder` of the sessions (default: EXPEDITER_STORE, or expediter below XDG_STATE_HOME)"
	FleetUsage = "share how tools stand with a fleet on Redis at this `URL` (default: EXPEDITER_FLEET; docs/fleet.md)"
	MapUsage   = "capability map `file` (default: EXPEDITER_MAP, " + hook.ProjectMap + " of the project, your own, or the built-in one)"
)

// called is what a hook is called with.
type called struct {
	agent, dir, mapFile string
	fleet               hook.Fleet
	fleetErr            error // why there is none
}

// Main answers one hook call of the agent that args name, and returns the exit
// status: 0, but for an agent that is told of a denial by another one. That is
// never one that a wrong command line could give, since agents take many for a
// denial. Each output is one write: an agent reads all of it or, if the process
// is killed, nothing.
//
// join makes the fleet that a URL names; nil: this program has none.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer, join func(url string) (hook.Fleet, error)) int {
	debug.SetGCPercent(-1) // it ends before there is anything to collect
	debug.SetMemoryLimit(512 << 20)
	debug.SetTraceback("crash") // by a signal: status 2, which the runtime would end it with, is a denial to agents
	c, err := read(args, join)
	out := hook.Silence(c.agent)
	if err != nil {
		c.troubleSoon(err, stderr)
	} else {
		done := make(chan hook.Output, 1)
		go func() { done <- c.serve(stdin) }()
		select {
		case out = <-done:
		case <-time.After(limit):
			c.troubleSoon(fmt.Errorf("no answer within %v; the tool was let run", limit), stderr)
		}
	}
	if err := errors.Join(write(stdout, out.Stdout), write(stderr, out.Stderr)); err != nil {
		c.troubleSoon(err, stderr)
	}
	return out.Exit
}

// write does not touch an output that nothing is said to.
func write(w io.Writer, text []byte) error {
	if len(text) == 0 {
		return nil
	}
	_, err := w.Write(text)
	return err
}

// read takes the flags before and after the agent.
func read(args []string, join func(string) (hook.Fleet, error)) (c called, err error) {
	flags := flag.NewFlagSet("hook", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	folder := flags.String("store", "", StoreUsage)
	flags.StringVar(&c.mapFile, "map", "", MapUsage)
	url := flags.String("fleet", os.Getenv("EXPEDITER_FLEET"), FleetUsage)
	var words []string
	for len(args) > 0 && err == nil {
		if err = flags.Parse(args); flags.NArg() > 0 {
			words = append(words, flags.Arg(0))
			args = flags.Args()[1:]
		} else {
			args = nil
		}
	}
	switch {
	case err != nil:
		err = fmt.Errorf("%w; see 'expediter hook --help'", err)
	case len(words) != 1:
		err = errors.New("hook takes one agent, such as claude-code; see 'expediter hook --help'")
	default:
		c.agent = words[0]
	}
	var dirErr error
	c.dir, dirErr = store.Dir(*folder, os.Getenv)
	if err = errors.Join(err, dirErr); err == nil && *url != "" {
		c.fleet, c.fleetErr = fleetAt(*url, join)
	}
	return c, err
}

// fleetAt is the fleet of a URL. Without it the hook does its work all the same.
func fleetAt(url string, join func(string) (hook.Fleet, error)) (hook.Fleet, error) {
	if join == nil {
		return hook.Fleet{}, errors.New("this program has no fleet, and goes on without; have the agent run 'expediter hook' (expediter install AGENT --command expediter)")
	}
	return join(url)
}

// serve answers the call. A panic, even of a file that was cut short under it,
// lets the tool run.
func (c called) serve(stdin io.Reader) (out hook.Output) {
	debug.SetPanicOnFault(true)
	defer func() {
		if p := recover(); p != nil {
			out = hook.Silence(c.agent)
			c.trouble(fmt.Errorf("panic: %v\n%s", p, debug.Stack()), io.Discard)
		}
	}()
	input, err := io.ReadAll(io.LimitReader(stdin, hook.MaxInput+1))
	if err != nil {
		c.trouble(err, io.Discard)
		return hook.Silence(c.agent)
	}
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	out, err = hook.Serve(ctx, store.Open(c.dir), input, hook.Options{Agent: c.agent, Map: c.mapFile, Env: os.Getenv, Fleet: c.fleet}, time.Now())
	if err = errors.Join(err, c.fleetErr); err != nil {
		c.trouble(err, io.Discard)
	}
	return out
}
