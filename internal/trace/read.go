package trace

import (
	"context"
	"encoding/json"
	"errors"
	"io"

	"github.com/expediter-go/expediter/cascade/classify"
)

// Options say how to read. The zero Options are ready.
type Options struct {
	// Seen are the calls that earlier sources told. Nil: none. It is for use by
	// one Read or ReadAll at a time.
	Seen *Seen
	// Progress is called now and then with the bytes read of all sources, as
	// they are stored, and the sum of their sizes; 0 where one is not known.
	// Only ReadAll calls it, one call at a time, from goroutines of its own. Nil:
	// nobody asks.
	Progress func(done, total int64)

	// Judge tells what a result says about its tool, for rules of the user's own.
	// It is called by many goroutines. Nil: classify.Observe.
	Judge func(classify.Observation) classify.Verdict
	wait  func() error // see source; nil: does not wait
}

// NotRecognised is the Problem in the Stats of a source of no known format.
const NotRecognised = "no known format; docs/analyze.md lists those that are read"

// Read reads one source and hands its events to yield in order; the event may
// be kept. The error is that of ctx or yield, which end the reading. All other
// trouble is in the Stats: what was read before it counts.
func Read(ctx context.Context, name string, r io.Reader, o Options, yield func(*Event) error) (Stats, error) {
	t := newTally(name, o.Seen, yield)
	src := read(ctx, name, r, o, t.take)
	return t.finish(src.stats), src.ended
}

// source is the reading of one source.
type source struct {
	stats Stats
	wait  func() error // returns when the source may take memory for a long record
	last  bool         // the line has no end
	ended error        // of the context or of whoever takes the entries
}

// read tells the entries of a source, calls that were told before among them.
func read(ctx context.Context, name string, r io.Reader, o Options, take func(*entry) error) *source {
	src := &source{stats: Stats{File: name}, wait: func() error { return nil }}
	if o.wait != nil {
		src.wait = o.wait
	}
	if err := src.read(ctx, r, o, take); err != nil {
		if src.ended = ctx.Err(); src.ended == nil {
			var own stopped
			if errors.As(err, &own) {
				src.ended = own.error
			}
		}
		if src.ended == nil {
			src.stats.Problem = problem(err)
			src.stats.Torn = src.stats.Torn || errors.Is(err, io.ErrUnexpectedEOF)
		}
	}
	return src
}

func (s *source) read(ctx context.Context, r io.Reader, o Options, take func(*entry) error) error {
	unpacked, closeIt, err := unpack(r)
	if err != nil {
		return err
	}
	defer closeIt()
	h, rest, err := readHead(&countingReader{r: unpacked, n: &s.stats.Bytes})
	f := recognise(h)
	if f == nil {
		s.stats.Problem = NotRecognised
		return err
	}
	s.stats.Format = f.name
	sink := newSink(s.stats.File, f.name, &s.stats, take)
	if o.Judge != nil {
		sink.judge = o.Judge
	}
	if err = s.records(ctx, rest, f, sink); ctx.Err() != nil {
		return err
	}
	return errors.Join(err, sink.end())
}

// records hands each record to the format's decoder.
func (s *source) records(ctx context.Context, r io.Reader, f *format, sink *sink) error {
	dec := f.open(sink)
	one := func(path string, raw json.RawMessage) error {
		if raw != nil {
			if s.stats.Records++; s.stats.Records%256 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
		}
		if dec.record(path, raw) != nil {
			s.broken(raw)
		}
		return sink.err
	}
	var err error
	if f.stream != nil {
		err = s.readDocument(r, f, one)
	} else {
		err = s.readLines(r, func(raw json.RawMessage) error { return one("", raw) })
	}
	if last, ok := dec.(finisher); ok {
		last.finish()
	}
	return err
}

// broken counts a record that its decoder could not read.
func (s *source) broken(raw json.RawMessage) {
	if s.last && !json.Valid(raw) {
		s.stats.Records--
		s.stats.Torn = true
		return
	}
	s.stats.Broken++
}

// countingReader counts what passes.
type countingReader struct {
	r io.Reader
	n *int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	*c.n += int64(n)
	return n, err
}
