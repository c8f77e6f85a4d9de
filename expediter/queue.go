package expediter

// queue holds what observers are to hear. Events are added under Engine.mu and
// delivered outside it, in order, by one goroutine at a time: whoever finds
// nobody delivering.
type queue struct {
	waiting []notice // guarded by Engine.mu

	delivering bool // likewise
}

// notice is one thing to tell one observer.
type notice struct {
	event      *Event // for Journal
	call       *Event // for Decided or Recorded
	move       *Transition
	route      *Routing
	incident   *IncidentEvent
	pause      *PauseEvent
	unverified *Unverified
	change     *Change // for the fleet
	want       *Want   // likewise
}

func (q *queue) add(n notice) { q.waiting = append(q.waiting, n) }

// deliver empties the queue. An observer may call the engine: what it causes
// waits behind what is being delivered. If an observer panics, the rest is
// delivered by the next caller.
func (x *Engine) deliver() {
	for x.claim() {
		for {
			n, ok := x.nextNotice()
			if !ok {
				break
			}
			x.tell(n)
		}
	}
}

// claim makes this goroutine the one that delivers, if there is work and
// nobody else does it.
func (x *Engine) claim() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.queue.waiting) == 0 || x.queue.delivering {
		return false
	}
	x.queue.delivering = true
	return true
}

// nextNotice takes the next notice, or gives the turn back.
func (x *Engine) nextNotice() (notice, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.queue.waiting) == 0 {
		x.queue.delivering = false
		x.queue.waiting = nil
		return notice{}, false
	}
	n := x.queue.waiting[0]
	x.queue.waiting[0] = notice{}
	x.queue.waiting = x.queue.waiting[1:]
	return n, true
}

// tell calls the observers of one notice. A panic goes on to the caller, but
// does not keep the turn.
func (x *Engine) tell(n notice) {
	done := false
	defer func() {
		if !done {
			x.mu.Lock()
			x.queue.delivering = false
			x.mu.Unlock()
		}
	}()
	switch {
	case n.event != nil:
		x.events.Journal(n.event)
	case n.call != nil && n.call.Op == OpDecide:
		x.events.Decided(n.call)
	case n.call != nil:
		x.events.Recorded(n.call)
	case n.move != nil:
		x.events.Transition(*n.move)
	case n.route != nil:
		x.events.Routed(*n.route)
	case n.incident != nil:
		x.events.Incident(*n.incident)
	case n.pause != nil:
		x.events.Paused(*n.pause)
	case n.unverified != nil:
		x.events.Unverified(*n.unverified)
	default:
		x.tellFleet(n)
	}
	done = true
}
