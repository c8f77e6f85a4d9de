package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// site is the peers as servers on loopback.
type site struct {
	plan     plan
	began    time.Time // set before the first request
	requests []request
	urls     []string
	servers  []*http.Server
	serving  sync.WaitGroup
	client   *http.Client
}

// open starts a server for each peer.
func open(p plan) (*site, error) {
	s := &site{plan: p, requests: p.requests(), client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 4 * p.slots}}}
	for range p.peers {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, errors.Join(fmt.Errorf("a peer needs a port on loopback: %w", err), s.close())
		}
		server := &http.Server{Handler: http.HandlerFunc(s.answer), ReadHeaderTimeout: time.Minute}
		s.servers, s.urls = append(s.servers, server), append(s.urls, "http://"+l.Addr().String())
		s.serving.Go(func() { _ = server.Serve(l) }) // ends with ErrServerClosed
	}
	return s, nil
}

func (s *site) close() error {
	var errs []error
	for _, server := range s.servers {
		errs = append(errs, server.Close())
	}
	s.serving.Wait()
	s.client.CloseIdleConnections()
	return errors.Join(errs...)
}

const numberHeader = "Request-Number"

// answer takes as long as the plan says, or until the caller has gone.
func (s *site) answer(w http.ResponseWriter, r *http.Request) {
	number, err := strconv.Atoi(r.Header.Get(numberHeader))
	if err != nil || number < 0 || number >= len(s.requests) {
		http.Error(w, numberHeader+" is missing or is not in the plan", http.StatusBadRequest)
		return
	}
	if sleep(r.Context(), s.plan.serves(s.requests[number], time.Since(s.began))) {
		fmt.Fprintln(w, fresh)
	}
}

// ask calls the peer of a request.
func (s *site) ask(ctx context.Context, r request) error {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, s.urls[r.peer], nil)
	if err != nil {
		return err
	}
	q.Header.Set(numberHeader, strconv.Itoa(r.number))
	a, err := s.client.Do(q)
	if err != nil {
		return err
	}
	defer a.Body.Close()
	if _, err := io.Copy(io.Discard, io.LimitReader(a.Body, 1<<10)); err != nil {
		return err
	}
	if a.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answered %s", name(r.peer), a.Status)
	}
	return nil
}

// real runs a way against servers, times faster than the plan.
func (w way) real(ctx context.Context, p plan, times float64) (visits []visit, err error) {
	p = w.plan(p).faster(times)
	s, err := open(p)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	s.began = time.Now()
	visits, err = w.live(ctx, p, s.ask, s.began)
	slower(visits, times)
	return visits, errors.Join(err, ctx.Err())
}
