package mcpproxy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"
)

// instead answers what a server of 2026-07-28 has no method for.
func (l *link) instead(ctx context.Context, method string, params json.RawMessage) (answer, bool) {
	if !l.modern() {
		return answer{}, false
	}
	switch method {
	case "ping":
		if l.check(ctx) != nil {
			return answer{}, false
		}
	case "logging/setLevel":
		var level string
		if json.Unmarshal(field(params, "level"), &level) != nil {
			return answer{}, false
		}
		l.logLevel.Store(&level)
	case "resources/subscribe", "resources/unsubscribe":
		var uri string
		if json.Unmarshal(field(params, "uri"), &uri) != nil {
			return answer{}, false
		}
		l.watchResource(uri, method == "resources/subscribe")
	default:
		return answer{}, false
	}
	return answer{Result: json.RawMessage("{}")}, true
}

func (l *link) watchResource(uri string, on bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.watched[uri] == on {
		return
	}
	if on {
		l.watched[uri] = true
	} else {
		delete(l.watched, uri)
	}
	signal(l.rehear)
}

// subscribe opens what a server needs to say that something has changed.
func (l *link) subscribe() {
	switch {
	case l.modern():
		go l.hear()
	case l.web != nil:
		go l.listen(l.web.client())
	}
}

// wanted are the params of subscriptions/listen; nil: there is nothing to hear.
func (l *link) wanted() json.RawMessage {
	kinds := map[string]any{}
	for _, kind := range []string{"tools", "prompts", "resources"} {
		if string(field(field(l.capabilities, kind), "listChanged")) == "true" {
			kinds[kind+"ListChanged"] = true
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.watched) > 0 {
		kinds["resourceSubscriptions"] = slices.Sorted(maps.Keys(l.watched))
	}
	if len(kinds) == 0 {
		return nil
	}
	return encode(map[string]any{"notifications": kinds})
}

// hear holds the subscription to what is wanted until the link ends.
func (l *link) hear() {
	for wait := newBackoff(); ; {
		began := time.Now()
		ended := make(chan bool, 1)
		ctx, cancel := context.WithCancelCause(l.ctx)
		if params := l.wanted(); params != nil {
			go func() { ended <- l.hearOnce(ctx, params) }()
		}
		again := true
		select {
		case <-l.rehear:
			cancel(errRetired)
			continue
		case again = <-ended:
		case <-l.stale: // a subscription does not keep a link from ending
			again = false
		case <-l.ctx.Done():
			again = false
		}
		cancel(errRetired)
		if !again {
			return
		}
		if time.Since(began) > steady {
			wait.Reset()
		}
		pause(l.ctx, wait.NextBackOff())
	}
}

// hearOnce holds one subscription, and reports whether another may be tried.
func (l *link) hearOnce(ctx context.Context, params json.RawMessage) (again bool) {
	a, err := l.call(ctx, "subscriptions/listen", params, &pending{})
	return ctx.Err() == nil && !errors.Is(err, errDown) && (err != nil || a.Error == nil || a.Status >= 500)
}

// withoutSubscription takes out of a notification which of the proxy's own
// subscriptions it belongs to.
func withoutSubscription(params json.RawMessage) json.RawMessage {
	if !bytes.Contains(params, []byte(metaSubscription)) {
		return params
	}
	meta := without(field(params, "_meta"), metaSubscription)
	if string(meta) == "{}" {
		return without(params, "_meta")
	}
	return with(params, "_meta", meta)
}
