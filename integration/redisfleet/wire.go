package redisfleet

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

//go:embed prelude.lua
var prelude string

//go:embed join.lua
var joinText string

//go:embed publish.lua
var publishText string

//go:embed acquire.lua
var acquireText string

//go:embed renew.lua
var renewText string

//go:embed beat.lua
var beatText string

//go:embed leave.lua
var leaveText string

var (
	joinScript    = redis.NewScript(prelude + joinText)
	publishScript = redis.NewScript(prelude + publishText)
	acquireScript = redis.NewScript(prelude + acquireText)
	renewScript   = redis.NewScript(prelude + renewText)
	beatScript    = redis.NewScript(prelude + beatText)
	leaveScript   = redis.NewScript(prelude + leaveText)
)

// errStuck: too many commands have not come back.
var errStuck = errors.New("earlier commands are still unanswered")

// maxUnderWay bounds the commands that have not come back, and so many readings.
const maxUnderWay = 8

// wire speaks to Redis. Its methods are safe for concurrent use, and none takes
// longer than its time, whatever the client's own settings are.
type wire struct {
	client   redis.UniversalClient
	keys     keys
	o        Options
	skew     string
	commands chan struct{} // a place for each that is under way
	readings chan struct{}
}

func newWire(client redis.UniversalClient, o Options) *wire {
	return &wire{client: client, keys: o.keys(), o: o, skew: millis(o.skew),
		commands: make(chan struct{}, maxUnderWay), readings: make(chan struct{}, maxUnderWay)}
}

func millis(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// within runs a command and waits for it no longer than its time. One that does
// not heed its context goes on by itself, and its answer is lost.
func within[T any](ctx context.Context, places chan struct{}, limit time.Duration, command func(context.Context) (T, error)) (T, error) {
	var none T
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("no answer in %v", limit))
	select {
	case places <- struct{}{}:
	case <-ctx.Done():
		cancel()
		return none, errStuck
	}
	type answer struct {
		value T
		err   error
	}
	answers := make(chan answer, 1)
	go func() {
		defer func() { cancel(); <-places }()
		v, err := command(ctx)
		answers <- answer{v, err}
	}()
	select {
	case a := <-answers:
		return a.value, a.err
	case <-ctx.Done():
	}
	select {
	case a := <-answers: // at the same moment
		return a.value, a.err
	default:
		return none, context.Cause(ctx)
	}
}

// run runs a script, whose answer is a list. It heeds no cancelling: a command that
// was sent is worth its answer.
func (w *wire) run(ctx context.Context, s *redis.Script, keys []string, args ...any) (list, error) {
	return within(context.WithoutCancel(ctx), w.commands, w.o.Timeout, func(ctx context.Context) (list, error) {
		v, err := s.Run(ctx, w.client, keys, args...).Result()
		if err != nil {
			return nil, err
		}
		l, ok := v.([]any)
		if !ok {
			return nil, fmt.Errorf("a script answered %T, not a list; does something between rewrite answers?", v)
		}
		return l, nil
	})
}

// list is a script's answer. Reading what is not there gives zero values.
type list []any

func (l list) text(i int) string {
	if i >= len(l) {
		return ""
	}
	s, _ := l[i].(string)
	return s
}

func (l list) number(i int) int64 {
	if i >= len(l) {
		return 0
	}
	if n, ok := l[i].(int64); ok {
		return n
	}
	n, _ := strconv.ParseInt(l.text(i), 10, 64)
	return n
}

func (l list) list(i int) list {
	if i >= len(l) {
		return nil
	}
	inner, _ := l[i].([]any)
	return inner
}

// scene is a scope as a joiner finds it. Its texts are not parsed yet.
type scene struct {
	epoch           string
	last            place
	incident, cycle string
	members         int
	tools           list // names and entries in turn
	charges         list
	leases          list // likewise; for those who are no member
	length, now     int64
}

// join reads the scope; member and epoch empty: without a trace.
func (w *wire) join(ctx context.Context, member, epoch string) (scene, error) {
	k := w.keys
	l, err := w.run(ctx, joinScript, []string{k.fleet, k.log, k.tools, k.closed, k.leases, k.charges, k.members},
		epoch, member, w.skew, w.o.MaxTools+w.o.MaxClosed, w.presence())
	if err != nil {
		return scene{}, err
	}
	s := scene{epoch: l.text(0), incident: l.text(2), cycle: l.text(3), members: int(l.number(4)), tools: l.list(5), charges: l.list(6),
		leases: l.list(7), length: l.number(8), now: l.number(9)}
	if s.last, err = parsePlace(l.text(1)); err != nil {
		return scene{}, fmt.Errorf("key %s, field last: %w; delete the key to begin anew", k.fleet, err)
	}
	return s, nil
}

// verdict is the fleet's word on one change.
type verdict struct {
	accepted, full bool
	at             place  // accepted: where it stands in the log
	current        string // refused: the entry that stands
}

// publish offers changes in their order.
func (w *wire) publish(ctx context.Context, epoch string, offers []offer) ([]verdict, error) {
	args := []any{epoch, w.o.Member, w.skew, w.o.LogLength, w.o.MaxClosed, w.o.MaxTools, maxCharges}
	for _, f := range offers {
		args = append(args, f.serial, string(f.change.Kind), f.change.Tool, f.base.String(), f.token, f.json, len(f.change.Members))
		for _, m := range f.change.Members {
			args = append(args, m)
		}
	}
	k := w.keys
	l, err := w.run(ctx, publishScript, []string{k.fleet, k.log, k.tools, k.closed, k.leases, k.charges}, args...)
	if err != nil {
		return nil, err
	}
	if l.text(0) == "epoch" {
		return nil, errEpoch
	}
	if len(l) != len(offers) {
		return nil, fmt.Errorf("%d answers to %d changes; does something between rewrite answers?", len(l), len(offers))
	}
	verdicts := make([]verdict, len(l))
	for i := range verdicts {
		switch a := l.list(i); a.text(0) {
		case "ok":
			verdicts[i].accepted = true
			if verdicts[i].at, err = parsePlace(a.text(1)); err != nil {
				return nil, err
			}
		case "full":
			verdicts[i].full = true
		default:
			verdicts[i].current = a.text(1)
		}
	}
	return verdicts, nil
}

// grant is the answer to the wish for a lease.
type grant struct {
	token   string        // empty: none
	hold    time.Duration // how long it may go unused
	busy    time.Duration // another has it, at most so long
	current string        // the tool's entry, where it is not what the member knows
}

// acquire asks for the lease of a tool at the generation that the member knows.
func (w *wire) acquire(ctx context.Context, epoch, tool string, base place, with []string) (grant, error) {
	args := []any{epoch, w.o.Member, w.skew, millis(w.o.LeaseTTL), millis(w.o.LeaseHold), millis(longestHold), tool, base.String()}
	for _, t := range with {
		args = append(args, t)
	}
	l, err := w.run(ctx, acquireScript, []string{w.keys.fleet, w.keys.tools, w.keys.leases}, args...)
	if err != nil {
		return grant{}, err
	}
	switch l.text(0) {
	case "ok":
		return grant{token: l.text(1), hold: time.Duration(l.number(2)) * time.Millisecond}, nil
	case "busy":
		return grant{busy: time.Duration(max(l.number(1), 1)) * time.Millisecond}, nil
	case "epoch":
		return grant{}, errEpoch
	}
	return grant{current: l.text(1)}, nil
}

// renew renews leases, given as tools and tokens in turn, and reports which of
// them still hold. A ttl of zero gives them back.
func (w *wire) renew(ctx context.Context, ttl time.Duration, pairs []string) ([]bool, error) {
	args := []any{w.skew, millis(ttl)}
	for _, p := range pairs {
		args = append(args, p)
	}
	l, err := w.run(ctx, renewScript, []string{w.keys.leases}, args...)
	if err != nil {
		return nil, err
	}
	held := make([]bool, len(pairs)/2)
	for i := range held {
		held[i] = l.number(i) == 1
	}
	return held, nil
}

// presence is after how many milliseconds a member that says nothing is no member
// any more; in a large fleet it is longer.
func (w *wire) presence() string { return millis(5 * w.o.BeatEvery) }

// every is how often a member of a fleet of that size says that it is there.
func (w *wire) every(members int) time.Duration {
	return max(w.o.BeatEvery, time.Duration(members)*2*time.Millisecond)
}

func (w *wire) beat(ctx context.Context) (epoch string, last place, now int, err error) {
	l, err := w.run(ctx, beatScript, []string{w.keys.fleet, w.keys.members}, w.o.Member, w.skew, w.presence())
	if err != nil {
		return "", place{}, 0, err
	}
	last, err = parsePlace(l.text(1))
	return l.text(0), last, int(l.number(2)), err
}

// leave gives the leases back and takes the member out.
func (w *wire) leave(ctx context.Context, pairs []string) error {
	args := []any{w.o.Member}
	for _, p := range pairs {
		args = append(args, p)
	}
	_, err := w.run(ctx, leaveScript, []string{w.keys.leases, w.keys.members}, args...)
	return err
}

// readFor is how long one reading of the log waits for something new.
const readFor = 2 * time.Second

// readMost is how many entries one reading takes.
const readMost = 500

// read waits for entries of the log behind a place; none in time is no error.
func (w *wire) read(ctx context.Context, after place) ([]redis.XMessage, error) {
	from := after.String()
	if from == "" {
		from = "0-0"
	}
	return within(ctx, w.readings, readFor+w.o.Timeout, func(ctx context.Context) ([]redis.XMessage, error) {
		streams, err := w.client.XRead(ctx, &redis.XReadArgs{Streams: []string{w.keys.log, from}, Count: readMost, Block: readFor}).Result()
		if errors.Is(err, redis.Nil) || err == nil && len(streams) == 0 {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		return streams[0].Messages, nil
	})
}
