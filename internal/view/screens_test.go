package view_test

import "testing"

// The pictures themselves are for people (-screenshots DIR); that the pages
// load without a fault, this test sees.
func TestScreens(t *testing.T) {
	withSweep := long()
	sweep(withSweep)
	t.Run("quiet", func(t *testing.T) { open(t, quiet(), 1280, 900).picture("quiet.png", true) })
	t.Run("cascade", func(t *testing.T) { open(t, full(), 1280, 900).picture("cascade.png", true) })
	t.Run("long", func(t *testing.T) {
		p := open(t, withSweep, 1280, 900)
		p.picture("long.png", true)
		eval[any](p, `document.getElementById("fit").click()`)
		p.picture("long-fit.png", true)
	})
	t.Run("dark", func(t *testing.T) { open(t, full(), 1280, 900, dark(true)).picture("dark.png", true) })
	t.Run("narrow", func(t *testing.T) { open(t, full(), 400, 800).picture("narrow.png", true) })
	t.Run("hostile", func(t *testing.T) { open(t, hostile(), 1280, 900).picture("hostile.png", true) })
	t.Run("print", func(t *testing.T) {
		p := open(t, full(), 1280, 900, dark(true))
		if data := p.pdf(); *screenshots != "" {
			p.keep("print.pdf", data)
		}
	})
	t.Run("print long", func(t *testing.T) {
		p := open(t, withSweep, 1280, 900)
		if data := p.pdf(); *screenshots != "" {
			p.keep("print-long.pdf", data)
		}
	})
}
