package mcpproxy

import (
	"context"
	"sync"
)

// parks are the calls that wait for their clients to come back, by the state
// that these will bring: unguessable, and good for one request of the session
// that it was given to, of the same method for the same thing.
type parks struct {
	running sync.WaitGroup // calls that outlive their requests; joined under Proxy.mu

	mu   sync.Mutex // no other is taken within it
	all  map[string]*parked
	each map[*session]int
}

// put enters a call, unless too many are.
func (ps *parks) put(state string, k *parked) bool {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if len(ps.all) >= maxParked || ps.each[k.first.s] >= maxParkedOf {
		return false
	}
	if ps.all == nil {
		ps.all, ps.each = map[string]*parked{}, map[*session]int{}
	}
	ps.all[state] = k
	ps.each[k.first.s]++
	return true
}

// take removes the call of a state and returns it; nil: there is none that by, a
// request, may come back to. A nil by is the proxy itself.
func (ps *parks) take(state string, by *request) *parked {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	k := ps.all[state]
	if k == nil || by != nil && !k.first.isSame(by) {
		return nil
	}
	ps.removeLocked(state, k)
	return k
}

func (ps *parks) removeLocked(state string, k *parked) {
	delete(ps.all, state)
	if ps.each[k.first.s]--; ps.each[k.first.s] == 0 {
		delete(ps.each, k.first.s)
	}
}

// isSame reports whether another request asks for the same, for the same client.
func (r *request) isSame(o *request) bool {
	name := func(r *request) string { s, _ := getString(r.params, "name"); return s }
	uri := func(r *request) string { s, _ := getString(r.params, "uri"); return s }
	return r.s == o.s && r.method == o.method && name(r) == name(o) && uri(r) == uri(o)
}

// drop removes a call that has ended before its client was back.
func (ps *parks) drop(k *parked) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	for state, other := range ps.all {
		if other == k {
			ps.removeLocked(state, k)
			return
		}
	}
}

// cancelled ends the call that a client on stdio waits for without a request: it
// has cancelled the one that the question has answered.
func (ps *parks) cancelled(connection, id string) {
	var own []*parked
	ps.mu.Lock()
	for _, k := range ps.all {
		if k.first.ss != nil && k.first.ss.ID() == connection {
			own = append(own, k)
		}
	}
	ps.mu.Unlock()
	for _, k := range own {
		if k.first.at().id == id {
			k.cancel(context.Canceled)
		}
	}
}
