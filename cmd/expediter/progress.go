package main

import (
	"io"
	"time"

	"github.com/schollz/progressbar/v3"
)

// progress is a line that tells how far long work is. It shows nothing where
// no terminal can draw over it.
type progress struct {
	w    io.Writer // nil: nothing is shown
	what string
	unit progressbar.Option       // how its numbers are written
	bar  *progressbar.ProgressBar // nil: not begun
}

func newProgress(w io.Writer, what string, unit progressbar.Option) *progress {
	if redrawable(w) == nil {
		return &progress{}
	}
	return &progress{w: w, what: what, unit: unit}
}

// show is called with what is done, and all there is; 0: not known.
func (p *progress) show(done, all int64) {
	if p.w == nil {
		return
	}
	if p.bar == nil {
		p.begin(all)
	}
	if all > 0 && all != p.bar.GetMax64() {
		p.bar.ChangeMax64(all)
	}
	_ = p.bar.Set64(done) // a terminal that cannot be written to shows no bar
}

// begin makes the bar. Whether all is known decides its kind for good.
func (p *progress) begin(all int64) {
	if all == 0 {
		all = -1
	}
	p.bar = progressbar.NewOptions64(all, progressbar.OptionSetWriter(p.w), progressbar.OptionSetDescription(p.what), p.unit,
		progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish(), progressbar.OptionSetRenderBlankState(true))
}

func (p *progress) end() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}
