package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"slices"
)

// bbolt trusts the pages of a file: a page that points to itself makes it recurse
// until the process ends, and a wrong count makes it allocate without bound, which
// no recover can catch. So pages are looked at before bbolt sees them. The format
// is version 2 of its file, in the byte order of the machine.

const (
	pageHead = 16 // id 8, flags 2, count 2, overflow 4
	elemSize = 16 // of a branch: position 4, key 4, page 8; of a leaf: flags 4, position 4, key 4, value 4

	isBranch, isLeaf, isFreelist = 1, 2, 16 // flags
)

var order = binary.NativeEndian

// pages reads the pages of a file.
type pages struct {
	from    io.ReaderAt
	end     uint64 // the first page that is not in use
	seen    []bool // pages that were come across
	limit   int64  // bytes of the file
	oneMeta bool   // one of the two meta pages is not valid
}

// check reports why bbolt could not be trusted with a file. It looks at its meta pages
// and the list of its free pages, and at all pages if it is to be thorough. An
// error is one of reading. oneMeta: the file has lost one of its two meta pages, and
// can be used as it was at the other, at most one transaction before.
func check(f io.ReaderAt, size int64, thorough bool) (oneMeta bool, d *damage, err error) {
	p := &pages{from: f, limit: size}
	d, err = p.check(thorough)
	if short(err) {
		return p.oneMeta, damaged("its end is missing"), nil
	}
	return p.oneMeta, d, err
}

func short(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }

func (p *pages) check(thorough bool) (*damage, error) {
	if p.limit == 0 {
		return damaged("it is empty"), nil
	}
	m, d, err := p.meta()
	if d != nil || err != nil {
		return d, err
	}
	p.end = m.end
	if m.end < 4 || m.end > uint64(p.limit)/pageSize {
		return damaged("its end is missing"), nil
	}
	p.seen = make([]bool, m.end)
	free, d, err := p.free(m.free)
	if d != nil || err != nil || !thorough {
		return d, err
	}
	if d, err := p.tree(m.root, span{}, 0); d != nil || err != nil {
		return d, err
	}
	for _, id := range free {
		if p.seen[id] {
			return damaged("a page is both in use and free"), nil
		}
		p.seen[id] = true
	}
	if slices.Contains(p.seen[2:], false) {
		return damaged("a page is neither in use nor free"), nil
	}
	return nil, nil
}

// page reads a page with those that it runs on into, and marks them as seen.
func (p *pages) page(id uint64) (b []byte, d *damage, err error) {
	if id < 2 || id >= p.end {
		return nil, damaged("a page lies outside of it"), nil
	}
	var head [pageHead]byte
	if _, err := p.from.ReadAt(head[:], int64(id)*pageSize); err != nil {
		return nil, nil, err
	}
	n := uint64(order.Uint32(head[12:])) + 1
	if order.Uint64(head[:]) != id || n > p.end-id {
		return nil, damaged("a page is not where it belongs"), nil
	}
	for i := id; i < id+n; i++ {
		if p.seen[i] {
			return nil, damaged("a page is used twice"), nil
		}
		p.seen[i] = true
	}
	b = make([]byte, n*pageSize)
	_, err = p.from.ReadAt(b, int64(id)*pageSize)
	return b, nil, err
}

// free returns the free pages.
func (p *pages) free(id uint64) ([]uint64, *damage, error) {
	b, d, err := p.page(id)
	if d != nil || err != nil {
		return nil, d, err
	}
	n, list := uint64(order.Uint16(b[10:])), b[pageHead:]
	if n == 0xFFFF { // too many for the head of the page
		n, list = order.Uint64(list), list[8:]
	}
	if order.Uint16(b[8:]) != isFreelist || n > uint64(len(list))/8 {
		return nil, damaged("its list of free pages is none"), nil
	}
	ids := make([]uint64, n)
	last := uint64(1)
	for i := range ids {
		ids[i] = order.Uint64(list[8*i:])
		if ids[i] <= last || ids[i] >= p.end || p.seen[ids[i]] {
			return nil, damaged("its list of free pages is wrong"), nil
		}
		last = ids[i]
	}
	return ids, nil, nil
}

// span is where the keys of a page lie: from low on, and below high. Nil: anywhere.
type span struct{ low, high []byte }

func (s span) has(key []byte) bool {
	return len(key) > 0 && bytes.Compare(key, s.low) >= 0 && (s.high == nil || bytes.Compare(key, s.high) < 0)
}

// deepest is how many pages may lie above one another; bbolt recurses over them.
const deepest = 64

// tree looks at a page and all below it.
func (p *pages) tree(id uint64, in span, depth int) (*damage, error) {
	b, d, err := p.page(id)
	if d != nil || err != nil {
		return d, err
	}
	if depth > deepest {
		return damaged("its pages lie too deep"), nil
	}
	switch order.Uint16(b[8:]) {
	case isBranch:
		return p.branch(b, in, depth)
	case isLeaf:
		return p.leaf(b, in, depth)
	}
	return damaged("a page is of no kind that belongs there"), nil
}

// element returns the i-th entry of a page, and length bytes from its position on.
func element(b []byte, i int, position, length uint64) (data []byte, ok bool) {
	from := uint64(pageHead+elemSize*i) + position
	if from > uint64(len(b)) || length > uint64(len(b))-from {
		return nil, false
	}
	return b[from : from+length], true
}

// count is how many entries a page has, if it is long enough for them.
func count(b []byte) (int, bool) {
	n := int(order.Uint16(b[10:]))
	return n, pageHead+elemSize*n <= len(b)
}

func (p *pages) branch(b []byte, in span, depth int) (*damage, error) {
	n, ok := count(b)
	if !ok || n == 0 {
		return damaged("a page has a wrong count"), nil
	}
	keys := make([][]byte, n+1)
	keys[n] = in.high
	for i := range n {
		e := b[pageHead+elemSize*i:]
		if keys[i], ok = element(b, i, uint64(order.Uint32(e)), uint64(order.Uint32(e[4:]))); !ok || !in.has(keys[i]) {
			return damaged("a key is not where it belongs"), nil
		}
	}
	for i := range n {
		if i+1 < n && bytes.Compare(keys[i], keys[i+1]) >= 0 {
			return damaged("keys are out of order"), nil
		}
		child := order.Uint64(b[pageHead+elemSize*i+8:])
		if d, err := p.tree(child, span{keys[i], keys[i+1]}, depth+1); d != nil || err != nil {
			return d, err
		}
	}
	return nil, nil
}

func (p *pages) leaf(b []byte, in span, depth int) (*damage, error) {
	n, ok := count(b)
	if !ok {
		return damaged("a page has a wrong count"), nil
	}
	var last []byte
	for i := range n {
		e := b[pageHead+elemSize*i:]
		keySize, valueSize := uint64(order.Uint32(e[8:])), uint64(order.Uint32(e[12:]))
		data, ok := element(b, i, uint64(order.Uint32(e[4:])), keySize+valueSize)
		if !ok || !in.has(data[:keySize]) || i > 0 && bytes.Compare(last, data[:keySize]) >= 0 {
			return damaged("a key is not where it belongs"), nil
		}
		last = data[:keySize]
		switch flags := order.Uint32(e); {
		case flags > 1:
			return damaged("an entry is of no kind that there is"), nil
		case flags == 1:
			if d, err := p.bucket(data[keySize:], depth); d != nil || err != nil {
				return d, err
			}
		}
	}
	return nil, nil
}

// bucket looks at a bucket: its page 8, its sequence 8, and if it is small and has
// no page, its only leaf.
func (p *pages) bucket(value []byte, depth int) (*damage, error) {
	if len(value) < 16 {
		return damaged("a bucket has no head"), nil
	}
	if root := order.Uint64(value); root != 0 {
		return p.tree(root, span{}, depth+1)
	}
	b := value[16:]
	if len(b) < pageHead || order.Uint64(b) != 0 || order.Uint16(b[8:]) != isLeaf || depth > deepest {
		return damaged("a small bucket has no leaf"), nil
	}
	return p.leaf(b, span{}, depth+1)
}
