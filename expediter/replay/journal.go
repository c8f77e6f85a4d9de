package replay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/expediter-go/expediter/expediter"
)

// Writer writes a journal, one event on each line, each line in one write. Its
// Event is an engine's Events.Journal. It is not for concurrent use; an engine
// calls its observers one at a time.
type Writer struct {
	w   io.Writer
	buf bytes.Buffer
	err error
}

// NewWriter returns a Writer to w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Event writes ev. After an error it does nothing.
func (w *Writer) Event(ev *expediter.Event) {
	if w.err != nil {
		return
	}
	w.buf.Reset()
	if err := encode(&w.buf, ev); err != nil {
		w.err = fmt.Errorf("journal: event %d: %w", ev.Seq, err)
		return
	}
	if _, err := w.w.Write(w.buf.Bytes()); err != nil {
		w.err = fmt.Errorf("journal: event %d: %w; the journal ends before it", ev.Seq, err)
	}
}

// encode writes v as one line of JSON in which CLOSED->OPEN stays readable.
func encode(b *bytes.Buffer, v any) error {
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// Err returns the first error, after which nothing was written.
func (w *Writer) Err() error { return w.err }

// LineError is a line of a journal that cannot be used.
type LineError struct {
	Line int   // from 1
	Err  error // what is wrong, and what to do
}

// Error names the line and what is wrong with it.
func (e *LineError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

// Unwrap returns what is wrong.
func (e *LineError) Unwrap() error { return e.Err }

// Errors of a journal's lines. They work with errors.Is, under a LineError.
var (
	ErrFormat  = errors.New("unknown format of the journal")
	ErrNoStart = errors.New("the journal does not begin with a start event")
	ErrBroken  = errors.New("the line is no JSON")
)

// Reader reads a journal event by event. It is not for concurrent use.
type Reader struct {
	lines *lines
	seq   uint64 // of the last event
	torn  string
}

// NewReader returns a Reader from r.
func NewReader(r io.Reader) *Reader { return &Reader{lines: newLines(r)} }

// Line is the number of the line that Next last returned, from 1.
func (r *Reader) Line() int { return r.lines.n }

// Torn says, after Next has returned io.EOF, what is wrong with the last line;
// it is empty when nothing is. A process that was killed leaves such a line.
func (r *Reader) Torn() string { return r.torn }

// Next returns the next event, with its sequence checked. At the end it is
// io.EOF. A line that cannot be used is a *LineError, except for a last one
// that is cut short: see Torn.
func (r *Reader) Next() (*expediter.Event, error) {
	line, ended, err := r.lines.next()
	for err == nil && blank(line) {
		line, ended, err = r.lines.next()
	}
	switch {
	case err == io.EOF:
		return nil, r.end()
	case errors.Is(err, ErrTooLong):
		return nil, &LineError{r.Line(), err}
	case err != nil:
		return nil, err
	}
	n := r.Line()
	if !ended {
		r.torn = fmt.Sprintf("line %d has no line end", n)
	}
	if !json.Valid(line) {
		return nil, r.broken(n)
	}
	ev, err := r.decode(line)
	if err != nil {
		return nil, &LineError{n, err}
	}
	return ev, nil
}

// broken is the end of the journal if nothing follows the line, else an error.
func (r *Reader) broken(n int) error {
	for {
		line, _, err := r.lines.next()
		switch {
		case err == io.EOF:
			r.torn = fmt.Sprintf("line %d is cut short and was left out", n)
			return r.end()
		case err != nil && !errors.Is(err, ErrTooLong):
			return err
		case err != nil || !blank(line):
			return &LineError{n, fmt.Errorf("%w, and others follow it; restore it, or cut the journal off before it", ErrBroken)}
		}
	}
}

func (r *Reader) end() error {
	if r.seq == 0 {
		return &LineError{1, fmt.Errorf("%w: it is empty; check that it is the right file", ErrNoStart)}
	}
	return io.EOF
}

// maxObjects bounds the objects of one line: the smallest take much more room
// in memory than in a file.
const maxObjects = 1 << 20

func (r *Reader) decode(line []byte) (*expediter.Event, error) {
	if bytes.Count(line, []byte("{")) > maxObjects {
		return nil, fmt.Errorf("the event holds more than %d objects; check that it is the right file", maxObjects)
	}
	if r.seq == 0 {
		if err := checkStart(line); err != nil {
			return nil, err
		}
	}
	ev := new(expediter.Event)
	if err := json.Unmarshal(line, ev); err != nil {
		return nil, fmt.Errorf("the event cannot be read: %w", explain(err))
	}
	return ev, r.checkSeq(ev)
}

// checkStart looks at a first line as little as a foreign version allows.
func checkStart(line []byte) error {
	var head struct {
		Op    json.RawMessage `json:"op"`
		Start *struct {
			Format json.RawMessage `json:"format"`
		} `json:"start"`
	}
	if err := json.Unmarshal(line, &head); err != nil || string(head.Op) != `"start"` || head.Start == nil {
		return fmt.Errorf("%w; check that it is the right file", ErrNoStart)
	}
	if want := fmt.Sprint(expediter.JournalFormat); string(head.Start.Format) != want {
		return fmt.Errorf("%w: %.20q; this version reads %s, use the one that wrote it", ErrFormat, head.Start.Format, want)
	}
	return nil
}

func (r *Reader) checkSeq(ev *expediter.Event) error {
	switch {
	case ev.Seq == 0:
		return errors.New("seq is missing; every event has one")
	case r.seq == 0:
	case ev.Op == expediter.OpStart && (ev.Start == nil || ev.Start.Snapshot == nil):
		return errors.New("a second start event without a snapshot; a journal holds one run, split it")
	case ev.Seq != r.seq+1:
		return fmt.Errorf("seq is %d after %d; lines are missing or out of order", ev.Seq, r.seq)
	}
	r.seq = ev.Seq
	return nil
}
