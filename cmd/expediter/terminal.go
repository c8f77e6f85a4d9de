package main

import (
	"io"
	"os"

	"golang.org/x/term"
)

// terminal is the terminal that a reader or a writer leads to; nil: to none.
func terminal(stream any) *os.File {
	f, ok := stream.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return f
}

// redrawable is the terminal behind w, if lines on it can be drawn over.
func redrawable(w io.Writer) *os.File {
	if os.Getenv("TERM") == "dumb" {
		return nil
	}
	return terminal(w)
}

// colours reports whether the user lets terminals show them.
func colours() bool { return os.Getenv("NO_COLOR") == "" }

// sheetOf is how wide a text on w may be, in columns, and whether it may have
// colours. What is no terminal is 100 columns wide and has none.
func sheetOf(w io.Writer) (width int, colour bool) {
	f := terminal(w)
	if f == nil {
		return 100, false
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil || width < 40 {
		width = 80
	}
	return width, colours()
}
