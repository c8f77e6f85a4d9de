package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/expediter-go/expediter/cascade/redact"
	"github.com/expediter-go/expediter/internal/store"
)

// Proxy is one proxy, as a command reaches it.
type Proxy struct {
	client *http.Client
	base   string
}

// Reach is the proxy that hears at a socket of the store. socket is its name, as a
// session's meta has it. Nothing is sent yet.
func Reach(st *store.Store, socket string) (*Proxy, error) {
	dir, err := st.Folder(Folder, false)
	if errors.Is(err, store.ErrNoSession) {
		return nil, ErrGone
	}
	if err != nil {
		return nil, err
	}
	if filepath.Base(socket) != socket || !strings.HasSuffix(socket, endSocket) {
		return nil, ErrGone
	}
	return at(filepath.Join(dir, socket)), nil
}

func at(path string) *Proxy {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", path)
	}
	return &Proxy{base: "http://proxy", client: &http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}}
}

// Write has the proxy write what it knows of its sessions into the store.
func (p *Proxy) Write(ctx context.Context) error {
	_, err := p.post(ctx, pathWrite, struct{}{})
	return err
}

// Tool is the proxy's name, SERVER/TOOL, of a tool as it was typed.
func (p *Proxy) Tool(ctx context.Context, session, typed string) (string, error) {
	r, err := p.post(ctx, pathTool, Request{Op: Reset, Session: session, Tool: typed})
	return r.Tool, err
}

// Do has the proxy do a control.
func (p *Proxy) Do(ctx context.Context, req Request) error {
	_, err := p.post(ctx, pathDo, req)
	return err
}

// post sends a request. Its error is ErrGone if nobody hears it, or what the proxy
// says.
func (p *Proxy) post(ctx context.Context, path string, body any) (r reply, err error) {
	data, err := json.Marshal(body)
	if err != nil {
		return r, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.base+path, bytes.NewReader(data))
	if err != nil {
		return r, err
	}
	res, err := p.client.Do(req)
	switch {
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, os.ErrNotExist):
		return r, ErrGone
	case err != nil:
		return r, fmt.Errorf("the proxy does not answer: %w", err)
	}
	defer res.Body.Close()
	if err := json.NewDecoder(io.LimitReader(res.Body, maxBody)).Decode(&r); err != nil {
		return r, fmt.Errorf("the proxy's answer cannot be read (%s): %w; is it of the same version?", res.Status, err)
	}
	if r.Error != "" {
		return r, &failure{redact.Text(r.Error, 1000), kinds[r.Kind]}
	}
	return r, nil
}

// writeWait bounds how long a command waits for a proxy to write.
const writeWait = 2 * time.Second

// WriteAll has all proxies of the store write what they know, and returns the
// sockets of those that run, also of those that did not write in time.
func WriteAll(ctx context.Context, st *store.Store) map[string]bool {
	ctx, cancel := context.WithTimeout(ctx, writeWait)
	defer cancel()
	running := map[string]bool{}
	dir, err := st.Folder(Folder, false)
	if err != nil {
		return running
	}
	entries, _ := os.ReadDir(dir)
	var wait sync.WaitGroup
	var mu sync.Mutex
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), endSocket) {
			continue
		}
		wait.Go(func() {
			if err := at(filepath.Join(dir, e.Name())).Write(ctx); errors.Is(err, ErrGone) {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			running[e.Name()] = true
		})
	}
	wait.Wait()
	return running
}
