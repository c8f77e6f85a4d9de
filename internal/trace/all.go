package trace

import (
	"context"
	"io"
	"runtime"
	"sync"
)

// Bounds of what a source may read ahead of the one whose turn it is.
const (
	batchEntries = 256
	aheadBatches = 32
)

// ReadAll reads sources on all cores and hands their events to yield, on the
// caller's goroutine, in the order of the sources; the event may be kept. There
// is one Stats for each source. The error is that of ctx or yield, which end the
// reading; the Stats are those of the sources that were begun then, and a read
// that hangs is not waited for.
func ReadAll(ctx context.Context, sources []Source, o Options, yield func(*Event) error) ([]Stats, error) {
	if o.Seen == nil {
		o.Seen = new(Seen)
	}
	ctx, cancel := context.WithCancel(ctx)
	all := make([]Stats, len(sources))
	p := newProgress(sources, o.Progress)
	defer p.end()
	defer cancel()
	queue := startReading(ctx, sources, o, p)
	for i := range sources {
		a, ok := <-queue
		if !ok {
			return all[:i], ctx.Err()
		}
		stats, err := a.merge(ctx, sources[i].Name, o.Seen, yield)
		all[i] = stats
		switch {
		case err != nil && stats.Format == "":
			return all[:i], err
		case err != nil:
			return all[:i+1], err
		}
	}
	return all, nil
}

// ahead is a source that is being read.
type ahead struct {
	turn    chan struct{} // closed when its turn has come
	batches chan []entry
	read    *source // when batches is closed
}

// startReading reads as many sources at a time as there are cores. They come
// through the channel in order, each when its reading begins; it is closed when
// there are no more, or the context is done.
func startReading(ctx context.Context, sources []Source, o Options, p *progress) <-chan *ahead {
	cores := runtime.GOMAXPROCS(0)
	queue, slots := make(chan *ahead, cores), make(chan struct{}, cores)
	go func() {
		defer close(queue)
		for _, s := range sources {
			a := &ahead{turn: make(chan struct{}), batches: make(chan []entry, aheadBatches)}
			select {
			case slots <- struct{}{}:
			case <-ctx.Done():
				return
			}
			go func() {
				a.fill(ctx, s, o, p)
				<-slots
			}()
			select {
			case queue <- a:
			case <-ctx.Done():
				return
			}
		}
	}()
	return queue
}

// fill reads a source into batches.
func (a *ahead) fill(ctx context.Context, s Source, o Options, p *progress) {
	defer close(a.batches)
	a.read = &source{stats: Stats{File: s.Name}}
	r, err := s.Open()
	if err != nil {
		a.read.stats.Problem = problem(err)
		return
	}
	defer r.Close()
	batch := make([]entry, 0, batchEntries)
	send := func() error {
		select {
		case a.batches <- batch:
			batch = make([]entry, 0, batchEntries)
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	o.wait = func() error {
		select {
		case <-a.turn:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	a.read = read(ctx, s.Name, &meteredReader{r, p}, o, func(e *entry) error {
		if batch = append(batch, *e); len(batch) == batchEntries {
			return send()
		}
		return nil
	})
	if len(batch) > 0 && a.read.ended == nil {
		a.read.ended = send()
	}
}

// merge hands the events of a source on.
func (a *ahead) merge(ctx context.Context, name string, seen *Seen, yield func(*Event) error) (Stats, error) {
	close(a.turn)
	t := newTally(name, seen, yield)
	for {
		select {
		case <-ctx.Done():
			return t.cut(), ctx.Err()
		case batch, ok := <-a.batches:
			if !ok {
				return t.finish(a.read.stats), a.read.ended
			}
			for i := range batch {
				if err := t.take(&batch[i]); err != nil {
					return t.cut(), err
				}
			}
		}
	}
}

// progress is how far the reading of all sources is.
type progress struct {
	mu                sync.Mutex
	done, said, total int64
	to                func(done, total int64) // nil: nobody asks, or no more
}

// everyBytes is how much is read between two words on it.
const everyBytes = 256 << 10

func newProgress(sources []Source, to func(done, total int64)) *progress {
	p := &progress{to: to}
	for _, s := range sources {
		p.total += s.Size
	}
	return p
}

func (p *progress) add(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.done += int64(n); p.done-p.said >= everyBytes {
		p.tell()
	}
}

func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.done > p.said {
		p.tell()
	}
	p.to = nil
}

func (p *progress) tell() {
	if p.said = p.done; p.to != nil {
		p.to(p.done, p.total)
	}
}

type meteredReader struct {
	r io.Reader
	p *progress
}

func (m *meteredReader) Read(b []byte) (int, error) {
	n, err := m.r.Read(b)
	m.p.add(n)
	return n, err
}
