package view_test

import (
	"testing"

	"github.com/expediter-go/expediter/internal/analysis"
)

// The pictures themselves are for people (-screenshots DIR); that the pages
// load without a fault, this test sees.
func TestScreens(t *testing.T) {
	swept := long()
	sweep(swept)
	pages := []struct {
		name  string
		r     *analysis.Result
		width int64
		dark  bool
	}{
		{"quiet", quiet(), 1280, false},
		{"cascade", full(), 1280, false},
		{"long", swept, 1280, false},
		{"dark", full(), 1280, true},
		{"dark-long", swept, 1280, true},
		{"narrow", full(), 400, false},
		{"hostile", hostile(), 1280, false},
	}
	for _, tt := range pages {
		t.Run(tt.name, func(t *testing.T) {
			p := open(t, tt.r, tt.width, 900, dark(tt.dark))
			p.picture(tt.name+".png", true)
			p.detail(tt.name+"-sessions.png", "#sessions")
			eval[any](p, `document.getElementById("fit").click()`)
			p.detail(tt.name+"-fit.png", "#timeline")
			if data := p.pdf(); *screenshots != "" {
				p.keep(tt.name+".pdf", data)
			}
		})
	}
}
