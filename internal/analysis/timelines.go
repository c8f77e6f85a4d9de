package analysis

import (
	"cmp"
	"slices"
)

// maxDrawn bounds the ticks of all timelines together.
const maxDrawn = 200_000

// keeper keeps the timelines that say most: those with the most denials, then
// the most failures, then the earliest.
type keeper struct {
	most    int // timelines
	kept    []kept
	drawn   int // ticks of kept
	offered int
}

type kept struct {
	Timeline
	order, ticks int
}

func (k *keeper) offer(t Timeline) {
	if t.Counts.Calls == 0 {
		return
	}
	n := kept{Timeline: t, order: k.offered, ticks: min(t.Calls, MaxTicks)}
	k.offered++
	i, _ := slices.BinarySearchFunc(k.kept, n, moreTelling)
	k.kept = slices.Insert(k.kept, i, n)
	k.drawn += n.ticks
	for len(k.kept) > k.most || k.drawn > maxDrawn && len(k.kept) > 1 {
		k.drawn -= k.kept[len(k.kept)-1].ticks
		k.kept = k.kept[:len(k.kept)-1]
	}
}

func moreTelling(a, b kept) int {
	denied := func(t kept) int { return t.Counts.Skipped + t.Counts.Paused }
	return cmp.Or(cmp.Compare(denied(b), denied(a)), cmp.Compare(b.Counts.Failures, a.Counts.Failures),
		cmp.Compare(a.order, b.order))
}

// list gives them, the most telling first, and the number of sessions left out.
func (k *keeper) list() (list []Timeline, omitted int) {
	for _, t := range k.kept {
		list = append(list, t.Timeline)
	}
	return list, k.offered - len(k.kept)
}
