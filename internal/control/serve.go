package control

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/expediter-go/expediter/internal/store"
)

// Bounds of a request.
const (
	maxBody     = 64 << 10
	maxHeader   = 8 << 10
	readWithin  = 5 * time.Second
	writeWithin = 30 * time.Second
	maxPath     = 103 // bytes of a socket's path; systems have room for 104 or 108 with their end
)

// endSocket ends the names of sockets that a proxy hears at, and endNew that of one
// that is not ready.
const (
	endSocket = ".sock"
	endNew    = ".new"
)

// Handler is what a proxy does with requests. All must be safe for concurrent use.
type Handler struct {
	Write func(context.Context) error                        // what is known of all sessions into the store
	Tool  func(session, typed string) (tool string, e error) // SERVER/TOOL for a name as it is shown, or itself
	Do    func(context.Context, Request) error               // a control; what it did is in the store when it returns
}

// Server hears commands at a socket of its own.
type Server struct {
	path   string
	server *http.Server
	ended  chan struct{}
}

// Listen begins to hear commands in the store's folder of sockets, and removes the
// sockets of proxies that are gone. The socket gets its name when it is heard at, so
// that nobody takes it for one that is gone.
func Listen(st *store.Store, h Handler) (*Server, error) {
	dir, err := st.Folder(Folder, true)
	if err != nil {
		return nil, err
	}
	sweep(dir)
	path := filepath.Join(dir, strings.ToLower(rand.Text()[:12])+endSocket)
	if n := len(path) + len(endNew); n > maxPath {
		return nil, fmt.Errorf("no socket can have a path as long as %s; name a folder that is %d bytes shorter with --store or EXPEDITER_STORE", path, n-maxPath)
	}
	l, err := listenAt(path)
	if err != nil {
		return nil, fmt.Errorf("no command can reach this proxy: %w", err)
	}
	s := &Server{path: path, ended: make(chan struct{}), server: &http.Server{
		Handler: h.routes(), ReadTimeout: readWithin, WriteTimeout: writeWithin, MaxHeaderBytes: maxHeader,
	}}
	go func() {
		defer close(s.ended)
		_ = s.server.Serve(own{l})
	}()
	return s, nil
}

func listenAt(path string) (net.Listener, error) {
	fresh := path + endNew
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: fresh, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false)
	if err = os.Chmod(fresh, 0o600); err == nil {
		err = os.Rename(fresh, path)
	}
	if err != nil {
		return nil, errors.Join(err, l.Close(), os.Remove(fresh))
	}
	return l, nil
}

// Name is the name of the socket within its folder.
func (s *Server) Name() string { return filepath.Base(s.path) }

// Close ends the server and removes its socket. Requests under way are cut off.
func (s *Server) Close() error {
	err := s.server.Close()
	<-s.ended
	if e := os.Remove(s.path); !errors.Is(e, os.ErrNotExist) {
		err = errors.Join(err, e)
	}
	return err
}

// own refuses callers of other users, where the system tells who calls.
type own struct{ net.Listener }

func (l own) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if u, ok := c.(*net.UnixConn); ok && sameUser(u) {
			return c, nil
		}
		c.Close()
	}
}

// sweep removes sockets that nobody hears at.
func sweep(dir string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch info, err := e.Info(); {
		case err != nil || info.Mode()&os.ModeSocket == 0:
		case strings.HasSuffix(path, endSocket) && deserted(path),
			strings.HasSuffix(path, endNew) && time.Since(info.ModTime()) > time.Hour:
			_ = os.Remove(path)
		}
	}
}

// deserted reports whether the system says that nobody hears at a socket, and
// keeps saying so: some say it of one that has too much to do.
func deserted(path string) bool {
	for try := range 3 {
		if try > 0 {
			time.Sleep(20 * time.Millisecond)
		}
		c, err := net.DialTimeout("unix", path, time.Second)
		if err == nil {
			c.Close()
		}
		if !errors.Is(err, syscall.ECONNREFUSED) {
			return false
		}
	}
	return true
}

func (h Handler) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+pathWrite, func(w http.ResponseWriter, r *http.Request) {
		answer(w, "", h.Write(r.Context()))
	})
	mux.HandleFunc("POST "+pathTool, func(w http.ResponseWriter, r *http.Request) {
		var req struct{ Session, Tool string }
		if read(w, r, &req) {
			tool, err := h.Tool(req.Session, req.Tool)
			answer(w, tool, err)
		}
	})
	mux.HandleFunc("POST "+pathDo, func(w http.ResponseWriter, r *http.Request) {
		var req Request
		if read(w, r, &req) {
			answer(w, "", h.Do(r.Context(), req))
		}
	})
	return mux
}

func read(w http.ResponseWriter, r *http.Request, into any) bool {
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		put(w, http.StatusBadRequest, reply{Error: "the request cannot be read: " + err.Error()})
	}
	return err == nil
}

func answer(w http.ResponseWriter, tool string, err error) {
	if err != nil {
		put(w, http.StatusConflict, reply{Error: err.Error(), Kind: kindOf(err)})
		return
	}
	put(w, http.StatusOK, reply{Tool: tool})
}

func put(w http.ResponseWriter, status int, r reply) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(r)
}
