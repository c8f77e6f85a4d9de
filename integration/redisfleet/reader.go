package redisfleet

import (
	"context"
	"errors"
	"sync"

	"github.com/redis/go-redis/v9"
)

// Reader reads the log of a fleet once for all engines of a process that share it,
// see Options.Reader: however many they are, one connection waits for news. The zero
// Reader is ready. It is safe for concurrent use, and must not be copied.
type Reader struct {
	mu    sync.Mutex
	tails map[string]*tail // by the log's key
}

// tail is a log that is being read. All is under the Reader's mu.
type tail struct {
	from    place
	members map[*listener]bool
}

// maxBehind is how many entries may wait for one member; it then reads the view anew.
const maxBehind = 10_000

// listener is one member. All is under the Reader's mu.
type listener struct {
	news    chan struct{} // has room for one
	waiting []redis.XMessage
	err     error
}

// listen is what Fleet.listen does, with others.
func (r *Reader) listen(ctx context.Context, w *wire, from place) <-chan batch {
	batches := make(chan batch)
	l, read := r.enter(w, from)
	send := func(b batch) bool {
		select {
		case batches <- b:
			return b.err == nil
		case <-ctx.Done():
			return false
		}
	}
	go func() {
		defer r.leave(w, l)
		if from, ok := catchUp(ctx, w, from, send); !ok {
			return
		} else if from.before(read) {
			r.rewind(w, from)
		}
		for {
			select {
			case <-l.news:
			case <-ctx.Done():
				return
			}
			if !send(r.take(l)) {
				return
			}
		}
	}()
	return batches
}

// catchUp sends what the log has already.
func catchUp(ctx context.Context, w *wire, from place, send func(batch) bool) (place, bool) {
	for {
		entries, err := w.readNow(ctx, from)
		if err == nil && len(entries) > 0 {
			from, err = parsePlace(entries[len(entries)-1].ID)
		}
		if (err != nil || len(entries) > 0) && !send(batch{entries, err}) {
			return from, false
		}
		if len(entries) < readMost {
			return from, true
		}
	}
}

// enter adds a member, and begins to read where it is the first. It returns how far
// the log was read by then.
func (r *Reader) enter(w *wire, from place) (*listener, place) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.tails[w.keys.log]
	if t == nil {
		t = &tail{from: from, members: map[*listener]bool{}}
		if r.tails == nil {
			r.tails = map[string]*tail{}
		}
		r.tails[w.keys.log] = t
		go r.read(w, t)
	}
	l := &listener{news: make(chan struct{}, 1)}
	t.members[l] = true
	return l, t.from
}

func (r *Reader) leave(w *wire, l *listener) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if t := r.tails[w.keys.log]; t != nil {
		delete(t.members, l)
	}
}

// rewind reads from an earlier place on: the log is another one than before, whose
// places are smaller.
func (r *Reader) rewind(w *wire, to place) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if t := r.tails[w.keys.log]; t != nil && to.before(t.from) {
		t.from = to
	}
}

// take is what waits for a member.
func (r *Reader) take(l *listener) batch {
	r.mu.Lock()
	defer r.mu.Unlock()
	b := batch{l.waiting, l.err}
	l.waiting = nil
	return b
}

// read reads a log until it fails, or no member is left.
func (r *Reader) read(w *wire, t *tail) {
	for r.spread(w, t) {
	}
}

// spread reads once and gives all members what is new. It reports whether to go on.
func (r *Reader) spread(w *wire, t *tail) bool {
	r.mu.Lock()
	from := t.from
	r.mu.Unlock()
	entries, err := w.read(context.Background(), from)
	last := from
	if err == nil && len(entries) > 0 {
		last, err = parsePlace(entries[len(entries)-1].ID)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if t.from == from { // else it was rewound meanwhile
		t.from = last
	}
	for l := range t.members {
		l.put(entries, err)
	}
	if err != nil || len(t.members) == 0 {
		delete(r.tails, w.keys.log)
		return false
	}
	return true
}

// put is for who holds the Reader's mu.
func (l *listener) put(entries []redis.XMessage, err error) {
	if len(entries) == 0 && err == nil || l.err != nil {
		return
	}
	if l.waiting, l.err = append(l.waiting, entries...), err; len(l.waiting) > maxBehind {
		l.waiting, l.err = nil, errBehind
	}
	select {
	case l.news <- struct{}{}:
	default:
	}
}

// readNow reads what the log has behind a place, and waits for nothing.
func (w *wire) readNow(ctx context.Context, after place) ([]redis.XMessage, error) {
	from := after.String()
	if from == "" {
		from = "0-0"
	}
	return within(ctx, w.commands, w.o.Timeout, func(ctx context.Context) ([]redis.XMessage, error) {
		streams, err := w.client.XRead(ctx, &redis.XReadArgs{Streams: []string{w.keys.log, from}, Count: readMost, Block: -1}).Result()
		if errors.Is(err, redis.Nil) || err == nil && len(streams) == 0 {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		return streams[0].Messages, nil
	})
}
