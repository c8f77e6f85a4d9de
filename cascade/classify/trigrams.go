package classify

// trigrams is a set of the three-byte pieces of a text, by a hash: a text that
// contains a literal has all of the literal's pieces. It spares most searches.
type trigrams [1 << 10]uint64

const trigramBits = 1<<16 - 1

func trigram(s string, i int) uint32 {
	return (uint32(s[i])<<11 ^ uint32(s[i+1])<<5 ^ uint32(s[i+2])) & trigramBits
}

func (t *trigrams) addAll(s string) {
	for i := 0; i+2 < len(s); i++ {
		h := trigram(s, i)
		t[h>>6] |= 1 << (h & 63)
	}
}

func (t *trigrams) has(h uint32) bool { return t[h>>6]&(1<<(h&63)) != 0 }

// pieces are the first, middle and last trigram of a literal. The zero value,
// of a literal shorter than three bytes, is in every text.
type pieces struct {
	known            bool
	first, mid, last uint32
}

func piecesOf(literal string) pieces {
	if len(literal) < 3 {
		return pieces{}
	}
	return pieces{known: true, first: trigram(literal, 0), mid: trigram(literal, (len(literal)-3)/2), last: trigram(literal, len(literal)-3)}
}

func (p pieces) in(t *trigrams) bool {
	return !p.known || t.has(p.first) && t.has(p.last) && t.has(p.mid)
}
