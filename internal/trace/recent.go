package trace

// recent is a map that forgets: of two generations the older one goes when the
// newer one is full. The zero recent is empty.
type recent[K comparable, V any] struct{ young, old map[K]V }

func (r *recent[K, V]) get(key K) (V, bool) {
	if v, ok := r.young[key]; ok {
		return v, true
	}
	v, ok := r.old[key]
	return v, ok
}

// put keeps a value, and at most as many of each generation as full says.
func (r *recent[K, V]) put(key K, v V, full int) {
	if _, ok := r.young[key]; !ok && (r.young == nil || len(r.young) >= full) {
		r.young, r.old = map[K]V{}, r.young
	}
	r.young[key] = v
}
