package main

import (
	"fmt"
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

// defaultHeight is that of a terminal that does not tell its own, in lines.
const defaultHeight = 24

// rows is the height of a terminal, in lines.
func rows(f *os.File) int {
	_, n, err := term.GetSize(int(f.Fd()))
	if err != nil || n < 1 {
		return defaultHeight
	}
	return n
}

// What a drawing over an earlier one is made with.
const (
	clearBelow = "\x1b[J"
	noWrap     = "\x1b[?7l" // a long line is cut, so that lines can be counted
	wrap       = "\x1b[?7h"
)

// up goes back to the beginning of the line that is so many lines above.
func up(lines int) string { return fmt.Sprintf("\x1b[%dA\r", lines) }

var stateColours = map[string]string{"OPEN": "31", "HALF-OPEN": "33", "CLOSED": "32"}

// inColour gives a text the colour of a state, by the name that reports print;
// what is no state has none.
func inColour(state, text string) string {
	code, ok := stateColours[state]
	if !ok {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}
