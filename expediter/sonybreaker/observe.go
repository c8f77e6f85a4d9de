package sonybreaker

import "github.com/sony/gobreaker/v2"

// Observed is a guard over a breaker that runs its calls itself. Either the
// program goes on to use Execute, and the engine hears of the breaker's state;
// or the executor uses it as the guard that it is.
type Observed[T any] struct {
	*Guard
	breaker *gobreaker.CircuitBreaker[T]
}

// Observe puts a guard over a breaker that the program has, as Over does. A
// call that comes through Allow holds a goroutine until done is called, since
// the breaker can be told of a call's end only from within Execute.
func Observe[T any](b *gobreaker.CircuitBreaker[T], cfg Config) (*Observed[T], error) {
	if b == nil {
		return nil, errNoBreaker
	}
	g, err := over(held[T]{b}, cfg)
	if err != nil {
		return nil, err
	}
	return &Observed[T]{g, b}, nil
}

// Execute is that of the breaker, errors and panics included, with the engine
// told of its state before and after. A req that hangs in a trial holds the
// breaker's place, lease or not: it is the one who must end.
func (o *Observed[T]) Execute(req func() (T, error)) (T, error) {
	o.Look()
	defer o.Look()
	return o.breaker.Execute(req)
}

// held makes the two steps of Allow and done out of one Execute, which waits in
// a goroutine for the call's end.
type held[T any] struct{ *gobreaker.CircuitBreaker[T] }

// Allow is that of a gobreaker.TwoStepCircuitBreaker.
func (h held[T]) Allow() (done func(error), err error) {
	entered, end := make(chan struct{}), make(chan error)
	left := make(chan leaving, 1)
	go func() {
		var l leaving
		defer func() {
			l.panicked = recover()
			left <- l
		}()
		_, l.err = h.Execute(func() (none T, err error) {
			close(entered)
			return none, <-end
		})
	}()
	select {
	case <-entered:
	case l := <-left:
		l.raise()
		return nil, l.err
	}
	return func(err error) {
		end <- err
		l := <-left // the breaker knows now
		l.raise()
	}, nil
}

// leaving is how Execute ended.
type leaving struct {
	err      error
	panicked any // of the breaker's own funcs
}

func (l leaving) raise() {
	if l.panicked != nil {
		panic(l.panicked)
	}
}
