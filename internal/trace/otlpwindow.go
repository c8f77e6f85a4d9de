package trace

import (
	"cmp"
	"slices"
)

// Bounds of what is kept of spans.
const (
	otlpWindow      = 1 << 13  // spans
	otlpWindowBytes = 16 << 20 // the same, in bytes
	otlpRecent      = 1 << 16  // traces, and spans that were told; see recent
)

// spanWindow holds spans until those before and around them have come.
type spanWindow struct {
	sink  *sink
	spans []*span
	size  int
	names recent[string, string]   // of traces: the session
	told  recent[string, toldSpan] // by trace and id
	inner recent[string, toldSpan] // the same, by trace and parent: their parents may come later
}

// toldSpan is what is remembered of a span that was told.
type toldSpan struct {
	name string
	mcp  bool
}

func newSpanWindow(s *sink) *spanWindow { return &spanWindow{sink: s} }

func (s *span) key() string    { return s.trace + "/" + s.id }
func (s *span) within() string { return s.trace + "/" + s.parent }

// add takes a span in. Those that are neither a call nor an answer may name
// the conversation of their trace.
func (w *spanWindow) add(s *span) {
	if s.session != "" {
		if _, ok := w.names.get(s.trace); !ok {
			w.names.put(s.trace, s.session, otlpRecent)
		}
	}
	if !s.tool && !s.model || s.tool && w.known(s) {
		return
	}
	w.spans = append(w.spans, s)
	if w.size += s.size(); len(w.spans) > otlpWindow || w.size > otlpWindowBytes {
		w.tell(len(w.spans) / 2)
	}
}

// known reports whether the call was told, by this span or one of the same
// call.
func (w *spanWindow) known(s *span) bool {
	if _, ok := w.told.get(s.key()); ok {
		return true
	}
	if t, ok := w.told.get(s.within()); ok && s.parent != "" && sameCall(&span{name: t.name, mcp: t.mcp}, s) {
		return true
	}
	t, ok := w.inner.get(s.key())
	return ok && sameCall(s, &span{name: t.name, mcp: t.mcp})
}

// tell tells all spans but those that ended last.
func (w *spanWindow) tell(keep int) {
	w.join()
	slices.SortStableFunc(w.spans, func(a, b *span) int {
		return cmp.Or(a.end.Compare(b.end), a.start.Compare(b.start))
	})
	now := w.spans[:max(len(w.spans)-keep, 0)]
	var order []string
	sessions := map[string][]happening{}
	for _, s := range now {
		s.merge()
		name := w.session(s)
		if sessions[name] == nil {
			order = append(order, name)
		}
		sessions[name] = append(sessions[name], s.moments()...)
		w.remember(s)
	}
	for _, name := range order {
		tellInOrder(w.sink.session(name), sessions[name])
	}
	w.spans = slices.Clone(w.spans[len(now):])
	w.size = 0
	for _, s := range w.spans {
		w.size += s.size()
	}
}

// join makes one of the spans of each call.
func (w *spanWindow) join() {
	w.joinFamilies()
	w.joinCalls()
	w.spans = slices.DeleteFunc(w.spans, func(s *span) bool { return s.outer != nil })
}

// joinFamilies joins parents and children.
func (w *spanWindow) joinFamilies() {
	byID := map[string]*span{}
	for _, s := range w.spans {
		switch first := byID[s.key()]; {
		case !s.tool:
		case first != nil:
			s.outer = first // the same span again
		default:
			byID[s.key()] = s
		}
	}
	for _, s := range w.spans {
		if !s.tool || s.outer != nil {
			continue
		}
		if outer := byID[s.within()]; outer != nil && outer != s && sameCall(outer, s) && !s.encloses(outer) {
			outer.enclose(s)
		}
	}
}

// joinCalls joins those of one call id.
func (w *spanWindow) joinCalls() {
	byCall := map[string]*span{}
	for _, s := range w.spans {
		if s.tool && s.outer == nil && s.callID != "" {
			id := s.trace + "/" + s.callID
			switch first := byCall[id]; {
			case first == nil:
				byCall[id] = s
			case !sameCall(first, s):
			case first.mcp && !s.mcp:
				s.enclose(first)
				byCall[id] = s
			default:
				first.enclose(s)
			}
		}
	}
}

// encloses reports whether in is s or a part of its call: spans from outside
// may go round in circles.
func (s *span) encloses(in *span) bool {
	for ; in != nil; in = in.outer {
		if in == s {
			return true
		}
	}
	return false
}

// session is the conversation of the span or of its trace, else that of the MCP
// server, else the trace.
func (w *spanWindow) session(s *span) string {
	ofTrace, _ := w.names.get(s.trace)
	return cmp.Or(s.session, ofTrace, s.mcpSession, s.trace)
}

// remember keeps the ids of a call that was told, so that the other span of the
// same call is not taken for another when it comes late.
func (w *spanWindow) remember(s *span) {
	if !s.tool {
		return
	}
	t := toldSpan{s.name, s.mcp}
	w.told.put(s.key(), t, otlpRecent)
	if s.mcp && s.parent != "" {
		w.inner.put(s.within(), t, otlpRecent)
	}
	for _, in := range s.inner {
		w.remember(in)
	}
}
