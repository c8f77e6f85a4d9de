package executor

import (
	"container/list"
	"context"
	"reflect"
	"sync"
	"time"

	"github.com/expediter-go/expediter/report/freshness"
)

// Bounds of the last good results that an Executor keeps. Those that were not
// used for longest go first. The size of a value that is neither a string nor
// bytes is not known; it is kept.
const (
	maxKept      = 1000
	maxKeptSize  = 1 << 20  // of a string or bytes, in bytes; longer ones are not kept
	maxKeptTotal = 64 << 20 // of all of them
)

type question struct{}

// Asking names the question of the calls made under ctx, as Fallback.LastGood
// needs it: the arguments, in a form in which the same question is the same
// text. The results of a call without a question are not kept, since they may
// answer another one.
func Asking(ctx context.Context, text string) context.Context {
	return context.WithValue(ctx, question{}, text)
}

// keep is a bounded store of last good results. It is safe for concurrent use.
type keep struct {
	mu      sync.Mutex
	byKey   map[freshness.Key]*list.Element // of *good
	recency *list.List                      // front: used last
	size    int                             // of all, as far as it is known
}

type good struct {
	key   freshness.Key
	value any
	size  int
	at    time.Time
}

// newKeep returns nil if no tool's results are to be kept.
func newKeep(fallbacks map[string]Fallback) *keep {
	for _, f := range fallbacks {
		if f.LastGood {
			return &keep{byKey: map[freshness.Key]*list.Element{}, recency: list.New()}
		}
	}
	return nil
}

func (k *keep) put(g *good) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if old := k.byKey[g.key]; old != nil {
		k.dropLocked(old)
	}
	k.byKey[g.key] = k.recency.PushFront(g)
	k.size += g.size
	for k.recency.Len() > maxKept || k.size > maxKeptTotal {
		k.dropLocked(k.recency.Back())
	}
}

func (k *keep) drop(key freshness.Key) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if old := k.byKey[key]; old != nil {
		k.dropLocked(old)
	}
}

func (k *keep) dropLocked(old *list.Element) {
	g := k.recency.Remove(old).(*good)
	delete(k.byKey, g.key)
	k.size -= g.size
}

// find returns nil if nothing is kept.
func (k *keep) find(key freshness.Key) *good {
	k.mu.Lock()
	defer k.mu.Unlock()
	found := k.byKey[key]
	if found == nil {
		return nil
	}
	k.recency.MoveToFront(found)
	return found.Value.(*good)
}

// keepGood keeps a result of the tool. One that is too long takes the place of
// the one before all the same: that is no longer the last.
func (e *Executor) keepGood(ctx context.Context, tool string, value any) {
	text, ok := ctx.Value(question{}).(string)
	if !ok {
		return
	}
	key := freshness.KeyOf(tool, text)
	size := sizeOf(value)
	if size > maxKeptSize {
		e.kept.drop(key)
		return
	}
	e.kept.put(&good{key: key, value: value, size: size, at: e.now()})
}

// lastGood finds the last good result of the tool for the question of ctx.
func (e *Executor) lastGood(ctx context.Context, tool string) (value any, at time.Time, ok bool) {
	text, ok := ctx.Value(question{}).(string)
	if !ok {
		return nil, time.Time{}, false
	}
	g := e.kept.find(freshness.KeyOf(tool, text))
	if g == nil {
		return nil, time.Time{}, false
	}
	return g.value, g.at, true
}

// sizeOf is the length of a string or of bytes, under whatever name; zero for all
// else.
func sizeOf(value any) int {
	switch v := reflect.ValueOf(value); v.Kind() {
	case reflect.String:
		return v.Len()
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return v.Len()
		}
	}
	return 0
}
