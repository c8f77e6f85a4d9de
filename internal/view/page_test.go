package view_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/expediter-go/expediter/internal/analysis"
	"github.com/expediter-go/expediter/internal/view"
	"github.com/google/go-cmp/cmp"
)

// column is the text of a table's column, from the top.
func (p *tab) column(table string, n int) []string {
	p.t.Helper()
	return eval[[]string](p, fmt.Sprintf(`Array.from(document.querySelectorAll("#%s tbody tr"), (r) => r.cells[%d].textContent)`, table, n))
}

// head is the place of a table's column, from zero.
func (p *tab) head(table, title string) int {
	p.t.Helper()
	return eval[int](p, fmt.Sprintf(`Array.from(document.querySelectorAll("#%s thead th")).findIndex((th) => th.textContent === %q)`, table, title))
}

func TestTablesSort(t *testing.T) {
	p := open(t, full(), 1280, 900)
	saved := p.head("policies", "Saved")
	sort := func() string {
		return eval[string](p, fmt.Sprintf(`document.querySelectorAll("#policies thead th")[%d].getAttribute("aria-sort")`, saved))
	}
	if diff := cmp.Diff([]string{"5", "4", "9", "0"}, p.column("policies", saved)); diff != "" {
		t.Fatalf("before sorting (-want +got):\n%s", diff)
	}
	p.run(chromedp.Click(fmt.Sprintf("#policies thead th:nth-child(%d) button", saved+1), chromedp.ByQuery))
	if diff := cmp.Diff([]string{"9", "5", "4", "0"}, p.column("policies", saved)); diff != "" || sort() != "descending" {
		t.Errorf("after a click, aria-sort %s (-want +got):\n%s", sort(), diff)
	}
	p.press(kb.Enter)
	if diff := cmp.Diff([]string{"0", "4", "5", "9"}, p.column("policies", saved)); diff != "" || sort() != "ascending" {
		t.Errorf("after Enter, aria-sort %s (-want +got):\n%s", sort(), diff)
	}
	p.press(kb.Tab, kb.Enter)
	if sort() != "none" {
		t.Errorf("another column is sorted by, yet aria-sort of Saved is %s", sort())
	}
	p.run(chromedp.Focus("#policies thead th button", chromedp.ByQuery))
	p.press(kb.Enter)
	if diff := cmp.Diff([]string{"all failures per tool", "faithful", "interactive", "never opens"}, p.column("policies", 0)); diff != "" {
		t.Errorf("by name (-want +got):\n%s", diff)
	}
}

func TestKeysMoveThroughTheCalls(t *testing.T) {
	p := open(t, cascade(), 1280, 900)
	steps := []struct {
		key, want string
	}{
		{"", "Call 1 of 43, Read: CALL, in the recording it worked."},
		{kb.ArrowRight, "Call 2 of 43, Grep: CALL"},
		{kb.ArrowRight, "Call 3 of 43, WebFetch/docs.example.org: CALL"},
		{kb.ArrowLeft, "Call 2 of 43, Grep: CALL"},
		{kb.ArrowDown, "Call 3 of 43, WebFetch/docs.example.org: CALL"},
		{kb.PageDown, "Call 9 of 43, WebFetch/docs.example.org: CALL, in the recording it failed. network: dial tcp 192.0.2.7:443: connection refused. Breaker CLOSED. Budget 0 of 5."},
		{kb.End, "Call 43 of 43, Read: CALL, in the recording it has no result."},
		{kb.ArrowRight, "Call 43 of 43"},
		{kb.PageUp, "Call 42 of 43, Grep: SKIP, in the recording it failed (saved). tool_missing: rg: command not found. Breaker OPEN."},
		{kb.Home, "Call 1 of 43"},
		{kb.ArrowUp, "Call 1 of 43"},
	}
	p.run(chromedp.Focus("#scroller", chromedp.ByQuery))
	for i, s := range steps {
		if s.key != "" {
			p.press(s.key)
		}
		if got := p.text("#detail"); !strings.HasPrefix(got, s.want) {
			t.Errorf("step %d: got %q, want it to begin with %q", i, got, s.want)
		}
	}
	p.press(kb.PageDown, kb.PageDown, kb.PageDown)
	p.detail("focus.png", "#timeline")
	if got := eval[string](p, `document.getElementById("detail").getAttribute("aria-live")`); got != "polite" {
		t.Errorf("the description is announced %q, want polite", got)
	}
}

func TestTheWholePageIsInReachOfTheTabKey(t *testing.T) {
	p := open(t, full(), 1280, 900)
	want := []string{"skip", "scroller", "copy", "fit"}
	seen := map[string]bool{}
	for range 120 {
		p.press(kb.Tab)
		seen[eval[string](p, `document.activeElement.id || document.activeElement.className`)] = true
	}
	for _, id := range want {
		if !seen[id] {
			t.Errorf("the tab key never comes to %s", id)
		}
	}
}

func TestALongSessionIsDrawnWhereItIsSeen(t *testing.T) {
	p := open(t, long(), 1280, 900)
	if got := p.text("#session-name"); !strings.Contains(got, "5,000 calls · 60 tools") {
		t.Errorf("the session with the most denials is not the first: %q", got)
	}
	if wide := eval[int](p, `document.getElementById("stage").width`); wide > 1400 {
		t.Errorf("the canvas is %d wide; it should be as wide as its window", wide)
	}
	p.run(chromedp.Focus("#scroller", chromedp.ByQuery))
	p.press(kb.End)
	if at := eval[float64](p, `document.getElementById("scroller").scrollLeft`); at < 40_000 {
		t.Errorf("the last call is chosen and the window stands at %g", at)
	}
	const frames = 60
	took := eval[float64](p, fmt.Sprintf(`new Promise((done) => {
		const s = document.getElementById("scroller"), begin = performance.now();
		let n = 0;
		const step = () => { s.scrollLeft = 800 * n; n++ < %d ? requestAnimationFrame(step) : done(performance.now() - begin); };
		step();
	})`, frames), awaited)
	t.Logf("%.1f ms for a frame of scrolling through 5,000 calls", took/frames)
	if took/frames > 100 {
		t.Errorf("a frame takes %.1f ms", took/frames)
	}
}

func TestChooserFilters(t *testing.T) {
	p := open(t, long(), 1280, 900)
	p.run(chromedp.SendKeys("#filter", "S017", chromedp.ByQuery))
	if got := p.text("#found"); got != "1 session" {
		t.Errorf("found: got %q", got)
	}
	p.run(chromedp.Focus("#list", chromedp.ByQuery))
	p.press(kb.ArrowDown)
	if got := p.text("#session-name"); !strings.HasPrefix(got, "s017 · work/s017.jsonl.gz") {
		t.Errorf("chosen by keyboard: %q", got)
	}
}

func TestTheCallsAreATable(t *testing.T) {
	r, notable := cascade(), 0
	for _, l := range r.Timelines[0].Lanes {
		for _, k := range l.Ticks {
			if k.Verb != "CALL" || k.Outcome == "failure" {
				notable++
			}
		}
	}
	p := open(t, r, 1280, 900)
	p.run(chromedp.Click("#calls summary", chromedp.ByQuery))
	p.run(chromedp.Poll(fmt.Sprintf(`document.querySelectorAll("#rows tr").length === %d`, notable), nil))
	p.run(chromedp.SetValue("#which", "all", chromedp.ByQuery))
	eval[any](p, `document.getElementById("which").dispatchEvent(new Event("change"))`)
	got := eval[[]string](p, `Array.from(document.querySelectorAll("#rows tr")[11].cells, (c) => c.textContent)`)
	want := []string{"12", "09:00:52", "WebFetch/docs.example.org", "SKIP", "failed (saved)", "network: dial tcp 192.0.2.7:443: connection refused"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("row 12 (-want +got):\n%s", diff)
	}
}

func TestDarkAndPrint(t *testing.T) {
	p := open(t, full(), 1280, 900, dark(true))
	colour := `getComputedStyle(document.body).backgroundColor`
	if got := eval[string](p, colour); got != "rgb(20, 24, 28)" {
		t.Errorf("in the dark the page is %s", got)
	}
	p.run(emulation.SetEmulatedMedia().WithMedia("print").WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}))
	p.run(chromedp.Poll(`document.querySelectorAll("details:not([open])").length === 0`, nil))
	if got := eval[string](p, colour); got != "rgb(255, 255, 255)" {
		t.Errorf("on paper the page is %s", got)
	}
	if n := eval[int](p, `document.querySelectorAll("#rows tr").length`); n == 0 {
		t.Error("on paper the calls have no table")
	}
	corner := `Array.from(document.getElementById("stage").getContext("2d").getImageData(2, 2, 1, 1).data).slice(0, 3)`
	if diff := cmp.Diff([]int{255, 255, 255}, eval[[]int](p, corner)); diff != "" {
		t.Errorf("on paper the timeline's ground (-want +got):\n%s", diff)
	}
	if data := p.pdf(); !bytes.HasPrefix(data, []byte("%PDF-")) {
		t.Errorf("no PDF: %.20q", data)
	}
}

func TestHostileTextsDoNothing(t *testing.T) {
	p := open(t, hostile(), 1280, 900)
	p.run(chromedp.Click("#calls summary", chromedp.ByQuery), chromedp.Focus("#scroller", chromedp.ByQuery))
	p.press(kb.ArrowRight, kb.PageDown, kb.End)
	if eval[bool](p, `"harmed" in window`) {
		t.Error("a text ran as a script")
	}
	if n := eval[int](p, `document.querySelectorAll("img, iframe, object, embed, [onerror], [style*=url]").length`); n != 0 {
		t.Errorf("texts became %d elements", n)
	}
	whole := eval[string](p, `document.documentElement.outerHTML`)
	for _, bad := range []string{"hunter2hunter2", "\u202e", "\u2066", "\x1b", "\u2028", strings.Repeat("w", 500)} {
		if strings.Contains(whole, bad) {
			t.Errorf("the page holds %.20q", bad)
		}
	}
	if over := eval[int](p, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); over > 0 {
		t.Errorf("long names make the page %d pixels too wide", over)
	}
}

// Were a text to become markup all the same, the page's policy would stop it.
func TestThePageRunsNothingButItsOwn(t *testing.T) {
	p := open(t, quiet(), 1280, 900)
	refused := eval[bool](p, `(async () => {
		const script = document.createElement("script");
		script.textContent = "window.harmed = 1";
		document.body.append(script);
		const button = document.createElement("button");
		button.setAttribute("onclick", "window.harmed = 1");
		document.body.append(button);
		button.click();
		return fetch("https://example.org/").then(() => false, () => true);
	})()`, awaited)
	if !refused || eval[bool](p, `"harmed" in window`) {
		t.Error("a foreign script ran, or a request left")
	}
	p.mu.Lock()
	p.faults = nil // the browser's complaints about the above
	p.mu.Unlock()
}

func TestNarrowPageHasNoSidewaysScroll(t *testing.T) {
	for name, r := range map[string]*analysis.Result{"full": full(), "hostile": hostile(), "quiet": quiet()} {
		p := open(t, r, 400, 800)
		if over := eval[int](p, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); over > 0 {
			t.Errorf("%s: %d pixels too wide", name, over)
		}
	}
}

// Whatever comes in, the page stays small and says what it leaves out.
func TestPageIsBounded(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	list := []analysis.Timeline{longSession(rng, "huge", 60_000, 40)}
	for i := range 520 {
		list = append(list, longSession(rng, fmt.Sprint("s", i), 250, 9))
	}
	r := result("faithful", list...)
	for i := range 1200 {
		r.ByTool = append(r.ByTool, analysis.Part{Name: fmt.Sprint("tool ", i, strings.Repeat("x", 1000))})
		r.Frontier = append(r.Frontier, analysis.Point{Policy: fmt.Sprint("p", i), Saved: i % 97, Lost: i % 31})
	}
	got := render(t, func(w io.Writer) error { return view.HTML(w, r) })
	t.Logf("%d sessions in %d bytes", len(list), len(got))
	if len(got) > 5<<20 {
		t.Errorf("the page has %d bytes", len(got))
	}
	p := open(t, r, 1280, 900)
	for _, want := range []string{"more sessions without a timeline here", "the last 40,000 calls are not drawn", "more are in the JSON"} {
		if !strings.Contains(p.text("body"), want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}
