package httptool_test

import (
	"io"
	"net/http"
	"testing"

	"github.com/expediter-go/expediter/integration/httptool"
)

// BenchmarkClient compares a guarded client with one that is not: over a real
// connection on loopback, and over a base that answers at once, which shows
// what the guard itself costs.
func BenchmarkClient(b *testing.B) {
	instant := baseFunc(func(req *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Request: req, Header: http.Header{}, Body: http.NoBody}, nil
	})
	addr := serve(b, answering(200, "fine"))
	pooled := &http.Transport{MaxIdleConnsPerHost: 16}
	b.Cleanup(pooled.CloseIdleConnections)
	for _, base := range []struct {
		name string
		http.RoundTripper
	}{{"loopback", pooled}, {"instant", instant}} {
		x := newBench(b, nil)
		b.Run(base.name+"/plain", func(b *testing.B) { requests(b, &http.Client{Transport: base.RoundTripper}, addr) })
		b.Run(base.name+"/guarded", func(b *testing.B) {
			requests(b, x.client(b, httptool.Config{Base: base.RoundTripper}), addr)
		})
		b.Run(base.name+"/guarded to the body's end", func(b *testing.B) {
			requests(b, x.client(b, httptool.Config{Base: base.RoundTripper, AtBodyEnd: true}), addr)
		})
	}
}

func requests(b *testing.B, c *http.Client, addr string) {
	b.ReportAllocs()
	for b.Loop() {
		resp, err := c.Get(addr)
		if err != nil {
			b.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
	}
}
