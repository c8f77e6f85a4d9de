package view_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/expediter-go/expediter/internal/analysis"
	"github.com/expediter-go/expediter/internal/view"
)

var screenshots = flag.String("screenshots", "", "a folder to write pictures of the pages to")

// browser is one Chromium for all tests of the package.
var browser = sync.OnceValues(func() (context.Context, error) {
	if _, err := exec.LookPath("chromium"); err != nil {
		return nil, err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath("chromium"), chromedp.WSURLReadTimeout(60*time.Second))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	alloc, _ := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, stop := chromedp.NewContext(alloc, chromedp.WithErrorf(func(string, ...any) {})) // events that are newer than the library
	stopBrowser = stop
	return ctx, chromedp.Run(ctx)
})

var stopBrowser = func() {}

func TestMain(m *testing.M) {
	code := m.Run()
	stopBrowser()
	os.Exit(code)
}

// tab is an open page, and what it did that it should not.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu     sync.Mutex
	faults []string
}

// open shows a result in a window of this size, in CSS pixels.
func open(t *testing.T, r *analysis.Result, width, height int64, before ...chromedp.Action) *tab {
	t.Helper()
	root, err := browser()
	if errors.Is(err, exec.ErrNotFound) && os.Getenv("CI") != "true" {
		t.Skip("no browser; install the package chromium")
	}
	if err != nil {
		t.Fatal(err)
	}
	ctx, closeTab := chromedp.NewContext(root)
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	t.Cleanup(func() { cancel(); closeTab() })
	p := &tab{t: t, ctx: ctx}
	chromedp.ListenTarget(ctx, p.watch)
	file := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(file, []byte(render(t, func(w io.Writer) error { return view.HTML(w, r) })), 0o600); err != nil {
		t.Fatal(err)
	}
	p.run(network.Enable(), log.Enable(), chromedp.EmulateViewport(width, height))
	p.run(before...)
	p.run(chromedp.Navigate("file://"+file), chromedp.WaitReady("body"))
	t.Cleanup(p.check)
	return p
}

// watch notes every request, error and warning. The page's own file and its
// empty icon are no request.
func (p *tab) watch(event any) {
	fault := ""
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if url := e.Request.URL; !strings.HasPrefix(url, "data:") && !strings.HasSuffix(url, "/page.html") {
			fault = "request: " + url
		}
	case *runtime.EventExceptionThrown:
		fault = "exception: " + e.ExceptionDetails.Error()
	case *runtime.EventConsoleAPICalled:
		fault = fmt.Sprintf("console: %s %v", e.Type, e.Args)
	case *log.EventEntryAdded:
		fault = "log: " + e.Entry.Text
	}
	if fault != "" {
		p.mu.Lock()
		p.faults = append(p.faults, fault)
		p.mu.Unlock()
	}
}

func (p *tab) check() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, f := range p.faults {
		p.t.Error(f)
	}
}

func (p *tab) run(actions ...chromedp.Action) {
	p.t.Helper()
	if err := chromedp.Run(p.ctx, actions...); err != nil {
		p.t.Fatal(err)
	}
}

func eval[T any](p *tab, script string, options ...chromedp.EvaluateOption) T {
	p.t.Helper()
	var v T
	p.run(chromedp.Evaluate(script, &v, options...))
	return v
}

// awaited waits for a script's promise.
func awaited(e *runtime.EvaluateParams) *runtime.EvaluateParams { return e.WithAwaitPromise(true) }

func (p *tab) text(selector string) string {
	p.t.Helper()
	return eval[string](p, fmt.Sprintf("document.querySelector(%q).textContent", selector))
}

func (p *tab) press(keys ...string) {
	p.t.Helper()
	for _, k := range keys {
		p.run(chromedp.KeyEvent(k))
	}
}

func dark(on bool) chromedp.Action {
	value := "light"
	if on {
		value = "dark"
	}
	return emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: value}})
}

func (p *tab) pdf() []byte {
	p.t.Helper()
	var data []byte
	p.run(chromedp.ActionFunc(func(ctx context.Context) (err error) {
		data, _, err = page.PrintToPDF().WithPrintBackground(true).WithPaperWidth(8.27).WithPaperHeight(11.69).Do(ctx)
		return err
	}))
	return data
}

// picture writes what a reader sees, for people to look at.
func (p *tab) picture(name string, whole bool) {
	p.t.Helper()
	if *screenshots == "" {
		return
	}
	var data []byte
	action := chromedp.CaptureScreenshot(&data)
	if whole {
		action = chromedp.FullScreenshot(&data, 100)
	}
	p.run(action)
	p.keep(name, data)
}

// detail writes one part of the page.
func (p *tab) detail(name, selector string) {
	p.t.Helper()
	if *screenshots == "" {
		return
	}
	var data []byte
	p.run(chromedp.Screenshot(selector, &data, chromedp.ByQuery))
	p.keep(name, data)
}

func (p *tab) keep(name string, data []byte) {
	p.t.Helper()
	if err := os.WriteFile(filepath.Join(*screenshots, name), data, 0o644); err != nil {
		p.t.Fatal(err)
	}
}
