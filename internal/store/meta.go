package store

import (
	"errors"
	"hash/fnv"
)

// What bbolt writes into each of its meta pages: the first two of a file, of which
// each transaction writes one and leaves the other.
const (
	magic   = 0xED0CDAED
	version = 2
)

// meta is what one of the first two pages says.
type meta struct {
	valid                     bool
	size, root, free, end, tx uint64
}

// meta returns the later meta page that is valid, as bbolt chooses it.
func (p *pages) meta() (best meta, d *damage, err error) {
	first, err0 := p.metaAt(0)
	second, err1 := p.metaAt(pageSize)
	if err := errors.Join(err0, err1); err != nil {
		return best, nil, err
	}
	p.oneMeta = first.valid != second.valid
	best = first
	if !first.valid || second.valid && second.tx > first.tx {
		best = second
	}
	switch astray, err := p.astray(first.valid); {
	case err != nil:
		return best, nil, err
	case !best.valid:
		return best, damaged("it does not begin as a session does"), nil
	case astray || first.valid && first.size != pageSize || second.valid && second.size != pageSize:
		return best, damaged("its pages have another size than those of a session"), nil
	}
	return best, nil, nil
}

// astray reports whether bbolt would come across another meta page before the
// second: it seeks one at all sizes that pages may have, when the first is not valid.
func (p *pages) astray(first bool) (bool, error) {
	for at := int64(1024); at < pageSize && !first; at *= 2 {
		if m, err := p.metaAt(at); m.valid || err != nil {
			return m.valid, err
		}
	}
	return false, nil
}

// metaAt reads a meta page, valid if its checksum holds. One that the file ends in is
// not valid.
func (p *pages) metaAt(at int64) (meta, error) {
	var b [pageHead + 64]byte
	if _, err := p.from.ReadAt(b[:], at); short(err) {
		return meta{}, nil
	} else if err != nil {
		return meta{}, err
	}
	v := b[pageHead:]
	sum := fnv.New64a()
	sum.Write(v[:56])
	return meta{
		valid: order.Uint32(v) == magic && order.Uint32(v[4:]) == version && order.Uint64(v[56:]) == sum.Sum64(),
		size:  uint64(order.Uint32(v[8:])),
		root:  order.Uint64(v[16:]),
		free:  order.Uint64(v[32:]),
		end:   order.Uint64(v[40:]),
		tx:    order.Uint64(v[48:]),
	}, nil
}
